// The pairs of kernels/pairs: of each the cycle model has to find the faster one, by the ratio that is
// established at least.
#include "base/files.h"
#include "oracle/launch_time.h"

#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>

namespace asmevo::oracle {
namespace {

const std::string folder = std::string(ASMEVO_SOURCE_DIR) + "/kernels/pairs/",
                  objects = std::string(ASMEVO_BINARY_DIR) + "/kernels/pairs/";

struct Pair {
  std::string name;
  double least_ratio = 0;
};
void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

// name,category,least_ratio,...: the first three fields hold no commas.
std::vector<Pair> pairs() {
  std::vector<Pair> list;
  const Bytes bytes = read_file(folder + "pairs.csv").value();
  const std::string text(bytes.begin(), bytes.end());
  for (size_t from = text.find('\n') + 1; from < text.size(); from = text.find('\n', from) + 1) {
    const size_t name = text.find(',', from), category = text.find(',', name + 1);
    Pair pair{text.substr(from, name - from)};
    std::from_chars(text.data() + category + 1, text.data() + text.size(), pair.least_ratio);
    list.push_back(pair);
  }
  return list;
}

Result<double> modelled(const std::string& name, const std::string& kernel, const timing::Machine& machine) {
  ASMEVO_TRY(Bytes bytes, read_file(objects + name + ".gfx942.co"));
  ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(LaunchSpec spec, LaunchSpec::read(folder + name + ".toml"));
  ASMEVO_TRY(const LaunchPlan plan, LaunchPlan::make(std::move(spec), "full"));
  LaunchTraceOptions options;
  options.kernel = kernel;
  options.trace.effort = 300'000;
  ASMEVO_TRY(const LaunchTraces traces,
             trace_launches(plan, std::make_shared<const codeobject::CodeObject>(std::move(object)), machine,
                            options));
  return launch_time(traces, machine).seconds;
}

class DirectionPair : public ::testing::TestWithParam<Pair> {};

TEST_P(DirectionPair, FasterOneIsFaster) {
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const auto slow = modelled(GetParam().name, "slow", machine);
  const auto fast = modelled(GetParam().name, "fast", machine);
  ASSERT_TRUE(slow) << slow.error().message;
  ASSERT_TRUE(fast) << fast.error().message;
  EXPECT_GE(*slow / *fast, GetParam().least_ratio)
      << "slow " << *slow * 1e6 << " us, fast " << *fast * 1e6 << " us";
}

INSTANTIATE_TEST_SUITE_P(Pairs, DirectionPair, ::testing::ValuesIn(pairs()),
                         [](const auto& test) { return test.param.name; });

TEST(DirectionPairs, AreThirtyAtLeast) {
  EXPECT_GE(pairs().size(), 30U);
  for (const Pair& p : pairs()) EXPECT_GT(p.least_ratio, 0.9) << p.name;
}

} // namespace
} // namespace asmevo::oracle
