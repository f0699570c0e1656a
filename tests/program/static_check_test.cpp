#include "check_helper.h"
#include "isa/hazards.h"
#include "program/memory_order.h"
#include "program/side_effects.h"
#include "program/static_check.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace asmevo::program {
namespace {

using testing::build_program;
using testing::check_text;

TEST(StaticCheck, FindingNamesBothInstructions) {
  const auto findings =
      check_text("s_nop 0\nglobal_load_dword v1, v[2:3], off\nv_mov_b32_e32 v4, v1\ns_endpgm\n");
  ASSERT_EQ(findings.size(), 1U);
  const Finding& f = findings[0];
  EXPECT_EQ(f.kind, FindingKind::MissingWait);
  EXPECT_EQ(f.producer, 1U);
  EXPECT_EQ(f.consumer, 2U);
  EXPECT_EQ(f.producer_id.text(), "4");
  EXPECT_EQ(f.consumer_id.text(), "c");
  EXPECT_EQ(f.register_class, "vgpr");
  EXPECT_EQ(f.message, "vmcnt: v_mov_b32 at c after global_load_dword at 4, v1: missing s_waitcnt vmcnt(0)");
}

// New findings of `text` against `k0`, possible ones included; what is compared only, too.
std::vector<Finding> compared(std::string_view k0_text, std::string_view text) {
  CheckOptions options;
  options.possible = options.every_use = true;
  const Program k0 = build_program(k0_text), now = build_program(text);
  const auto check_all = [&](const Program& p) {
    return check(p, p.functions[0], Cfg::build(p, p.functions[0]), options);
  };
  std::vector<Finding> fresh = new_findings(k0, check_all(k0), now, check_all(now));
  std::ranges::move(compared_findings(k0, k0.functions[0], now, now.functions[0]), std::back_inserter(fresh));
  return fresh;
}

// A carry that K0 takes as soon may be taken so more often, but no sooner, and no other one.
TEST(StaticCheck, HabitsOfK0) {
  const std::string add = "v_add_co_u32_e32 v3, vcc, v3, v1\n",
                    carry = "v_addc_co_u32_e32 v5, vcc, v5, v1, vcc\n",
                    select = "v_cndmask_b32_e32 v5, v5, v1, vcc\n", end = "s_endpgm\n";
  EXPECT_TRUE(compared(add + carry + end, add + carry + add + carry + add + carry + end).empty());
  EXPECT_EQ(compared(add + "s_nop 0\n" + carry + end, add + carry + end).size(), 0U);
  EXPECT_EQ(compared(add + "s_nop 0\n" + carry + end, add + carry + "s_nop 2\n" + add + carry + end).size(),
            1U);
  EXPECT_EQ(compared(add + carry + end, add + carry + select + end).size(), 1U);
  EXPECT_EQ(compared(add + "s_nop 1\n" + carry + end, add + carry + end).size(), 1U);
}

TEST(StaticCheck, CarryOfACodeAddress) {
  const auto address = [](std::string_view low, std::string_view high) {
    return fmt::format("s_getpc_b64 s[4:5]\n{}\n{}\ns_load_dword s6, s[4:5], 0x0\ns_cmp_eq_u32 s8, 0\n"
                       "s_endpgm\n",
                       low, high);
  };
  const std::string add = "s_add_u32 s4, s4, 0x100", carry = "s_addc_u32 s5, s5, 0";
  const std::string k0 = address(add, carry);
  EXPECT_TRUE(compared(k0, k0).empty());
  EXPECT_TRUE(compared(k0, address(add, "v_mov_b32_e32 v0, 0\n" + carry)).empty());
  for (const std::string& lost : {address(add, "s_nop 0"), address(add, "s_cmp_eq_u32 s8, 1\n" + carry)}) {
    const auto fresh = compared(k0, lost);
    ASSERT_EQ(fresh.size(), 1U);
    EXPECT_EQ(fresh[0].rule, "code-address-carry");
    EXPECT_TRUE(compared(lost, lost).empty());
  }
}

// K0 uses the load once before it has arrived. A candidate without the wait behind that does so twice.
TEST(StaticCheck, AWaitBehindAMistakeOfK0) {
  const std::string load = "global_load_dword v3, v[4:5], off\nv_add_u32_e32 v9, s9, v3\n",
                    rest = "v_add_u32_e32 v3, s9, v3\nglobal_store_dword v[4:5], v3, off\ns_endpgm\n";
  const std::string k0 = load + "s_waitcnt vmcnt(0)\n" + rest;
  EXPECT_TRUE(compared(k0, k0).empty());
  EXPECT_TRUE(compared(k0, load + "s_nop 0\ns_waitcnt vmcnt(0)\n" + rest).empty());
  const auto fresh = compared(k0, load + rest);
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh[0].consumer, 2U);
  // One use again, but the one that counts.
  EXPECT_EQ(compared(k0, "global_load_dword v3, v[4:5], off\n" + rest).size(), 1U);
  EXPECT_EQ(check_text(load + rest).size(), 1U); // a mistake is one finding else
}

// A software pipeline has LDS-DMA in flight at its barriers anyway; dropping or weakening the wait adds to
// it.
TEST(StaticCheck, MoreLdsWritesInFlightAtABarrierThanK0Has) {
  const auto pipeline = [](std::string_view wait) {
    std::string text;
    for (int k = 0; k < 6; ++k) text += "buffer_load_dword v0, s[0:3], 0 offen lds\n";
    return text + std::string(wait) + "s_barrier\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\ns_endpgm\n";
  };
  const std::string k0 = pipeline("s_waitcnt vmcnt(2)\n");
  EXPECT_TRUE(compared(k0, k0).empty());
  EXPECT_TRUE(compared(k0, pipeline("s_waitcnt vmcnt(1)\n")).empty());
  for (const char* weaker : {"", "s_waitcnt vmcnt(3)\n", "s_waitcnt lgkmcnt(0)\n"}) {
    const auto fresh = compared(k0, pipeline(weaker));
    ASSERT_EQ(fresh.size(), 1U) << weaker;
    EXPECT_EQ(fresh[0].rule, "lds-dma-at-barrier");
    EXPECT_TRUE(fresh[0].possible);
  }
}

TEST(StaticCheck, RemovedBarriers) {
  const std::string k0 = "ds_write_b32 v0, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v3\n"
                         "s_waitcnt lgkmcnt(0)\ns_barrier\nds_write_b32 v0, v2\ns_endpgm\n";
  EXPECT_TRUE(compared(k0, k0).empty());
  std::string one = k0;
  one.erase(one.rfind("s_barrier\n"), 10);
  ASSERT_EQ(compared(k0, one).size(), 1U);
  EXPECT_EQ(compared(k0, one)[0].rule, "barrier-removed");
  EXPECT_EQ(compared(k0, one)[0].kind, FindingKind::Barrier);
  one.erase(one.find("s_barrier\n"), 10);
  EXPECT_EQ(compared(k0, one).size(), 2U);
  // One that only moved, or one more, is none.
  EXPECT_TRUE(compared(k0, "s_barrier\n" + one.substr(0, one.find("ds_read")) + "s_barrier\n" +
                               one.substr(one.find("ds_read")))
                  .empty());
  EXPECT_TRUE(compared(k0, "s_barrier\n" + k0).empty());
}

TEST(StaticCheck, ExecKnownZero) {
  const auto findings = check_text(
      "s_mov_b64 exec, 0\nv_mov_b32_e32 v0, 1\ns_mov_b64 exec, -1\nv_mov_b32_e32 v0, 2\ns_endpgm\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "exec-zero");
  EXPECT_EQ(findings[0].consumer, 1U);
}

TEST(StaticCheck, Registers) {
  CheckOptions options;
  options.allocated_vgprs = 16;
  options.accum_offset = 8;
  options.allocated_sgprs = 16;
  // VGPR numbers may reach into the AGPRs' half of the file; 7 AGPRs are a[0:7].
  EXPECT_TRUE(
      check_text("v_mov_b32_e32 v15, v0\nv_accvgpr_write_b32 a7, v0\ns_mov_b32 s15, 0\ns_endpgm\n", options)
          .empty());
  const auto findings =
      check_text("v_mov_b32_e32 v16, v0\nv_accvgpr_write_b32 a8, v0\ns_mov_b32 s16, 0\ns_endpgm\n", options);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].object, "v16");
  EXPECT_EQ(findings[1].object, "a8");
  EXPECT_EQ(findings[2].object, "s16");
}

// What an LDS access ends at, by its text; of a workgroup with `bytes` by the descriptor.
std::string lds_found(std::string_view text, std::optional<uint32_t> bytes, bool possible = true,
                      isa::Gfx gfx = isa::Gfx::gfx942) {
  CheckOptions options;
  options.lds_bytes = bytes;
  options.possible = possible;
  std::string lines;
  for (const Finding& f : check_text(fmt::format("{}\ns_endpgm\n", text), options, gfx))
    if (f.rule == "lds-out-of-range") lines += fmt::format("{}{}\n", f.possible ? "?" : "", f.missing);
  return lines;
}

TEST(StaticCheck, LdsAtConstantAddresses) {
  const auto at = [](unsigned address, std::string_view access) {
    return lds_found(fmt::format("v_mov_b32_e32 v0, {:#x}\n{}", address, access), 1024);
  };
  const std::string beyond = "?LDS: the access ends at byte 1028 of 1024\n";
  EXPECT_EQ(at(0, "ds_write_b32 v0, v1 offset:1020"), "");
  EXPECT_EQ(at(4, "ds_write_b32 v0, v1 offset:1020"), beyond);
  EXPECT_EQ(at(1020, "ds_read_b64 v[2:3], v0"), beyond);
  EXPECT_EQ(at(1020, "ds_read_b32 v2, v0"), "");
  EXPECT_EQ(at(1024, "ds_add_u32 v0, v1"), beyond);
  EXPECT_EQ(at(0, "ds_write2_b32 v0, v1, v2 offset0:254 offset1:255"), "");
  EXPECT_EQ(at(4, "ds_write2_b32 v0, v1, v2 offset0:255 offset1:254"), beyond);
  EXPECT_EQ(at(0, "ds_read2st64_b32 v[2:3], v0 offset0:3 offset1:4"), beyond);
  EXPECT_EQ(at(4, "v_add_u32_e32 v0, v0, v5\nds_write_b32 v0, v1 offset:1020"), "");
  // No access to LDS memory: offsets that mean something else.
  EXPECT_EQ(at(4096, "ds_bpermute_b32 v1, v0, v2 offset:4096\nds_swizzle_b32 v1, v0 offset:0x8055"), "");
}

TEST(StaticCheck, LdsOffsetBeyondAllOfIt) {
  EXPECT_EQ(lds_found("ds_read_b32 v1, v0 offset:1020", 1024), "");
  EXPECT_EQ(lds_found("ds_read_b32 v1, v0 offset:1024", 1024),
            "?LDS: from address 0 the access ends at byte 1028 of 1024\n");
  EXPECT_EQ(lds_found("ds_write2st64_b64 v0, v[2:3], v[4:5] offset0:1 offset1:2", 1024),
            "?LDS: from address 0 the access ends at byte 1032 of 1024\n");
}

// A launch may add to what the descriptor says, but not to what the hardware has.
TEST(StaticCheck, LdsOfTheLaunchIsNotKnown) {
  const std::string beyond = "v_mov_b32_e32 v0, 0\nds_read_b32 v1, v0";
  EXPECT_EQ(lds_found(beyond, 0), "?LDS: the access ends at byte 4 of 0\n");
  EXPECT_EQ(lds_found(beyond, 0, false), "");
  EXPECT_EQ(lds_found(beyond, std::nullopt), "");
  const std::string far = "v_mov_b32_e32 v0, 0x10000\nds_read_b32 v1, v0";
  for (const bool possible : {false, true})
    EXPECT_EQ(lds_found(far, std::nullopt, possible), "LDS: the access ends at byte 65540 of 65536\n");
  EXPECT_EQ(lds_found(far, std::nullopt, false, isa::Gfx::gfx950), "");
  EXPECT_EQ(lds_found("ds_write2st64_b64 v0, v[2:3], v[4:5] offset1:255", std::nullopt), "");
}

TEST(StaticCheck, ReplayedRuns) {
  Program program = build_program(
      "global_load_dword v4, v[2:3], off\nglobal_load_dword v2, v[6:7], off\ns_waitcnt vmcnt(0)\ns_endpgm\n",
      true, isa::Gfx::gfx90a);
  const Cfg cfg = Cfg::build(program, program.functions[0]);
  EXPECT_TRUE(check(program, program.functions[0], cfg, {}).empty());
  program.target.xnack = isa::Feature::On;
  const auto findings = check(program, program.functions[0], cfg, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "xnack-clause");
}

TEST(StaticCheck, NewFindingsAreMatchedAndCounted) {
  const auto run = [](const Program& p) {
    return check(p, p.functions[0], Cfg::build(p, p.functions[0]), {});
  };
  const std::string mistake = "global_load_dword v1, v[2:3], off\nv_mov_b32_e32 v4, v1\n";
  const Program k0 = build_program(mistake + "s_endpgm\n");
  // The same mistake elsewhere: not new. For another register it is another one, even where K0's is gone.
  const Program moved = build_program("s_nop 0\n" + mistake + "s_endpgm\n");
  EXPECT_TRUE(new_findings(k0, run(k0), moved, run(moved)).empty());
  const Program exchanged =
      build_program("s_nop 0\nglobal_load_dword v7, v[2:3], off\nv_mov_b32_e32 v5, v7\ns_endpgm\n");
  EXPECT_EQ(new_findings(k0, run(k0), exchanged, run(exchanged)).size(), 1U);
  // Twice: one is new, and it is the one that K0 does not have at that place.
  const Program twice =
      build_program(mistake + "global_load_dword v6, v[2:3], off\nv_mov_b32_e32 v5, v6\ns_endpgm\n");
  const auto fresh = new_findings(k0, run(k0), twice, run(twice));
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh[0].object, "v6");
  // Another pair of instructions, another kind of register.
  const Program other =
      build_program("global_load_dword v1, v[2:3], off\nv_add_f32_e32 v4, v1, v1\ns_endpgm\n");
  EXPECT_EQ(new_findings(k0, run(k0), other, run(other)).size(), 1U);
  const Program scalar = build_program("s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s5, s4\ns_endpgm\n");
  EXPECT_EQ(new_findings(k0, run(k0), scalar, run(scalar)).size(), 1U);
}

TEST(StaticCheck, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (unsigned r = 0; r < static_cast<unsigned>(isa::HazardRule::count); ++r) {
    const std::string_view n = isa::name(static_cast<isa::HazardRule>(r));
    EXPECT_FALSE(n.empty());
    EXPECT_TRUE(names.insert(n).second) << n;
  }
}

// Loops inside loops inside loops: the analyses must end, and fast.
TEST(StaticCheck, NestedLoops) {
  std::string text;
  constexpr int depth = 40;
  for (int k = 0; k < depth; ++k)
    text +=
        fmt::format("loop{}:\nds_read_b32 v{}, v0\nglobal_load_dword v{}, v[2:3], off\n", k, 10 + k, 100 + k);
  for (int k = depth - 1; k >= 0; --k) text += fmt::format("s_cbranch_scc1 loop{}\n", k);
  EXPECT_TRUE(check_text(text + "s_endpgm\n").empty());
}

} // namespace
} // namespace asmevo::program
