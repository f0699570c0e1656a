#include "check_helper.h"

#include <set>

namespace asmevo::program {
namespace {

using testing::build_program;
using testing::check_text;

// The branches around barriers, as "mnemonic condition", each once.
std::set<std::string> parting(std::string_view text, bool kernel = true, isa::Gfx gfx = isa::Gfx::gfx942) {
  CheckOptions options;
  options.possible = true;
  const Program program = build_program(text, kernel, gfx);
  std::set<std::string> branches;
  for (const Finding& f :
       check(program, program.functions[0], Cfg::build(program, program.functions[0]), options))
    if (f.rule == "barrier-branched-around")
      branches.insert(fmt::format("{} {}", program.instruction(f.producer).mnemonic, f.object));
  return branches;
}
using Branches = std::set<std::string>;

// A barrier that `condition` and the branch behind it may lead around.
std::string around(std::string_view condition, std::string_view branch) {
  return fmt::format("{}\n{} over\ns_barrier\nover:\ns_endpgm\n", condition, branch);
}

const std::string saveexec = "v_cmp_gt_u32_e32 vcc, 8, v0\ns_and_saveexec_b64 s[4:5], vcc\n"
                             "s_cbranch_execz over\n";

TEST(BarrierCheck, FindingNamesBranchAndBarrier) {
  CheckOptions options;
  options.possible = true;
  const std::string text = saveexec + "s_barrier\nover:\ns_or_b64 exec, exec, s[4:5]\ns_endpgm\n";
  const auto findings = check_text(text, options);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message, "barrier-branched-around: s_barrier at c after s_cbranch_execz at 8, exec");
  EXPECT_EQ(findings[0].kind, FindingKind::Barrier);
  EXPECT_EQ(findings[0].register_class, "exec");
  EXPECT_TRUE(findings[0].possible);
  EXPECT_TRUE(check_text(text).empty());
  options.barriers = false;
  EXPECT_TRUE(check_text(text, options).empty());
}

// Every wave comes to these.
TEST(BarrierCheck, BarrierThatAllWavesRun) {
  EXPECT_EQ(parting("s_barrier\n" + saveexec +
                    "v_mov_b32_e32 v1, 0\nover:\n"
                    "s_or_b64 exec, exec, s[4:5]\ns_barrier\ns_endpgm\n"),
            Branches());
  // EXEC is narrowed, but nothing is branched around.
  EXPECT_EQ(parting("s_and_saveexec_b64 s[4:5], vcc\ns_barrier\ns_endpgm\n"), Branches());
}

TEST(BarrierCheck, ConditionsThatAreTheSameInAllWaves) {
  for (const char* condition :
       {"s_cmp_eq_u32 s8, 0", "s_load_dword s6, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_lt_i32 s6, 4",
        "v_mov_b32_e32 v0, s4\nv_readfirstlane_b32 s6, v0\ns_cmp_eq_u32 s6, 0",
        "v_mov_b32_e32 v1, 0\nglobal_load_dword v1, v1, s[0:1]\ns_waitcnt vmcnt(0)\n"
        "v_readfirstlane_b32 s6, v1\ns_cmp_eq_u32 s6, 0"})
    EXPECT_EQ(parting(around(condition, "s_cbranch_scc1")), Branches()) << condition;
  // Compiled code puts such a condition into VCC like this.
  EXPECT_EQ(parting(around("s_cmp_eq_u32 s8, 0\ns_cselect_b64 s[6:7], -1, 0\n"
                           "s_and_b64 vcc, exec, s[6:7]",
                           "s_cbranch_vccnz")),
            Branches());
}

TEST(BarrierCheck, ConditionsThatMayDiffer) {
  const auto scc = [](const char* condition, isa::Gfx gfx = isa::Gfx::gfx942) {
    return parting(around(condition, "s_cbranch_scc0"), true, gfx);
  };
  const Branches found = {"s_cbranch_scc0 scc"};
  for (const char* condition :
       {"v_lshrrev_b32_e32 v3, 6, v0\nv_readfirstlane_b32 s7, v3\ns_cmp_lt_i32 s7, 2",
        "v_readfirstlane_b32 s7, v2\ns_load_dword s6, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s6, 0",
        "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v4, 1\nglobal_atomic_add v1, v1, v4, s[0:1] sc0\n"
        "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s6, v1\ns_cmp_eq_u32 s6, 0",
        "v_mov_b32_e32 v1, 0\nds_add_rtn_u32 v1, v1, v1\ns_waitcnt lgkmcnt(0)\n"
        "v_readfirstlane_b32 s6, v1\ns_cmp_eq_u32 s6, 0",
        "s_memtime s[6:7]\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s6, 0",
        "s_getreg_b32 s6, hwreg(HW_REG_HW_ID)\ns_cmp_eq_u32 s6, 0",
        "scratch_load_dword v1, off, off\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s6, v1\ns_cmp_eq_u32 s6, 0",
        "v_cmp_eq_u32_e64 s[6:7], 0, v0\ns_cmp_eq_u64 s[6:7], 0"})
    EXPECT_EQ(scc(condition), found) << condition;
  EXPECT_EQ(scc("buffer_load_dword v1, off, s[0:3], 0\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s6, v1\n"
                "s_cmp_eq_u32 s6, 0",
                isa::Gfx::gfx90a),
            found);
  EXPECT_EQ(parting(around("v_cmp_eq_u32_e32 vcc, 0, v0", "s_cbranch_vccz")), Branches{"s_cbranch_vccz vcc"});
  // The arguments of a device function are in vector registers.
  EXPECT_EQ(parting(around("v_readfirstlane_b32 s7, v9\ns_cmp_lt_i32 s7, 2", "s_cbranch_scc0"), false),
            found);
  EXPECT_EQ(parting(around("v_readfirstlane_b32 s7, v9\ns_cmp_lt_i32 s7, 2", "s_cbranch_scc0"), true),
            Branches());
}

// s6 is the same in all waves on either way, but not which way that was.
TEST(BarrierCheck, ValuesOfDifferentWaysThatMeet) {
  const auto text = [](std::string_view other) {
    return fmt::format("s_mov_b32 s6, 0\nv_cmp_gt_u32_e32 vcc, 8, v0\ns_cbranch_vccz meet\n"
                       "s_mov_b32 {}, 1\nmeet:\ns_cmp_eq_u32 s6, 0\ns_cbranch_scc1 over\ns_barrier\nover:\n"
                       "s_endpgm\n",
                       other);
  };
  EXPECT_EQ(parting(text("s6")), Branches{"s_cbranch_scc1 scc"});
  EXPECT_EQ(parting(text("s7")), Branches());
}

TEST(BarrierCheck, Loops) {
  const std::string loop = "loop:\ns_barrier\ns_add_u32 s6, s6, 1\n";
  // As often in every wave, or as often as some lane wants.
  EXPECT_EQ(parting("s_mov_b32 s6, 0\n" + loop + "s_cmp_lt_u32 s6, s8\ns_cbranch_scc1 loop\ns_endpgm\n"),
            Branches());
  EXPECT_EQ(parting(loop + "v_cmp_lt_u32_e32 vcc, s6, v0\ns_andn2_b64 exec, exec, vcc\n"
                           "s_cbranch_execnz loop\ns_endpgm\n"),
            Branches{"s_cbranch_execnz exec"});
  EXPECT_EQ(parting(saveexec + loop + "s_cmp_lt_u32 s6, s8\ns_cbranch_scc1 loop\nover:\ns_endpgm\n"),
            Branches{"s_cbranch_execz exec"})
      << "the loop itself keeps its waves together";
  EXPECT_EQ(parting("loop:\nv_cmp_lt_u32_e32 vcc, s6, v0\ns_cbranch_vccnz out\ns_barrier\ns_branch loop\n"
                    "out:\ns_endpgm\n"),
            Branches{"s_cbranch_vccnz vcc"});
  // No way out at all.
  EXPECT_EQ(parting("loop:\nv_cmp_lt_u32_e32 vcc, s6, v0\ns_cbranch_vccnz over\ns_barrier\nover:\n"
                    "s_branch loop\n"),
            Branches{"s_cbranch_vccnz vcc"});
}

// Many branches in many loops must end, and fast.
TEST(BarrierCheck, NestedLoops) {
  std::string text;
  constexpr int depth = 60;
  for (int k = 0; k < depth; ++k)
    text += fmt::format("loop{}:\nv_cmp_lt_u32_e32 vcc, {}, v0\ns_cbranch_vccnz skip{}\ns_barrier\nskip{}:\n",
                        k, k, k, k);
  for (int k = depth - 1; k >= 0; --k) text += fmt::format("s_cbranch_execnz loop{}\n", k);
  EXPECT_EQ(parting(text + "s_endpgm\n"), (Branches{"s_cbranch_vccnz vcc", "s_cbranch_execnz exec"}));
}

// What an edit does: moves K0's barrier behind the branch.
TEST(BarrierCheck, MovedBarrierIsNew) {
  CheckOptions options;
  options.possible = true;
  const std::string end = "over:\ns_or_b64 exec, exec, s[4:5]\ns_endpgm\n";
  const Program k0 = build_program("s_barrier\n" + saveexec + "v_mov_b32_e32 v1, 0\n" + end);
  const Program moved = build_program(saveexec + "v_mov_b32_e32 v1, 0\ns_barrier\n" + end);
  const auto run = [&](const Program& p) {
    return check(p, p.functions[0], Cfg::build(p, p.functions[0]), options);
  };
  EXPECT_TRUE(new_findings(k0, run(k0), k0, run(k0)).empty());
  EXPECT_TRUE(removed_barriers(k0, k0.functions[0], moved, moved.functions[0]).empty());
  const auto fresh = new_findings(k0, run(k0), moved, run(moved));
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh[0].rule, "barrier-branched-around");
}

} // namespace
} // namespace asmevo::program
