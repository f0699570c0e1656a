// What the rules about order, waits and memory instructions make of the kernels of the suite: the static
// check finds nothing new in it, and a few runs leave the same.
#include "base/files.h"
#include "full_run.h"
#include "oracle/case_set.h"
#include "rewritten.h"

#include <filesystem>

namespace asmevo::search {
namespace {

using testing::RuleBench;

struct Kernels {
  std::vector<std::string> names, targets;
  size_t proposals = 3; // of a rule for a kernel that are tried
};

Kernels chosen() {
  if (!test::full_run())
    return {
        {"level1_23_softmax", "level1_40_layer_norm", "level1_95_cross_entropy", "llm_rope"}, {"gfx942"}, 2};
  Kernels all{{}, {"gfx90a", "gfx942", "gfx950"}, 12};
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite"))
    if (file.path().extension() == ".toml") all.names.push_back(file.path().stem());
  std::ranges::sort(all.names);
  return all;
}

class Suite {
 public:
  Suite(const std::string& name, const std::string& target) : name_(name + ", " + target) {
    const auto bytes =
        read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + "." + target + ".co");
    if (!bytes) return;
    bytes_ = *bytes;
    k0_ = testing::subject(bytes_);
    const auto spec =
        oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml");
    if (!spec) return;
    oracle::CaseSetOptions options;
    options.shape = "tiny", options.as_given = true, options.seeds = 1;
    options.prepare.schedules = 2, options.prepare.sample = 8;
    if (auto cases = oracle::make_case_set(*spec, k0_, options)) cases_ = *std::move(cases);
  }
  bool ready() const { return !cases_.cases.empty(); }

  void try_rule(const Rule& rule, size_t most) {
    for (const program::Function& f : k0_->program().functions) {
      if (!f.kernel) continue;
      const RuleBench bench(bytes_, f.name);
      const auto proposals = bench.proposals(rule.propose);
      if (test::full_run() && !proposals.empty())
        fmt::print("{:40} {:30} {:14} {} proposals\n", name_, f.name, rule.name, proposals.size());
      for (size_t p = 0; p < std::min(most, proposals.size()); ++p) verify(bench, proposals[p]);
    }
  }

 private:
  void verify(const RuleBench& bench, const Proposal& p) {
    const std::string what = name_ + ": " + p.rationale;
    const Bytes object = bench.with(p);
    if (object.empty()) return;
    EXPECT_EQ(bench.findings(object), "") << what;
    const auto reports = oracle::verify_cases(cases_.cases, testing::subject(object));
    ASSERT_TRUE(reports) << what << ": " << reports.error().message;
    for (const oracle::CaseReport& r : *reports)
      EXPECT_TRUE(r.says_nothing || r.outcome == oracle::Outcome::Equivalent) << what << ": " << r.text;
  }

  std::string name_;
  Bytes bytes_;
  std::shared_ptr<const oracle::Subject> k0_;
  oracle::CaseSet cases_;
};

TEST(ReorderingSuite, LeavesTheSame) {
  const Kernels kernels = chosen();
  for (const std::string& target : kernels.targets)
    for (const std::string& name : kernels.names) {
      Suite suite(name, target);
      if (!suite.ready()) {
        fmt::print("{}, {}: not looked at\n", name, target);
        continue;
      }
      for (const std::string_view rule :
           {"waits", "schedule", "merge-memory", "wait-states", "priority", "short-branches"})
        suite.try_rule(*find_rule(rule), kernels.proposals);
    }
}

// Kernels written by hand, statically: ASMEVO_FULL=1 and ASMEVO_AITER_DIR (docs/production-kernels.md). One
// in ASMEVO_ONE_IN of them, or in 40.
TEST(ReorderingAiter, TheStaticCheckFindsNothingNew) {
  const char *const folder = std::getenv("ASMEVO_AITER_DIR"), *const one_in = std::getenv("ASMEVO_ONE_IN");
  if (!test::full_run() || folder == nullptr) GTEST_SKIP() << "only with ASMEVO_FULL=1 and ASMEVO_AITER_DIR";
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(folder) / "gfx942"))
    if (file.path().extension() == ".co") files.push_back(file.path());
  std::ranges::sort(files);
  const size_t step = one_in == nullptr ? 40 : std::max(1, std::atoi(one_in));
  for (size_t n = 0; n < files.size(); n += step) {
    const auto bytes = read_file(files[n].string());
    if (!bytes) continue;
    const auto k0 = oracle::Subject::open(*bytes);
    if (!k0) continue;
    for (const program::Function& f : (*k0)->program().functions) {
      if (!f.kernel) continue;
      const RuleBench bench(*bytes, f.name);
      for (const Rule& rule : all_rules()) {
        const auto proposals = bench.proposals(rule.propose);
        if (proposals.empty()) continue;
        fmt::print("{:60} {:14} {} proposals\n", files[n].filename().string(), rule.name, proposals.size());
        for (size_t p = 0; p < std::min<size_t>(3, proposals.size()); ++p) {
          const Bytes object = bench.with(proposals[p]);
          EXPECT_TRUE(object.empty() || bench.findings(object).empty())
              << files[n] << ": " << proposals[p].rationale << ": " << bench.findings(object);
        }
      }
    }
  }
}

} // namespace
} // namespace asmevo::search
