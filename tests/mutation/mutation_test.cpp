// Mutants of the suite's kernels are rejected, equivalent rewrites accepted: two of each a kernel, and with
// ASMEVO_FULL=1 all of docs/mutation.md.
#include "base/files.h"
#include "full_run.h"
#include "mutation/assembly_text.h"
#include "mutation/campaign.h"
#include "mutation/fixed.h"
#include "mutation/opcode_pairs.h"
#include "mutation/same_as_k0.h"
#include "reference/suite.h"
#include "suite/frozen_hash.h"
#include "suite/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>

namespace asmevo::mutation {
namespace {

using reference::SuiteKernel;
using test::full_run;

// The lists of mutants and of reasons are those of the frozen kernels; another compiler makes other ones.
bool is_frozen(const SuiteKernel& kernel) {
  const std::string target = kernel.targets.front();
  const auto bytes = read_suite_object(kernel.name, target);
  const auto object = bytes ? codeobject::CodeObject::parse(*bytes) : std::unexpected(bytes.error());
  const auto hashes = read_file(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/hashes.txt");
  if (!object || !hashes) return false;
  const std::string text(hashes->begin(), hashes->end());
  return text.find(fmt::format("{} {}.{}\n", suite::frozen_hash(*object), kernel.name, target)) !=
         std::string::npos;
}

class Mutation : public ::testing::TestWithParam<SuiteKernel> {};

TEST_P(Mutation, IsRejectedAndEquivalentRewritesAreNot) {
  const SuiteKernel& kernel = GetParam();
  // A part of the cases, to be quick; what they miss all of them must find.
  const auto bench = open_bench(kernel.name, kernel.k0, kernel.targets.front(), full_run() ? 1 : 16);
  ASSERT_TRUE(bench) << bench.error().message;
  const size_t some = full_run() ? semantic_count : 2;

  std::vector<program::Edit> edits;
  std::vector<std::string> texts;
  for (const Mutant& m : semantic_mutants(*bench->k0, bench->kernel, fixed_seed, semantic_count)) {
    if (why_same(bench->name, m) || shown_by(bench->name, m) || edits.size() == some) continue;
    edits.push_back(m.edit(bench->kernel));
    texts.push_back(fmt::format("{} {}: {} -> {}", name(m.op), m.at.text(), m.before, m.after));
  }
  const size_t mutants = edits.size();
  EXPECT_GE(mutants, 2U);
  const size_t wanted = full_run() ? rewrite_count : 2;
  for (const Rewrite& r : equivalent_rewrites(*bench->k0, bench->kernel, fixed_seed, wanted)) {
    edits.push_back(r.edit);
    texts.push_back(fmt::format("{} {}", name(r.kind), r.text));
  }
  EXPECT_EQ(edits.size() - mutants, wanted);

  std::vector<Verdict> verdicts = judge_all(*bench, edits);
  const auto survives = [&](size_t i) { return verdicts[i].accepted(); };
  if (!full_run() && std::ranges::any_of(std::views::iota(size_t{0}, mutants), survives)) {
    const auto all = open_bench(kernel.name, kernel.k0, kernel.targets.front());
    ASSERT_TRUE(all) << all.error().message;
    for (size_t i = 0; i < mutants; ++i)
      if (survives(i)) verdicts[i] = judge(*all, edits[i]);
  }
  size_t survived = 0;
  for (size_t i = 0; i < edits.size(); ++i) {
    const Verdict& v = verdicts[i];
    if (i >= mutants)
      EXPECT_TRUE(v.accepted()) << texts[i] << ": " << v.at_case << ": " << v.text;
    else if (v.accepted() && is_frozen(kernel) && ++survived > (full_run() ? 2U : 0U)) // docs/mutation.md
      ADD_FAILURE() << "survives: " << texts[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, Mutation, ::testing::ValuesIn(reference::suite_kernels()),
                         [](const auto& test) { return test.param.name; });

TEST(MutationList, FollowsFromTheSeed) {
  const auto bench = open_bench("level1_19_relu", "relu");
  ASSERT_TRUE(bench) << bench.error().message;
  const auto texts = [&](uint64_t seed) {
    std::vector<std::string> list;
    for (const Mutant& m : semantic_mutants(*bench->k0, "relu", seed, 20))
      list.push_back(m.at.text() + m.after);
    return list;
  };
  EXPECT_EQ(texts(1), texts(1));
  EXPECT_NE(texts(1), texts(2));
  const std::vector<std::string> list = texts(1);
  EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), 20U);
}

// A list of reasons that nothing needs any more would hide what it was made for.
TEST(MutationList, EveryReasonIsOfSomeMutant) {
  size_t found = 0;
  for (const SuiteKernel& kernel : reference::suite_kernels()) {
    if (!is_frozen(kernel))
      GTEST_SKIP() << "the kernels are by another compiler than those of kernels/suite/hashes.txt";
    const auto bytes = read_suite_object(kernel.name, kernel.targets.front());
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto k0 = oracle::Subject::open(*bytes);
    ASSERT_TRUE(k0) << k0.error().message;
    for (const Mutant& m : semantic_mutants(**k0, kernel.k0, fixed_seed, semantic_count))
      found += why_same(kernel.name, m) ? 1 : 0;
  }
  EXPECT_EQ(found, reasons());
}

TEST(AssemblyText, ComesApartAndTogether) {
  for (const std::string text :
       {"s_endpgm", "v_add_f32_e32 v1, v2, v3", "global_load_dword v4, v[2:3], off offset:16 sc0",
        "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        "ds_read2_b32 v[0:1], v2 offset0:1 offset1:3", "v_pk_add_f16 v0, v1, v2 op_sel:[0,1] op_sel_hi:[1,0]",
        "s_waitcnt vmcnt(0) lgkmcnt(0)"})
    EXPECT_EQ(AssemblyText::parse(text).text(), text);
  const AssemblyText load = AssemblyText::parse("global_load_dword v4, v[2:3], off offset:16 sc0");
  EXPECT_THAT(load.operands, ::testing::ElementsAre("v4", "v[2:3]", "off"));
  EXPECT_THAT(load.modifiers, ::testing::ElementsAre("offset:16", "sc0"));
  EXPECT_EQ(AssemblyText::parse("v_add_f32_e32 v1, v2, v3").base(), "v_add_f32");
}

TEST(OpcodePairs, GoBothWays) {
  EXPECT_THAT(opcodes_in_place_of("v_add_f32"), ::testing::Contains("v_sub_f32"));
  EXPECT_THAT(opcodes_in_place_of("v_sub_f32"), ::testing::Contains("v_add_f32"));
  EXPECT_THAT(opcodes_in_place_of("s_nop"), ::testing::IsEmpty());
}

} // namespace
} // namespace asmevo::mutation
