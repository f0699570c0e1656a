#include "full_run.h"
#include "suite_rules.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

namespace asmevo::search {
namespace {

using testing::SuiteKernel;

struct Tried {
  size_t proposals = 0, accepted = 0, bad = 0;
  double best = 1;     // speedup
  std::string largest; // what the first one says: all places together
};

Tried try_all(SuiteKernel& k, const std::string& kernel, const RuleContext& context, const Rule& rule,
              bool timed, size_t most) {
  Tried t;
  for (const Proposal& p : rule.propose(context)) {
    if (t.proposals++ == 0) t.largest = p.rationale;
    if (t.proposals > most) continue;
    std::shared_ptr<const oracle::Subject> built;
    const std::string wrong = k.try_out(kernel, p, &built);
    if (!wrong.empty()) {
      // Where results may differ they may differ too much; anything else is a mistake of the rule.
      const bool mistake = p.same_results || wrong.find("divergent") == std::string::npos;
      t.bad += mistake;
      fmt::print("  {} {} REJECTED: {}: {}\n", mistake ? "MISTAKE" : "", rule.name, p.rationale, wrong);
      continue;
    }
    ++t.accepted;
    if (!timed) continue;
    const auto seconds = k.seconds_of(built);
    if (seconds) t.best = std::max(t.best, k.seconds() / *seconds);
  }
  return t;
}

// A handful of kernels in which the rules find something, with few cases.
TEST(SuiteRules, WhatIsProposedVerifies) {
  for (const std::string name :
       {"level1_95_cross_entropy", "level2_41_matmul_batchnorm_gelu_relu", "level1_23_softmax"}) {
    auto k = SuiteKernel::open(name, {.profile = false});
    ASSERT_TRUE(k) << k.error().message;
    for (const std::string& kernel : (*k)->kernels())
      (*k)->with_context(kernel, [&](const RuleContext& context) {
        for (const Rule& rule : all_rules()) {
          const Tried t = try_all(**k, kernel, context, rule, false, 1);
          EXPECT_EQ(t.bad, 0U) << name << " " << kernel << " " << rule.name;
        }
      });
  }
}

// Every proposal of every rule for every kernel: `ASMEVO_FULL=1`. ASMEVO_RULES and ASMEVO_KERNELS, lists of
// names with blanks between them, choose some; ASMEVO_TARGET another GPU than gfx942.
bool chosen(const char* variable, std::string_view name) {
  const char* const list = std::getenv(variable);
  if (list == nullptr) return true;
  std::istringstream words{list};
  for (std::string word; words >> word;)
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

// Calls f(name, kernel) for the chosen kernels that are built.
template <class F>
void each_kernel(F f) {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite"))
    if (file.path().extension() == ".toml") names.push_back(file.path().stem());
  std::ranges::sort(names);
  const char* const target = std::getenv("ASMEVO_TARGET");
  SuiteKernel::Options options;
  options.as_given = false, options.one_in = 8, options.verify_shape = "";
  if (target != nullptr) options.target = target, options.model = "";
  for (const std::string& name : names) {
    if (!chosen("ASMEVO_KERNELS", name) || !std::filesystem::exists(SuiteKernel::path(name, options.target)))
      continue;
    auto k = SuiteKernel::open(name, options);
    ASSERT_TRUE(k) << name << ": " << k.error().message;
    f(name, **k);
    std::fflush(stdout);
  }
}

TEST(SuiteRules, EveryProposalOfEveryRule) {
  if (!test::full_run()) GTEST_SKIP() << "only with ASMEVO_FULL=1";
  each_kernel([](const std::string& name, SuiteKernel& k) {
    for (const std::string& kernel : k.kernels())
      k.with_context(kernel, [&](const RuleContext& context) {
        for (const Rule& rule : all_rules()) {
          if (!chosen("ASMEVO_RULES", rule.name)) continue;
          const Tried t = try_all(k, kernel, context, rule, true, 40);
          if (t.proposals > 0)
            fmt::print("{:40} {:30} {:20} {:3} proposals {:3} accepted {:.4f} {}\n", name, kernel, rule.name,
                       t.proposals, t.accepted, t.best, t.largest);
          EXPECT_EQ(t.bad, 0U) << name << " " << kernel << " " << rule.name;
        }
      });
  });
}

// The first proposal of each rule, one upon the other, as long as that is no slower: what they come to
// together.
std::string apply_in_turn(SuiteKernel& k, const std::string& name) {
  std::string used;
  for (const std::string& kernel : k.kernels())
    for (int round = 0; round < 2; ++round)
      for (const Rule& rule : all_rules()) {
        std::vector<Proposal> proposals;
        std::shared_ptr<const oracle::Subject> built;
        std::string wrong = "nothing";
        k.with_context(kernel, [&](const RuleContext& context) {
          proposals = rule.propose(context);
          if (!proposals.empty()) wrong = k.try_out(kernel, proposals[0], &built);
        });
        if (proposals.empty()) continue;
        EXPECT_EQ(wrong, "") << name << " " << kernel << " " << rule.name;
        const auto seconds = wrong.empty() ? k.seconds_of(built) : Result<double>(k.seconds());
        if (!wrong.empty() || !seconds || *seconds > k.seconds()) continue;
        EXPECT_TRUE(k.go_on_from(built));
        used += " " + std::string(rule.name);
      }
  return used;
}

TEST(SuiteRules, OneUponTheOther) {
  if (!test::full_run()) GTEST_SKIP() << "only with ASMEVO_FULL=1";
  each_kernel([](const std::string& name, SuiteKernel& k) {
    const double before = k.seconds();
    const std::string used = apply_in_turn(k, name);
    if (!used.empty()) fmt::print("{:40} {:.4f}{}\n", name, before / k.seconds(), used);
  });
}

} // namespace
} // namespace asmevo::search
