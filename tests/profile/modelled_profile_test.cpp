// The cycle model's numbers as a profile: nothing lost, nothing added, and of the whole dispatch.
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using testing::Launch;
using testing::ModelledKernel;
using testing::repeated;

const std::string adds = repeated(10, "v_add_f32_e32 v2, v2, v1\nglobal_load_dword v3, v1, s[8:9]\n"
                                      "s_waitcnt vmcnt(0)\n");

timing::OpTime all_ops(const ModelledKernel& k) {
  timing::OpTime sum;
  for (const timing::OpTime& op : k.kernel_time().simulation.ops) sum += op;
  return sum;
}

TEST(ModelledProfile, SaysWhoseNumbersTheyAre) {
  const ModelledKernel k(adds, {.model = "mi300a"});
  EXPECT_EQ(k.profile.source, "modelled (mi300a)");
  EXPECT_EQ(k.profile.origin, Origin::Modelled);
  EXPECT_EQ(unit_of(k.profile.origin), "cycles");
  EXPECT_EQ(k.profile.kernel, "k");
}

TEST(ModelledProfile, SumsAreTheSimulations) {
  const ModelledKernel k(adds, {.groups = 16, .items = 128});
  ASSERT_EQ(k.traces.launches.front().trace.sample.kind, timing::DispatchSample::Kind::Whole);
  const timing::OpTime sum = all_ops(k);
  timing::PerStall<double> stalled{};
  double busy = 0, issues = 0;
  for (const InstructionTime& i : k.profile.instructions) {
    busy += i.busy, issues += i.issues;
    for (size_t n = 0; n < timing::stall_count; ++n) stalled[n] += i.stalled[n];
  }
  EXPECT_NEAR(busy, sum.busy, 1e-6 * busy);
  EXPECT_NEAR(issues, static_cast<double>(sum.issues), 1e-6 * issues);
  for (size_t n = 0; n < timing::stall_count; ++n) EXPECT_NEAR(stalled[n], sum.stalled[n], 1e-6 * busy);
  EXPECT_GT(sum.stalls(), sum.busy) << "the loop waits for memory";
}

// A wave issues, or something holds it back: there is no cycle between its start and its end without a name.
TEST(ModelledProfile, EveryCycleOfAWaveHasAName) {
  const ModelledKernel k(adds +
                         "s_nop 7\n s_sleep 1\n v_exp_f32 v4, v2\n v_add_f32 v4, v4, v4\n s_barrier\n"
                         "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31]\n v_mov_b32 v5, v16\n"
                         "global_store_dword v1, v5, s[8:9]");
  const timing::OpTime sum = all_ops(k);
  EXPECT_NEAR(sum.busy + sum.stalls(),
              k.kernel_time().simulation.finished.at(0) - k.machine[timing::Parameter::wave_start], 1e-6);
}

TEST(ModelledProfile, CountsOfOneXcd) {
  // 16 workgroups of two waves on 8 XCDs: two of them on each, so four waves.
  const ModelledKernel k(adds, {.groups = 16, .items = 128});
  EXPECT_DOUBLE_EQ(k.time_of(k.find("v_lshlrev_b32")).issues, 4);
  EXPECT_DOUBLE_EQ(k.time_of(k.find("v_add_f32")).issues, 40);
  EXPECT_DOUBLE_EQ(k.time_of(k.find("s_endpgm")).issues, 4);
}

TEST(ModelledProfile, LaunchesThatOneStandsForCount) {
  const ModelledKernel one(adds, {.groups = 16}), three(adds, {.groups = 16, .stands_for = 3});
  EXPECT_NEAR(three.profile.total(), 3 * one.profile.total(), 1e-6 * three.profile.total());
  EXPECT_DOUBLE_EQ(three.time_of(three.find("v_add_f32")).issues, 60);
}

// A sample of some compute units: the numbers are of the whole XCD all the same.
TEST(ModelledProfile, SamplesAreScaledToTheWhole) {
  constexpr uint64_t groups = 400'000;
  const ModelledKernel k(adds, {.groups = groups, .effort = 50'000});
  const timing::DispatchSample& sample = k.traces.launches.front().trace.sample;
  ASSERT_LT(sample.share, 1);
  ASSERT_LT(k.kernel_time().simulated_share, 0.1);
  const double waves = static_cast<double>(groups) / 8;
  EXPECT_NEAR(k.time_of(k.find("v_add_f32")).issues, 10 * waves, 0.1 * waves);
  EXPECT_NEAR(k.time_of(k.find("s_endpgm")).issues, waves, 0.01 * waves);
}

TEST(ModelledProfile, KernelsThatAreNotLaunchedHaveNone) {
  const ModelledKernel k(adds);
  EXPECT_TRUE(modelled_profile(k.traces, k.time, "other", "mi300x").instructions.empty());
  EXPECT_EQ(longest_kernel(k.traces, k.time), "k");
  EXPECT_EQ(longest_kernel({}, {}), "");
}

TEST(ModelledProfile, NotesSayWhatIsOdd) {
  const ModelledKernel plain(adds);
  EXPECT_TRUE(plain.profile.notes.empty());
  const ModelledKernel clock("s_memtime s[10:11]\ns_waitcnt lgkmcnt(0)");
  EXPECT_THAT(clock.profile.notes, ::testing::ElementsAre(::testing::HasSubstr("read the clock")));
}

} // namespace
} // namespace asmevo::profile
