// What must hold of the profile of any kernel, seen on kernels of the suite: sums that come out, shares and
// gains within their bounds, and instructions that were counted by somebody else, too.
#include "base/files.h"
#include "oracle/launch_memory.h"
#include "oracle/launch_run.h"
#include "profile/kernel_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace asmevo::profile {
namespace {

using P = timing::Parameter;

struct Profiled {
  std::unique_ptr<isa::Codec> codec;
  std::unique_ptr<rebuild::Original> original;
  std::unique_ptr<const oracle::LaunchPlan> plan;
  std::shared_ptr<const codeobject::CodeObject> object;
  timing::Machine machine;
  oracle::LaunchTraces traces;
  oracle::LaunchTime time;
  KernelProfile profile;
  KernelSummary summary;
};

struct How {
  std::string shape = "full";
  uint64_t effort = 200'000;
  bool one_xcd = false; // that has all workgroups then
};

Result<std::unique_ptr<Profiled>> model(const std::string& name, const How& how) {
  auto k = std::make_unique<Profiled>();
  ASMEVO_TRY(Bytes bytes,
             read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + ".gfx942.co"));
  ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(bytes));
  k->object = std::make_shared<const codeobject::CodeObject>(std::move(object));
  ASMEVO_TRY(k->codec, isa::Codec::create(k->object->target()));
  ASMEVO_TRY(rebuild::Original original, rebuild::Original::open(std::move(bytes), *k->codec));
  k->original = std::make_unique<rebuild::Original>(std::move(original));
  ASMEVO_TRY(oracle::LaunchSpec spec,
             oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml"));
  ASMEVO_TRY(oracle::LaunchPlan plan, oracle::LaunchPlan::make(std::move(spec), how.shape));
  k->plan = std::make_unique<const oracle::LaunchPlan>(std::move(plan));
  k->machine = timing::MachineModel::find("mi300x")->nominal();
  if (how.one_xcd) k->machine[P::xcds] = 1;
  oracle::LaunchTraceOptions options;
  options.trace.effort = how.effort, options.trace.threads = 1;
  ASMEVO_TRY(k->traces, oracle::trace_launches(*k->plan, k->object, k->machine, options));
  k->time = oracle::launch_time(k->traces, k->machine);
  k->profile = modelled_profile(k->traces, k->time, longest_kernel(k->traces, k->time), "mi300x");
  k->summary = kernel_summary(k->traces, k->time, k->profile, k->machine);
  return k;
}

bool built(const std::string& name) {
  return std::filesystem::exists(std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + ".gfx942.co");
}

class SuiteKernel : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!built(GetParam())) GTEST_SKIP() << "the suite's kernels are not built";
  }
};
INSTANTIATE_TEST_SUITE_P(Profile, SuiteKernel,
                         ::testing::Values("level1_19_relu", "level1_23_softmax", "level1_51_argmax_rows",
                                           "level1_40_layer_norm", "level1_88_new_gelu", "level1_1_matmul",
                                           "level1_84_depthwise_conv", "level1_95_cross_entropy",
                                           "llm_gemm_f16", "llm_attention", "llm_moe_topk",
                                           "llm_layernorm_residual"),
                         [](const auto& named) { return std::string(named.param); });

void expect_share(double share, std::string_view what) {
  EXPECT_GE(share, 0) << what;
  EXPECT_LE(share, 1) << what;
}

TEST_P(SuiteKernel, SharesAndRooflineAreWithinTheirBounds) {
  const auto k = model(GetParam(), {});
  ASSERT_TRUE(k) << k.error().message;
  const KernelSummary& s = (*k)->summary;
  for (const LevelUse& level : s.levels) {
    expect_share(level.share, name(level.level));
    expect_share(level.least_share, name(level.level));
    EXPECT_LE(level.least_share, level.share + 0.01)
        << name(level.level) << ": more bytes than it could move";
  }
  for (const PipeUse& p : s.pipes) expect_share(p.share, timing::name(p.pipe));
  expect_share(s.miss_places.share, "misses in flight");
  const Roofline r = roofline(s);
  EXPECT_LE(r.reached(), 1);
  EXPECT_TRUE(r.roof.empty() || r.reached() > 0);
  expect_share(limiter(s).share, "limiter");
  expect_share(busiest_unit(s).second, "busiest unit");
}

// Places in which waves can be hold no more wave cycles than there are.
TEST_P(SuiteKernel, WaveCyclesFitIntoTheTime) {
  const auto k = model(GetParam(), {});
  ASSERT_TRUE(k) << k.error().message;
  const KernelSummary& s = (*k)->summary;
  EXPECT_NEAR(s.wave_cycles(), (*k)->profile.total(), 1e-6 * s.wave_cycles());
  constexpr double of_samples = 1.1; // time and work of what is not simulated are worked out apart
  EXPECT_LE(s.waves, s.occupancy.waves_per_simd * of_samples);
  constexpr double turn = 4;
  EXPECT_NEAR(s.busy, turn * s.instructions, 1e-6 * s.busy);
}

TEST_P(SuiteKernel, WindowsAreWhereTimeIsAndWinNoMoreThanThat) {
  const auto made = model(GetParam(), {});
  ASSERT_TRUE(made) << made.error().message;
  const Profiled& k = **made;
  const auto code = KernelCode::open(*k.original, k.profile.kernel);
  ASSERT_TRUE(code) << code.error().message;
  const CodePath path(**code, k.profile);
  const double busiest = busiest_unit(k.summary).second;
  const std::vector<HotWindow> windows =
      hot_windows(path, k.profile, k.machine,
                  {.windows = 20, .waves_per_simd = k.summary.waves, .busiest_unit = busiest});
  ASSERT_FALSE(windows.empty());
  double time = 0;
  for (size_t n = 0; n < windows.size(); ++n) {
    const HotWindow& w = windows[n];
    time += w.total;
    EXPECT_GE(w.gain, 0);
    EXPECT_LE(w.gain, w.total / k.profile.total() + 1e-9) << "more than is spent in it";
    EXPECT_LE(w.gain, 1 - busiest + 1e-9) << "more than the busiest unit leaves";
    EXPECT_LE(w.hideable, w.total + 1e-6);
    EXPECT_LE(w.window.end - w.window.begin, HotWindowOptions().most_instructions);
    EXPECT_TRUE(w.worst >= w.window.begin && w.worst < w.window.end);
    for (size_t m = 0; m < n; ++m)
      EXPECT_TRUE(w.window.end <= windows[m].window.begin || windows[m].window.end <= w.window.begin);
    for (const OutsideUse& use : w.producers) {
      EXPECT_FALSE(use.at >= w.window.begin && use.at < w.window.end);
      EXPECT_TRUE(w.window.live_in.overlaps(use.reg)) << isa::name(use.reg);
    }
    for (const OutsideUse& use : w.consumers) EXPECT_TRUE(w.window.live_out.overlaps(use.reg));
  }
  EXPECT_LE(time, k.profile.total() * (1 + 1e-9));
  const double hottest =
      std::ranges::max_element(windows, {}, [](const HotWindow& w) { return w.total; })->total;
  EXPECT_GE(hottest, 0.1 * k.profile.total()) << "they miss where the time goes";
}

// What no order of a loop's instructions can undo, no turn was quicker than.
TEST_P(SuiteKernel, LoopsTakeNoLessThanTheirBounds) {
  const auto made = model(GetParam(), {});
  ASSERT_TRUE(made) << made.error().message;
  const Profiled& k = **made;
  const auto code = KernelCode::open(*k.original, k.profile.kernel);
  ASSERT_TRUE(code) << code.error().message;
  const CodePath path(**code, k.profile);
  for (const LoopBound& l : loop_bounds(path, k.machine)) {
    const bool whole_turns = std::ranges::all_of(l.body, [&](program::Index i) {
      const InstructionTime* const t = path.time(i);
      return t != nullptr && t->issues > 0.95 * l.turns;
    });
    constexpr double first_turns = 0.9; // their chains begin outside of the loop
    if (l.turns == 0 || !whole_turns) continue;
    EXPECT_GE(l.measured, first_turns * l.issue) << (*code)->id(l.first);
    EXPECT_GE(l.measured, first_turns * l.carried) << (*code)->id(l.first);
  }
}

// All workgroups on one XCD and all simulated: as many instructions as the emulator counts in a plain run.
TEST_P(SuiteKernel, IssuesAreWhatTheEmulatorCounts) {
  const auto made = model(GetParam(), {.shape = "tiny", .effort = 20'000'000, .one_xcd = true});
  ASSERT_TRUE(made) << made.error().message;
  const Profiled& k = **made;
  auto device = device::EmulatedDevice::create(k.object->target());
  ASSERT_TRUE(device) << device.error().message;
  (*device)->options().threads = 1;
  const auto module = (*device)->load(k.object);
  ASSERT_TRUE(module) << module.error().message;
  const auto memory = oracle::LaunchMemory::create(*k.plan, **device);
  ASSERT_TRUE(memory) << memory.error().message;
  const auto report = oracle::run_launch(*k.plan, **memory, **module);
  ASSERT_TRUE(report) << report.error().message;
  double counted = 0;
  for (const oracle::LaunchRecord& l : report->launches)
    if (l.kernel == k.profile.kernel) counted += static_cast<double>(l.instructions);
  EXPECT_NEAR(k.summary.instructions, counted, 1e-9 * counted);
  double issues = 0;
  for (const InstructionTime& i : k.profile.instructions) issues += i.issues;
  EXPECT_NEAR(issues, counted, 1e-9 * counted);
}

} // namespace
} // namespace asmevo::profile
