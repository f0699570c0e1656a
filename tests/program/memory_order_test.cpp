// What orders memory between waves, K0 against candidates that have less of it, and side effects that no run
// shows.
#include "program/memory_order.h"
#include "program/side_effects.h"
#include "program_builder.h"

#include <string>

namespace asmevo::program {
namespace {

using testing::build_program;

// The message of each finding, a line each, without the rule.
std::string lost(std::string_view k0_text, std::string_view text, isa::Gfx gfx = isa::Gfx::gfx942) {
  const Program k0 = build_program(k0_text, true, gfx), now = build_program(text, true, gfx);
  EXPECT_TRUE(lost_order(k0, k0.functions[0], k0, k0.functions[0]).empty());
  std::string lines;
  for (const Finding& f : lost_order(k0, k0.functions[0], now, now.functions[0])) {
    EXPECT_TRUE(f.possible);
    lines += f.object + "\n";
  }
  return lines;
}

constexpr const char* end = "s_endpgm\n";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// Each wave publishes what it stored, the last one reads it all.
const std::string publish = "global_store_dword v0, v1, s[2:3]\n"
                            "buffer_wbl2 sc1\n"
                            "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                            "s_barrier\n"
                            "global_atomic_add v2, v0, v1, s[2:3] sc0 sc1\n"
                            "s_waitcnt vmcnt(0)\n"
                            "buffer_inv sc1\n"
                            "global_load_dword v3, v0, s[2:3] sc0 sc1\n"
                            "s_waitcnt vmcnt(0)\n"
                            "v_mov_b32_e32 v4, v3\n"
                            "s_endpgm\n";

TEST(MemoryOrder, ScopeBitsAreKept) {
  EXPECT_EQ(lost(publish, replaced(publish, "buffer_wbl2 sc1", "buffer_wbl2 sc0")),
            "0 buffer_wbl2 sc1 where K0 has 1\n");
  EXPECT_EQ(lost(publish, replaced(publish, "buffer_inv sc1", "buffer_inv")),
            "0 buffer_inv sc1 where K0 has 1\n");
  EXPECT_EQ(lost(publish, replaced(publish, "v1, s[2:3] sc0 sc1", "v1, s[2:3] sc0")),
            "0 global_atomic_add sc1 where K0 has 1\n");
  EXPECT_EQ(lost(publish, replaced(publish, "v0, s[2:3] sc0 sc1", "v0, s[2:3] sc0")),
            "0 global_load_dword sc0 sc1 where K0 has 1\n");
  // More of it is no loss, nor is another place that still has the order and the waits.
  EXPECT_EQ(
      lost(publish, replaced(publish, "s_barrier\n", "s_barrier\nbuffer_inv sc1\ns_waitcnt vmcnt(0)\n")), "");
  EXPECT_EQ(lost(publish, replaced(publish, "s_barrier\n", "s_nop 0\ns_barrier\nv_mov_b32_e32 v5, v0\n")),
            "");
}

TEST(MemoryOrder, CacheControlOfOtherKinds) {
  const auto gone = [](const std::string& what) {
    return lost(what + "\ns_endpgm\n", "s_nop 0\ns_endpgm\n", isa::Gfx::gfx90a);
  };
  for (const char* what : {"buffer_wbinvl1", "buffer_wbinvl1_vol", "s_dcache_inv", "s_dcache_wb"})
    EXPECT_EQ(gone(what), fmt::format("0 {} where K0 has 1\n", what));
  EXPECT_EQ(gone("global_store_dword v0, v1, s[2:3] glc"), "0 global_store_dword glc where K0 has 1\n");
  EXPECT_EQ(gone("s_memtime s[4:5]"), "");
}

TEST(MemoryOrder, TheSequenceIsKept) {
  const std::string early = replaced(replaced(publish, "buffer_inv sc1\n", ""), "global_atomic_add",
                                     "buffer_inv sc1\nglobal_atomic_add");
  EXPECT_NE(lost(publish, early).find("K0's buffer_inv sc1 stands behind others than here\n"),
            std::string::npos);
}

TEST(MemoryOrder, WaitsInFrontAreKept) {
  const std::string waits = "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier";
  EXPECT_EQ(lost(publish, replaced(publish, waits, "s_barrier")),
            "2 vector stores in flight where K0 has 0\n2 vector stores in flight where K0 has 0\n");
  // The write-back is to be waited for, too.
  const std::string late = replaced(replaced(publish, "buffer_wbl2 sc1\n", ""), "lgkmcnt(0)\ns_barrier",
                                    "lgkmcnt(0)\nbuffer_wbl2 sc1\ns_barrier");
  EXPECT_NE(lost(publish, late).find("1 vector stores in flight where K0 has 0\n"), std::string::npos);
  // And the atomic, in front of the invalidation.
  EXPECT_EQ(
      lost(publish, replaced(publish, "sc0 sc1\ns_waitcnt vmcnt(0)\nbuffer_inv", "sc0 sc1\nbuffer_inv")),
      "1 vector stores in flight where K0 has 0\n2 vector stores in flight where K0 has 1\n");
}

// A second one of the kind, where nothing is in flight, does not stand in for K0's.
TEST(MemoryOrder, AddedPointsAreNoDecoys) {
  const std::string k0 = "global_store_dword v0, v1, s[2:3]\ns_waitcnt vmcnt(0)\ns_barrier\ns_endpgm\n";
  EXPECT_EQ(lost(k0, "s_barrier\nglobal_store_dword v0, v1, s[2:3]\ns_barrier\ns_endpgm\n"),
            "1 vector stores in flight where K0 has 0\n");
}

TEST(MemoryOrder, LoadsSentAheadOfABarrier) {
  const std::string load = "global_load_dword v2, v0, s[2:3]\n", wait = "s_waitcnt vmcnt(0)\n",
                    use = "v_mov_b32_e32 v4, v2\n", store = "global_store_dword v0, v4, s[2:3]\n";
  const std::string rest = use + store + end;
  const std::string k0 = load + wait + "s_barrier\n" + rest;
  EXPECT_EQ(lost(k0, load + "s_barrier\n" + wait + rest),
            "4 bytes of vector loads in flight where K0 has 0\n");
  const std::string next = "global_load_dword v3, v0, s[2:3] offset:4\n";
  EXPECT_EQ(lost(k0 + next, load + wait + next + "s_barrier\n" + rest), "");
  const std::string acquire = load + wait + "buffer_inv sc1\n" + use + next + end;
  EXPECT_NE(lost(acquire, load + wait + next + "buffer_inv sc1\n" + use + end)
                .find("4 bytes of vector loads in flight where K0 has 0\n"),
            std::string::npos);
}

// Four loads sent ahead may be one of four dwords, but no more than they were.
TEST(MemoryOrder, LoadsSentAheadAreCountedInBytes) {
  const auto loads = [](std::string_view what, int count) {
    std::string text;
    for (int k = 0; k < count; ++k) text += fmt::format("{}, v0, s[2:3] offset:{}\n", what, 4 * k);
    return text;
  };
  const std::string wait = "s_waitcnt vmcnt(0)\n",
                    rest = "s_barrier\nglobal_store_dword v0, v4, s[2:3]\ns_endpgm\n";
  const std::string k0 = "s_barrier\n" + loads("global_load_dword v4", 4) + wait + rest;
  EXPECT_EQ(lost(k0, loads("global_load_dwordx4 v[4:7]", 1) + "s_barrier\n" + wait + rest), "");
  EXPECT_EQ(lost(loads("global_load_dword v4", 4) + rest, loads("global_load_dwordx4 v[4:7]", 2) + rest)
                .find("bytes"),
            std::string::npos);
  EXPECT_EQ(lost(loads("global_load_dword v4", 1) + rest, loads("global_load_dwordx2 v[4:5]", 1) + rest), "");
  const std::string waited = loads("global_load_dwordx2 v[4:5]", 1) + wait + rest;
  EXPECT_EQ(lost(waited, loads("global_load_dwordx2 v[4:5]", 1) + rest),
            "8 bytes of vector loads in flight where K0 has 0\n");
}

// A load that nobody writes over may be in flight at a barrier.
TEST(MemoryOrder, LoadsOfWhatIsNotWritten) {
  const std::string arguments = "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n",
                    load = "global_load_dword v2, v0, s[4:5]\n", wait = "s_waitcnt vmcnt(0)\n",
                    barrier = "s_barrier\n", use = "v_mov_b32_e32 v4, v2\n";
  const auto held = [&](const std::string& before, const std::string& store) {
    const std::string head = arguments + before + load, rest = use + store + end;
    return lost(head + wait + barrier + rest, head + barrier + wait + rest);
  };
  const std::string refused = "4 bytes of vector loads in flight where K0 has 0\n";
  EXPECT_EQ(held("", ""), "");
  EXPECT_EQ(held("", "global_store_dword v0, v4, s[6:7]\n"), "");
  EXPECT_EQ(held("", "global_atomic_add v0, v4, s[6:7]\n"), "");
  EXPECT_EQ(held("", "global_store_dword v0, v4, s[4:5]\n"), refused);
  EXPECT_EQ(held("", "global_atomic_add v0, v4, s[4:5]\n"), refused);
  // The pointer, another way: by addition, through vector registers, copied, chosen.
  EXPECT_EQ(held("s_add_u32 s8, s4, 64\ns_addc_u32 s9, s5, 0\n", "global_store_dword v0, v4, s[8:9]\n"),
            refused);
  EXPECT_EQ(held("v_mov_b32_e32 v8, s4\nv_mov_b32_e32 v9, s5\n", "global_store_dword v[8:9], v4, off\n"),
            refused);
  EXPECT_EQ(held("v_lshl_add_u64 v[8:9], s[6:7], 0, v[0:1]\n", "global_store_dword v[8:9], v4, off\n"), "");
  EXPECT_EQ(held("s_mov_b64 s[8:9], s[4:5]\n", "flat_store_dword v[8:9], v4\n"), refused);
  EXPECT_EQ(
      held("s_cselect_b32 s8, s4, s6\ns_cselect_b32 s9, s5, s7\n", "global_store_dword v0, v4, s[8:9]\n"),
      refused);
  EXPECT_EQ(held("v_mov_b32_e32 v8, s4\nv_mov_b32_e32 v9, s5\ns_mov_b64 exec, s[10:11]\n"
                 "v_mov_b32_e32 v8, s6\nv_mov_b32_e32 v9, s7\n",
                 "global_store_dword v[8:9], v4, off\n"),
            refused);
  // A pointer from memory may be any.
  EXPECT_EQ(held("s_load_dwordx2 s[8:9], s[6:7], 0x0\ns_waitcnt lgkmcnt(0)\n",
                 "global_store_dword v0, v4, s[8:9]\n"),
            refused);
  // Somebody else may be told that the data is read, and write there.
  EXPECT_EQ(held("", "buffer_wbl2 sc1\n" + wait + "global_store_dword v0, v4, s[6:7] sc0 sc1\n"), refused);
}

// What a release publishes is stored in front of it, what an acquire lets in is loaded behind it.
TEST(MemoryOrder, PlainAccessesKeepTheirSide) {
  const std::string store = "global_store_dword v0, v1, s[8:9]\n", back = "buffer_wbl2 sc1\n",
                    wait = "s_waitcnt vmcnt(0)\n", add = "global_atomic_add v2, v0, v1, s[10:11] sc0\n",
                    inv = "buffer_inv sc1\n", load = "global_load_dword v3, v0, s[8:9]\n",
                    other = "global_load_dword v5, v0, s[12:13]\n";
  const std::string head = "s_load_dwordx8 s[8:15], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + other;
  const std::string k0 = head + store + back + wait + add + wait + inv + load + wait + end;
  const std::string late = "a vector store behind that K0 has in front\n",
                    early = "a vector load in front that K0 has behind\n";
  const auto finds = [&](const std::string& text, const std::string& what) {
    return lost(k0, text).find(what) != std::string::npos;
  };
  EXPECT_TRUE(finds(head + back + wait + add + wait + store + wait + inv + load + wait + end, late));
  EXPECT_TRUE(finds(head + back + store + wait + add + wait + inv + load + wait + end, late));
  EXPECT_TRUE(finds(head + store + back + wait + add + wait + load + wait + inv + end, early));
  EXPECT_TRUE(finds(head + store + load + back + wait + add + wait + inv + end, early));
  EXPECT_TRUE(finds(head + store + load + back + wait + add + wait + inv + load + wait + end, early));
  // More of either where it was, or less.
  EXPECT_EQ(lost(k0, head + store + wait + store + back + wait + add + wait + inv + load + load + wait + end),
            "");
  EXPECT_EQ(lost(k0, "s_load_dwordx8 s[8:15], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + store + back + wait +
                         add + wait + inv + load + store + wait + end),
            "");
}

TEST(MemoryOrder, NothingIsBranchedAround) {
  const std::string store = "global_store_dword v0, v1, s[2:3]\n", back = "buffer_wbl2 sc1\n",
                    wait = "s_waitcnt vmcnt(0)\n", add = "global_atomic_add v2, v0, v1, s[4:5] sc0\n",
                    inv = "buffer_inv sc1\n", load = "global_load_dword v3, v0, s[2:3]\n";
  const auto skipped = [](const std::string& what) {
    return "s_cbranch_scc1 over\n" + what + "over: s_nop 0\n";
  };
  const std::string rest = load + wait + end;
  const std::string k0 = store + back + wait + add + wait + inv + rest;
  EXPECT_EQ(lost(k0, store + skipped("v_mov_b32_e32 v7, v1\n") + back + wait + add + wait + inv + rest), "");
  EXPECT_NE(lost(k0, store + skipped(back) + wait + add + wait + inv + rest)
                .find("global_atomic_add is not preceded by buffer_wbl2 sc1 on all ways"),
            std::string::npos);
  EXPECT_NE(lost(k0, store + back + wait + add + wait + skipped(inv) + rest)
                .find("global_atomic_add is not followed by buffer_inv sc1 on all ways"),
            std::string::npos);
  // Once in a loop is not each time; twice a round is.
  const std::string poll = "global_load_dword v3, v0, s[2:3] sc1\n" + wait,
                    again = "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again\ns_endpgm\n";
  const std::string loop = "again: " + poll + inv + load + wait + again;
  EXPECT_NE(lost(loop, "again: " + poll + skipped(inv) + load + wait + again), "");
  EXPECT_NE(lost(loop, poll + inv + load + wait + "again: " + poll + load + wait + again), "");
  EXPECT_EQ(lost(loop, "again: " + poll + inv + load + wait + poll + inv + load + wait + again), "");
}

// Atomics of a kernel in which nothing else is stored order nothing, and LDS atomics only what is between
// barriers.
TEST(MemoryOrder, RelaxedAtomics) {
  const std::string add = "global_atomic_add v0, v1, s[4:5]\n", max = "global_atomic_umax v0, v1, s[4:5]\n",
                    load = "global_load_dword v1, v0, s[2:3]\n", wait = "s_waitcnt vmcnt(0)\n",
                    store = "global_store_dword v0, v1, s[4:5]\n", barrier = "s_barrier\n";
  EXPECT_EQ(lost(load + wait + add + load + wait + add + end, load + load + wait + add + add + end), "");
  EXPECT_EQ(lost(add + max + end, max + add + end), "");
  EXPECT_EQ(lost(add + add + end, add + end), "");
  EXPECT_NE(lost(add + max + end, max + max + end), "");
  EXPECT_NE(lost(add + add + end, add + store + end), "");
  EXPECT_NE(lost(store + add + max + end, store + max + add + end), "");
  EXPECT_NE(lost(add + wait + barrier + end, barrier + add + wait + end), "");
}

TEST(MemoryOrder, LdsAtomics) {
  const std::string add = "ds_add_u32 v9, v5\n", wait = "s_waitcnt lgkmcnt(0)\n", barrier = "s_barrier\n",
                    load = "ds_read_b32 v3, v9\n", store = "ds_write_b32 v9, v3\n";
  const std::string rest = wait + barrier + load + wait + end;
  const std::string k0 = barrier + add + add + rest;
  EXPECT_EQ(lost(k0, barrier + add + rest), "");
  EXPECT_EQ(lost(k0, barrier + "again: " + add + "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again\n" + rest), "");
  EXPECT_NE(lost(k0, barrier + add + load + wait + store + rest), "");
  EXPECT_NE(lost(k0, barrier + rest), "");
  EXPECT_NE(lost(k0, add + add + barrier + rest), "");
  EXPECT_NE(lost(k0, add + barrier + add + rest), "") << "one of them in front now";
}

TEST(MemoryOrder, PathsAndLoops) {
  const auto loop = [](std::string_view wait) {
    return "again: global_store_dword v0, v1, s[2:3]\n" + std::string(wait) +
           "s_barrier\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again\ns_endpgm\n";
  };
  const std::string k0 = loop("s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(lost(k0, loop("s_waitcnt vmcnt(1)\n")), "1 vector stores in flight where K0 has 0\n");
  EXPECT_EQ(lost(loop("s_waitcnt vmcnt(1)\n"), k0), "");
}

TEST(MemoryOrder, ScalarLoadsBehindStores) {
  const std::string arguments = "s_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n",
                    store = "global_store_dword v0, v1, s[2:3]\ns_waitcnt vmcnt(0)\n",
                    scalar = "s_load_dword s8, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\n",
                    more = "s_load_dword s9, s[0:1], 0x8\n";
  const std::string k0 = arguments + store + end;
  EXPECT_EQ(lost(k0, arguments + scalar + store + end), "");
  EXPECT_EQ(lost(k0, arguments + store + more + end), "");
  EXPECT_EQ(lost(k0, arguments + store + scalar + end),
            "1 scalar loads behind vector stores where K0 has 0\n");
  EXPECT_EQ(lost(k0, arguments + store + "s_dcache_inv\n" + scalar + end), "");
  // Another one of what is not written is none the worse, another one of what is may be.
  const std::string two = "s_load_dwordx4 s[4:7], s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n",
                    output = "global_store_dword v0, v1, s[6:7]\ns_waitcnt vmcnt(0)\n",
                    table = "s_load_dword s8, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n",
                    own = "s_load_dword s8, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(lost(two + output + table + end, two + output + table + table + end), "");
  EXPECT_NE(lost(two + output + own + end, two + output + own + own + end), "");
  EXPECT_NE(lost(two + output + table + end, two + output + table + own + end), "");
}

TEST(MemoryOrder, BarriersThatHoldNothingUp) {
  const auto removed = [](const std::string& k0_text, const std::string& text, bool one_wave = false) {
    const Program k0 = build_program(k0_text), now = build_program(text);
    return compared_findings(k0, k0.functions[0], now, now.functions[0], one_wave).size();
  };
  const std::string barrier = "s_barrier\n", write = "ds_write_b32 v9, v3\n", wait = "s_waitcnt lgkmcnt(0)\n";
  const std::string once = write + wait + barrier + end;
  EXPECT_EQ(removed(write + wait + barrier + "v_mov_b32_e32 v1, 0\n" + barrier + end, once), 0U);
  EXPECT_EQ(removed(write + barrier + wait + barrier + end, write + wait + barrier + end), 1U);
  EXPECT_EQ(removed(barrier + once, once), 1U);
  EXPECT_EQ(removed(once, write + wait + end), 1U);
  EXPECT_EQ(removed(once, write + wait + end, true), 0U);
  // Waves that go two ways meet at both.
  const auto ways = [&](const std::string& one) {
    return "s_cbranch_execz other\n" + one + "s_branch meet\nother: " + barrier + write + wait + barrier +
           "meet: s_endpgm\n";
  };
  EXPECT_EQ(removed(ways(barrier + barrier), ways(barrier)), 1U);
}

std::string changed(std::string_view k0_text, std::string_view text) {
  const Program k0 = build_program(k0_text), now = build_program(text);
  EXPECT_TRUE(changed_side_effects(k0, k0.functions[0], k0, k0.functions[0]).empty());
  std::string lines;
  for (const Finding& f : changed_side_effects(k0, k0.functions[0], now, now.functions[0]))
    lines += f.object + "\n";
  return lines;
}

TEST(SideEffects, NoneIsAdded) {
  for (const char* text :
       {"s_incperflevel 5", "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_trap 2", "s_sethalt 1", "s_setvskip 0, 0",
        "s_ttracedata", "s_cbranch_cdbgsys f", "s_getreg_b32 s4, hwreg(HW_REG_HW_ID)",
        "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s4", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 9), 0x1ff",
        "s_setreg_b32 hwreg(HW_REG_MODE), s4"}) {
    const std::string with = fmt::format("f: {}\ns_endpgm\n", text);
    EXPECT_NE(changed("s_endpgm\n", with), "") << text;
    EXPECT_EQ(changed(with, with), "") << text;
  }
  for (const char* text :
       {"s_getreg_b32 s4, hwreg(HW_REG_MODE)", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0", "s_sleep 1"})
    EXPECT_EQ(changed("s_endpgm\n", fmt::format("{}\ns_endpgm\n", text)), "") << text;
}

TEST(SideEffects, NoneIsLostThatOthersSee) {
  const std::string rest = "s_nop 0\nover: s_endpgm\n", skip = "s_cbranch_scc1 over\n";
  for (const char* text : {"s_sendmsg sendmsg(MSG_INTERRUPT)", "s_trap 2", "s_sethalt 1",
                           "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 9), 0x1ff"}) {
    const std::string what = std::string(text) + "\n", jump = "s_branch over\n";
    EXPECT_NE(changed(skip + what + rest, skip + rest), "") << text;
    EXPECT_NE(changed(skip + what + what + rest, skip + what + rest), "") << text;
    EXPECT_NE(changed(skip + what + rest, jump + what + rest), "") << text;
    EXPECT_EQ(changed(jump + what + rest, jump + rest), "") << "K0 never comes there";
  }
  for (const char* text : {"s_incperflevel 5", "s_getreg_b32 s4, hwreg(HW_REG_HW_ID)"})
    EXPECT_EQ(changed(skip + text + "\n" + rest, skip + rest), "") << text;
}

} // namespace
} // namespace asmevo::program
