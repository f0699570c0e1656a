// Chains and issue of loops whose cost is known from the instructions they are made of.
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::lines;
using testing::ReadKernel;
using testing::repeated;

struct Bounds {
  std::unique_ptr<ReadKernel> kernel;
  std::vector<LoopBound> loops;
  std::vector<std::string> critical; // of the first loop: mnemonics
};

const timing::Machine& mi300x() {
  static const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  return machine;
}

Bounds bounds_of(const std::string& body) {
  Bounds b{.kernel = std::make_unique<ReadKernel>(body), .loops = {}, .critical = {}};
  b.loops = loop_bounds(*b.kernel->path, mi300x());
  if (!b.loops.empty())
    for (const program::Index i : b.loops.front().critical)
      b.critical.emplace_back(b.kernel->code->instruction(i).base_mnemonic);
  return b;
}

TEST(LoopBounds, StraightCodeHasNone) {
  EXPECT_TRUE(bounds_of("v_mov_b32 v1, v0").loops.empty());
}

TEST(LoopBounds, IssueBoundsIndependentWork) {
  const Bounds b = bounds_of(repeated(10, lines(16, "v_fma_f32 v#, v30, v30, v30")));
  ASSERT_EQ(b.loops.size(), 1U);
  EXPECT_EQ(b.loops[0].issue, 4 * 19); // and three to count the turns
  EXPECT_LE(b.loops[0].carried, 12);   // the count
  EXPECT_FALSE(b.loops[0].bound_by_chain());
  EXPECT_EQ(b.loops[0].busiest, timing::Pipe::Valu);
  EXPECT_EQ(b.loops[0].pipe, 4 * 16);
}

TEST(LoopBounds, ChainThroughTheTurns) {
  const Bounds b = bounds_of(repeated(10, lines(8, "v_exp_f32 v1, v1") + "v_exp_f32 v2, v3"));
  ASSERT_EQ(b.loops.size(), 1U);
  EXPECT_EQ(b.loops[0].carried, 8 * 16);
  EXPECT_EQ(b.loops[0].chain, 8 * 16);
  EXPECT_TRUE(b.loops[0].bound_by_chain());
  EXPECT_EQ(b.loops[0].critical.size(), 8U);
  EXPECT_THAT(b.critical, Each("v_exp_f32"));
}

// As long, but each turn begins anew: the turns overlap.
TEST(LoopBounds, ChainWithinATurnIsNotCarried) {
  const Bounds b = bounds_of(repeated(10, "v_mov_b32 v1, v9\n" + lines(8, "v_exp_f32 v1, v1")));
  ASSERT_EQ(b.loops.size(), 1U);
  EXPECT_EQ(b.loops[0].chain, 4 + 8 * 16);
  EXPECT_LE(b.loops[0].carried, 12);
}

TEST(LoopBounds, PointerChase) {
  const Bounds b = bounds_of(repeated(10, "global_load_dwordx2 v[2:3], v[2:3], off\ns_waitcnt vmcnt(0)"));
  ASSERT_EQ(b.loops.size(), 1U);
  EXPECT_DOUBLE_EQ(b.loops[0].carried, mi300x()[timing::Parameter::l1_latency]);
  EXPECT_THAT(b.critical, ElementsAre("global_load_dwordx2"));
  EXPECT_GE(b.loops[0].alone, b.loops[0].carried);
}

// A wave alone waits for its load although no chain needs it to: the order costs that.
TEST(LoopBounds, AloneIsTheOrderThatThereIs) {
  const std::string work = lines(16, "v_fma_f32 v#, v30, v30, v30");
  const Bounds late =
      bounds_of(repeated(10, "global_load_dword v20, v21, s[8:9]\n" + work + "s_waitcnt vmcnt(0)\n"));
  const Bounds early =
      bounds_of(repeated(10, "global_load_dword v20, v21, s[8:9]\ns_waitcnt vmcnt(0)\n" + work));
  ASSERT_EQ(late.loops.size(), 1U);
  ASSERT_EQ(early.loops.size(), 1U);
  EXPECT_GT(early.loops[0].alone, late.loops[0].alone + 40);
  EXPECT_EQ(early.loops[0].issue, late.loops[0].issue);
  EXPECT_EQ(early.loops[0].carried, late.loops[0].carried);
}

// An accumulator that only adds comes back sooner than one whose result is read.
TEST(LoopBounds, MatrixChains) {
  const std::string mfma = "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]";
  const Bounds sum = bounds_of(repeated(10, mfma));
  ASSERT_EQ(sum.loops.size(), 1U);
  const isa::Instruction& i = sum.kernel->code->instruction(sum.loops[0].critical.at(0));
  const auto cost = timing::instruction_cost(i, sum.kernel->code->program().target, mi300x());
  EXPECT_EQ(sum.loops[0].carried, cost.to_accumulator);
  const Bounds read = bounds_of(repeated(10, mfma + "\nv_accvgpr_read_b32 v2, a0"));
  EXPECT_EQ(read.loops[0].carried, cost.latency + 4);
}

TEST(LoopBounds, OnlyTheInnermostLoop) {
  const Bounds b = bounds_of("s_movk_i32 s21, 3\nouter:\n" + repeated(10, "v_exp_f32 v1, v1") +
                             "s_sub_u32 s21, s21, 1\ns_cmp_lg_u32 s21, 0\ns_cbranch_scc1 outer\n");
  ASSERT_EQ(b.loops.size(), 1U);
  EXPECT_EQ(b.loops[0].depth, 2U);
  EXPECT_THAT(b.critical, Contains("v_exp_f32"));
}

// The way that waves take through a branch is the profile's.
TEST(LoopBounds, BodyFollowsTheProfile) {
  ReadKernel k(
      "round:\ns_cbranch_vccnz rare\nv_exp_f32 v1, v1\ns_branch join\nrare:\nv_rcp_f64 v[2:3], v[2:3]\n"
      "join:\ns_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 round");
  const auto body = [&](double common, double rare) {
    k.profile.instructions.clear();
    InstructionTime t{.address = 0, .issues = 100, .busy = 400};
    k.set(0, t);
    t.issues = common, k.set(1, t), k.set(2, t);
    t.issues = rare, k.set(3, t);
    t.issues = 100, k.set(4, t), k.set(5, t), k.set(6, t);
    k.read_profile();
    std::vector<std::string> list;
    const std::vector<LoopBound> loops = loop_bounds(*k.path, mi300x());
    for (const program::Index i : loops.at(0).body) list.emplace_back(k.code->instruction(i).base_mnemonic);
    return list;
  };
  EXPECT_THAT(body(99, 1), Contains("v_exp_f32"));
  EXPECT_THAT(body(1, 99), Contains("v_rcp_f64"));
}

TEST(LoopBounds, MeasuredTurnsAreTheProfiles) {
  const testing::ModelledKernel k(repeated(50, "global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)"));
  const std::vector<LoopBound> loops = k.loops();
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_DOUBLE_EQ(loops[0].turns, 50);
  EXPECT_GE(loops[0].measured, 0.95 * loops[0].alone);
}

} // namespace
} // namespace asmevo::profile
