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
                    use = "v_mov_b32_e32 v4, v2\n";
  const std::string k0 = load + wait + "s_barrier\n" + use + end;
  EXPECT_EQ(lost(k0, load + "s_barrier\n" + wait + use + end), "1 vector loads in flight where K0 has 0\n");
  const std::string next = "global_load_dword v3, v0, s[2:3] offset:4\n";
  EXPECT_EQ(lost(k0 + next, load + wait + next + "s_barrier\n" + use + end), "");
  const std::string acquire = load + wait + "buffer_inv sc1\n" + use + next + end;
  EXPECT_EQ(lost(acquire, load + wait + next + "buffer_inv sc1\n" + use + end),
            "1 vector loads in flight where K0 has 0\n");
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
}

std::string added(std::string_view k0_text, std::string_view text) {
  const Program k0 = build_program(k0_text), now = build_program(text);
  EXPECT_TRUE(added_side_effects(k0, k0.functions[0], k0, k0.functions[0]).empty());
  std::string lines;
  for (const Finding& f : added_side_effects(k0, k0.functions[0], now, now.functions[0]))
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
    EXPECT_NE(added("s_endpgm\n", with), "") << text;
    EXPECT_EQ(added(with, "s_endpgm\n"), "") << text;
  }
  for (const char* text :
       {"s_getreg_b32 s4, hwreg(HW_REG_MODE)", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0", "s_sleep 1"})
    EXPECT_EQ(added("s_endpgm\n", fmt::format("{}\ns_endpgm\n", text)), "") << text;
}

} // namespace
} // namespace asmevo::program
