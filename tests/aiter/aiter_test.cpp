// AITer's production kernels on the emulator against their references. The objects are looked for in
// $ASMEVO_AITER_DIR, AITer's folder hsa/; without it there is nothing to run.
#include "oracle/subject.h"
#include "program/static_check.h"
#include "reference/aiter.h"
#include "sanitizer/sanitizer.h"
#include "suite/suite_fixture.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>

namespace asmevo::suite {
namespace {

using reference::AiterKernel;

struct AiterLaunch {
  const AiterKernel* kernel;
  std::string shape;
};
void PrintTo(const AiterLaunch& launch, std::ostream* out) {
  *out << launch.kernel->name << " " << launch.shape;
}

std::vector<AiterLaunch> launches() {
  std::vector<AiterLaunch> list;
  for (const AiterKernel& kernel : reference::aiter_kernels())
    for (const std::string& shape : kernel.shapes) list.push_back({&kernel, shape});
  return list;
}
std::vector<AiterLaunch> small_launches() {
  std::vector<AiterLaunch> list = launches();
  std::erase_if(list, [](const AiterLaunch& launch) { return launch.shape.ends_with("search"); });
  return list;
}
std::string launch_file(const std::string& name) {
  return std::string(ASMEVO_SOURCE_DIR) + "/kernels/aiter/" + name + ".toml";
}

/// One launch, run with K0's object.
class Aiter : public ::testing::TestWithParam<AiterLaunch> {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("ASMEVO_AITER_DIR");
    if (folder == nullptr || *folder == '\0')
      GTEST_SKIP() << "ASMEVO_AITER_DIR does not name AITer's folder hsa/";
    folder_ = folder;
    run_ = run(GetParam().kernel->races ? emulator::waves_abreast : 0);
    if (run_ != nullptr) expected_ = GetParam().kernel->expected(run_->inputs());
  }

  /// Null where it does not come to its end. `order`: of waves.
  std::unique_ptr<SuiteRun> run(uint64_t order) const {
    const AiterKernel& kernel = *GetParam().kernel;
    auto run = std::make_unique<SuiteRun>(
        SuiteFiles{kernel.name, folder_ + "/" + kernel.object, launch_file(kernel.launch)}, GetParam().shape,
        "gfx942");
    const Status loaded = run->load();
    if (loaded) run->options().seed = order;
    const Status completed = loaded ? run->run() : loaded;
    if (completed) return run;
    ADD_FAILURE() << run->label() << ": " << completed.error().message;
    return nullptr;
  }
  /// Whether what the kernel leaves is the same in some other orders of waves.
  bool depends_on_order() const {
    for (const uint64_t order : {1, 2, 3}) {
      const auto other = run(order);
      for (const reference::Output& output : expected_.outputs)
        if (other != nullptr && !same(run_->now(output), other->now(output))) return true;
    }
    return false;
  }
  static bool same(const reference::Numbers& a, const reference::Numbers& b) {
    return std::ranges::equal(
        a, b, [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); });
  }

  std::string folder_;
  std::unique_ptr<SuiteRun> run_;
  reference::Expected expected_;
};

/// For the report: how much of what is allowed the worst element of each buffer takes, and how far off that
/// is.
void record_distances(const SuiteRun& run, const reference::Expected& expected) {
  struct Distance {
    double of_allowed = 0, largest = 0;
  };
  std::map<std::string, Distance> distances;
  for (const reference::Output& output : expected.outputs) {
    const reference::Numbers got = run.now(output);
    Distance& distance = distances[output.buffer];
    for (size_t i = 0; i < got.size(); ++i) {
      const double off = std::abs(got[i] - output.values[i]);
      if (off > 0) distance.of_allowed = std::max(distance.of_allowed, off / output.allowed(i));
      distance.largest = std::max(distance.largest, off);
    }
  }
  for (const auto& [buffer, distance] : distances) {
    ::testing::Test::RecordProperty(buffer + "_of_allowed", fmt::format("{:.3f}", distance.of_allowed));
    ::testing::Test::RecordProperty(buffer + "_largest", fmt::format("{:.3g}", distance.largest));
  }
}

TEST_P(Aiter, AgreesWithItsReference) {
  ASSERT_NE(run_, nullptr);
  ASSERT_FALSE(expected_.outputs.empty());
  expect(*run_, expected_);
  record_distances(*run_, expected_);
  RecordProperty("instructions", std::to_string(run_->instructions()));
}

TEST_P(Aiter, DisagreesWithAReferenceThatIsThreePercentOff) {
  ASSERT_NE(run_, nullptr);
  std::map<std::string, size_t> outside; // by buffer
  for (reference::Output& output : expected_.outputs) {
    for (double& value : output.values) value *= 1.03;
    const reference::Numbers got = run_->now(output);
    size_t& count = outside[output.buffer];
    for (size_t i = 0; i < got.size(); ++i)
      count += !(std::abs(got[i] - output.values[i]) <= output.allowed(i));
  }
  for (const auto& [buffer, count] : outside) EXPECT_GT(count, 0U) << run_->label() << ": " << buffer;
}
/// The smaller launches.
class AiterOrder : public Aiter {};

TEST_P(AiterOrder, MattersOnlyIfWavesRace) {
  ASSERT_NE(run_, nullptr);
  EXPECT_EQ(depends_on_order(), GetParam().kernel->races);
}

/// What the static check finds in an object without running it: rule and the text of both instructions.
std::set<std::string> static_findings(const std::string& object) {
  std::set<std::string> list;
  const Result<Bytes> bytes = read_file(object);
  const auto subject =
      bytes ? oracle::Subject::open(*bytes) : Result<std::shared_ptr<const oracle::Subject>>();
  if (!subject || !*subject) return list;
  const program::Program& program = (*subject)->program();
  const auto text = [&](program::Index i) { return program::print(program, i, (*subject)->codec()); };
  for (const program::Function& function : program.functions)
    for (const program::Finding& f :
         program::check(program, function, program::Cfg::build(program, function), {}))
      if (f.producer != program::no_index)
        list.insert(f.rule + " | " + text(f.producer) + " | " + text(f.consumer));
  return list;
}

// docs/static-check.md and docs/production-kernels.md say what of AITer is wrong. The sanitizer must find the
// races, and of waits and wait states nothing that the static check, by other means, has not found.
TEST_P(AiterOrder, TheSanitizerFindsItsRacesAndNothingUnknown) {
  ASSERT_NE(run_, nullptr);
  const AiterKernel& kernel = *GetParam().kernel;
  const std::string object = folder_ + "/" + kernel.object;
  SuiteRun watched({kernel.name, object, launch_file(kernel.launch)}, GetParam().shape, "gfx942");
  ASSERT_TRUE(watched.load());
  sanitizer::Session session(*isa::Target::from_id("gfx942"));
  watched.options().seed = kernel.races ? emulator::waves_abreast : 0;
  watched.options().observer = session.observers();
  const Status completed = watched.run();
  ASSERT_TRUE(completed) << completed.error().message;
  const Result<sanitizer::Defects> defects = session.take();
  ASSERT_TRUE(defects);
  const std::set<std::string> known = static_findings(object);
  std::map<sanitizer::DefectKind, size_t> count;
  std::map<std::string, size_t> possible;
  for (const sanitizer::Defect& d : *defects) {
    if (d.possible) {
      ++possible[fmt::format("possible_{}_{}", name(d.kind), d.rule)];
      continue;
    }
    ++count[d.kind];
    if (d.kind == sanitizer::DefectKind::InFlight || d.kind == sanitizer::DefectKind::WaitStates) {
      EXPECT_TRUE(known.contains(d.rule + " | " + d.first.text + " | " + d.second.text)) << d.message();
    } else {
      EXPECT_TRUE(d.kind == sanitizer::DefectKind::LdsRace && kernel.races) << d.message();
    }
  }
  EXPECT_EQ(count.contains(sanitizer::DefectKind::LdsRace), kernel.races);
  for (const auto& [kind, times] : count) RecordProperty(std::string(name(kind)), std::to_string(times));
  for (const auto& [what, times] : possible) RecordProperty(what, std::to_string(times));
}

std::string launch_name(const ::testing::TestParamInfo<AiterLaunch>& test) {
  std::string name = test.param.kernel->name + "_" + test.param.shape;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Kernels, Aiter, ::testing::ValuesIn(launches()), launch_name);
INSTANTIATE_TEST_SUITE_P(Kernels, AiterOrder, ::testing::ValuesIn(small_launches()), launch_name);

TEST(AiterKernels, HaveTheShapesTheyName) {
  std::set<std::string> used, files;
  for (const AiterKernel& kernel : reference::aiter_kernels()) {
    used.insert(kernel.launch);
    const auto spec = oracle::LaunchSpec::read(launch_file(kernel.launch));
    ASSERT_TRUE(spec) << spec.error().message;
    for (const std::string& shape : kernel.shapes)
      EXPECT_TRUE(spec->shapes.contains(shape)) << kernel.name << " " << shape;
  }
  for (const auto& entry : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/kernels/aiter"))
    files.insert(entry.path().stem().string());
  EXPECT_EQ(used, files);
}

} // namespace
} // namespace asmevo::suite
