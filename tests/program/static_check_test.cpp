#include "check_helper.h"
#include "isa/hazards.h"
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

// New findings of `text` against `k0`, possible ones included; removed barriers too.
std::vector<Finding> compared(std::string_view k0_text, std::string_view text) {
  CheckOptions options;
  options.possible = true;
  const Program k0 = build_program(k0_text), now = build_program(text);
  const auto check_all = [&](const Program& p) {
    return check(p, p.functions[0], Cfg::build(p, p.functions[0]), options);
  };
  std::vector<Finding> fresh = new_findings(k0, check_all(k0), now, check_all(now));
  std::ranges::move(removed_barriers(k0, k0.functions[0], now, now.functions[0]), std::back_inserter(fresh));
  return fresh;
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

TEST(StaticCheck, LdsAtConstantAddresses) {
  CheckOptions options;
  options.lds_bytes = 1024;
  EXPECT_TRUE(check_text("v_mov_b32_e32 v0, 0\nds_write_b32 v0, v1 offset:1020\nds_write2_b32 v0, v1, v2 "
                         "offset0:254 offset1:255\ns_endpgm\n",
                         options)
                  .empty());
  const auto one = check_text("v_mov_b32_e32 v0, 4\nds_write_b32 v0, v1 offset:1020\ns_endpgm\n", options);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].rule, "lds-out-of-range");
  EXPECT_EQ(one[0].missing, "LDS: the access ends at byte 1028 of 1024");
  EXPECT_EQ(
      check_text("v_mov_b32_e32 v0, 8\nds_write2st64_b32 v0, v1, v2 offset0:0 offset1:4\ns_endpgm\n", options)
          .size(),
      1U);
  EXPECT_TRUE(
      check_text("v_mov_b32_e32 v0, 4\nv_add_u32_e32 v0, v0, v5\nds_write_b32 v0, v1 offset:1020\ns_endpgm\n",
                 options)
          .empty());
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
  // The same mistake elsewhere, with other registers: not new.
  const Program moved =
      build_program("s_nop 0\nglobal_load_dword v7, v[2:3], off\nv_mov_b32_e32 v5, v7\ns_endpgm\n");
  EXPECT_TRUE(new_findings(k0, run(k0), moved, run(moved)).empty());
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
