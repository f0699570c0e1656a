// Compiled kernels, launched as their launch files say, on the model of the card that their times are from.
#include "base/files.h"
#include "profile/kernel_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asmevo::profile {
namespace {

using ::testing::HasSubstr;

struct Built {
  KernelProfile profile;
  KernelSummary summary;
  Limiter bound;
};

Result<Built> model(const std::string& name, const std::string& shape, unsigned threads = 1) {
  ASMEVO_TRY(Bytes bytes,
             read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/mi300a/" + name + ".gfx942.co"));
  ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(oracle::LaunchSpec spec,
             oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/mi300a/" + name + ".toml"));
  ASMEVO_TRY(const oracle::LaunchPlan plan, oracle::LaunchPlan::make(std::move(spec), shape));
  const timing::Machine machine = timing::MachineModel::find("mi300a")->nominal();
  oracle::LaunchTraceOptions options;
  options.trace.effort = 500'000, options.trace.threads = threads;
  ASMEVO_TRY(const oracle::LaunchTraces traces,
             oracle::trace_launches(plan, std::make_shared<const codeobject::CodeObject>(std::move(object)),
                                    machine, options));
  const oracle::LaunchTime time = oracle::launch_time(traces, machine);
  Built built;
  built.profile = modelled_profile(traces, time, longest_kernel(traces, time), "mi300a");
  built.summary = kernel_summary(traces, time, built.profile, machine);
  built.bound = limiter(built.summary);
  return built;
}

TEST(BuiltKernels, VectorAddIsBoundByHbm) {
  const auto k = model("vectoradd", "n268435456");
  ASSERT_TRUE(k) << k.error().message;
  EXPECT_EQ(k->bound.bound, Bound::Hbm) << k->bound.sentence;
  const double bytes = 268435456.0 * 4;
  const LevelUse& hbm = k->summary.levels[static_cast<size_t>(MemoryLevel::Hbm)];
  EXPECT_NEAR(hbm.read, 2 * bytes, 0.2 * bytes);
  EXPECT_NEAR(hbm.written, bytes, 0.1 * bytes);
  EXPECT_NEAR(k->summary.vector_flops, 268435456.0, 0.03 * 268435456.0);
}

TEST(BuiltKernels, SmallVectorAddIsBoundByTheLaunch) {
  const auto k = model("vectoradd", "n4096");
  ASSERT_TRUE(k) << k.error().message;
  EXPECT_EQ(k->bound.bound, Bound::LaunchFloor) << k->bound.sentence;
}

TEST(BuiltKernels, FirIsBoundByLatency) {
  const auto k = model("fir", "n65536_taps64");
  ASSERT_TRUE(k) << k.error().message;
  EXPECT_EQ(k->bound.bound, Bound::Latency) << k->bound.sentence;
  EXPECT_THAT(k->bound.sentence, HasSubstr("WAITCNT"));
  EXPECT_EQ(k->summary.kernel, "fir");
}

TEST(BuiltKernels, ManyLaunchesAreCountedTogether) {
  const auto k = model("bitonicsort", "tiny");
  ASSERT_TRUE(k) << k.error().message;
  EXPECT_GT(k->summary.launches, 1);
  EXPECT_NEAR(k->summary.wave_cycles(), k->profile.total(), 1e-6 * k->profile.total());
}

TEST(BuiltKernels, ThreadsChangeNothing) {
  const auto one = model("fir", "n4096_taps16", 1), two = model("fir", "n4096_taps16", 2);
  ASSERT_TRUE(one && two);
  ASSERT_EQ(one->profile.instructions.size(), two->profile.instructions.size());
  for (size_t n = 0; n < one->profile.instructions.size(); ++n) {
    EXPECT_EQ(one->profile.instructions[n].issues, two->profile.instructions[n].issues);
    EXPECT_EQ(one->profile.instructions[n].stalled, two->profile.instructions[n].stalled);
  }
}

} // namespace
} // namespace asmevo::profile
