// One edit in place of several in a row: the same program comes of it.
#include "assembly_model.h"
#include "program/edit_between.h"
#include "program_builder.h"

#include <map>

namespace asmevo::program {
namespace {

using testing::AssemblyModel;
using testing::ModelGenerator;

// The instructions with what they refer to, and the entry that each reference in use goes to; without ids.
std::string shape_of(const Program& p, isa::Codec& codec) {
  std::string text;
  for (Index i = 0; i < p.entries.size(); ++i) {
    text += codec.print(p.instruction(i));
    if (const Index to = p.branch_target(i); to != no_index) text += fmt::format(" -> entry {}", to);
    text += "\n";
  }
  for (const Function& f : p.functions)
    text += fmt::format("{} {} {} {}\n", f.name, f.begin, f.end, f.padding);
  return text;
}

void check_random_edits(const char* cpu, uint64_t first_seed, unsigned count) {
  isa::Codec& codec = testing::codec_for(isa::Target::from_id(cpu)->gfx);
  unsigned checked = 0;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    ModelGenerator generator(seed, codec);
    AssemblyModel model = generator.model();
    const Program base = generator.program(model);
    Program now = base;
    std::string history = fmt::format("seed {}\n", seed), kernel;
    for (uint32_t node = 1; node < 5; ++node) {
      const auto changes = generator.changes(model);
      if (changes.empty()) continue;
      Edit edit;
      edit.kernel = model.functions[changes.front().function].name;
      // One edit speaks of one kernel.
      if (!kernel.empty() && edit.kernel != kernel) break;
      kernel = edit.kernel;
      for (const auto& change : changes) edit.changes.push_back(change.edit(model));
      history += edit.json() + "\n";
      auto spliced = splice(now, edit, node, codec);
      ASSERT_TRUE(spliced) << spliced.error().describe() << "\n" << history;
      now = *std::move(spliced);
      testing::apply(model, changes);
      testing::number_fresh_lines(model, node);
      const auto one = edit_between(base, now, kernel, codec);
      if (!one) continue; // it has addresses that text cannot give
      ++checked;
      const auto again = splice(base, *one, 99, codec);
      ASSERT_TRUE(again) << again.error().describe() << "\n" << history << "became " << one->json();
      const std::string is = shape_of(*again, codec), should = shape_of(now, codec);
      const auto at = static_cast<size_t>(std::ranges::mismatch(is, should).in1 - is.begin());
      ASSERT_TRUE(is == should) << is.substr(at, 200) << "\ninstead of " << should.substr(at, 200) << "\n"
                                << history << "became " << one->json();
    }
  }
  EXPECT_GT(checked, count);
}

TEST(EditBetween, RandomEditsInOne_gfx942) {
  check_random_edits("gfx942", 1, 300);
}
TEST(EditBetween, RandomEditsInOne_gfx90a) {
  check_random_edits("gfx90a", 5000, 60);
}

class TwoEdits : public ::testing::Test {
 protected:
  static Edit edit(std::vector<Change> changes) {
    Edit e;
    e.kernel = "f", e.changes = std::move(changes);
    return e;
  }
  static Change replace(std::string_view first, std::string_view last, std::string text) {
    return {InstrId::parse(first), InstrId::parse(last), std::nullopt, std::move(text)};
  }
  static Change insert(std::string_view before, std::string text) {
    return {std::nullopt, std::nullopt, InstrId::parse(before), std::move(text)};
  }
  Edit both(const Edit& a, const Edit& b) {
    const auto once = splice(base_, a, 1, codec_);
    EXPECT_TRUE(once) << once.error().describe();
    const auto twice = splice(*once, b, 2, codec_);
    EXPECT_TRUE(twice) << twice.error().describe();
    const auto one = edit_between(base_, *twice, "f", codec_);
    EXPECT_TRUE(one);
    const auto again = splice(base_, *one, 3, codec_);
    EXPECT_TRUE(again) << again.error().describe() << one->json();
    EXPECT_EQ(shape_of(*again, codec_), shape_of(*twice, codec_)) << one->json();
    return *one;
  }

  isa::Codec& codec_ = testing::codec_for();
  // Offsets: 0 s_nop, 4 s_nop, 8 s_branch, c s_nop, 10 s_cbranch, 14 s_endpgm.
  Program base_ = testing::build_program("start: s_nop 0\n middle: s_nop 1\n s_branch last\n s_nop 2\n"
                                         "s_cbranch_scc0 start\n last: s_endpgm\n");
};

TEST_F(TwoEdits, NothingIsNothing) {
  const auto one = edit_between(base_, base_, "f", codec_);
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->changes.empty());
}

// In place of what the first one put there.
TEST_F(TwoEdits, WhatIsReplacedAgainIsOneChange) {
  const Edit one =
      both(edit({replace("4", "4", "s_nop 5\ns_nop 6")}), edit({replace("1.1", "1.1", "s_nop 7")}));
  ASSERT_EQ(one.changes.size(), 1U);
  EXPECT_EQ(one.changes[0].text, "s_nop 5\ns_nop 7\n");
}

// A label that stands in front of what the second one put in goes with that, not with what is gone.
TEST_F(TwoEdits, LabelsKeepTheirPlace) {
  const Edit one = both(edit({replace("10", "10", "s_nop 5")}), edit({insert("14", "s_nop 6")}));
  EXPECT_EQ(one.changes.size(), 2U);
}

TEST_F(TwoEdits, NewLabelsAreDefinedWhereTheyAreUsed) {
  both(edit({replace("4", "4", "s_cbranch_scc1 there\ns_nop 5\nthere:")}), edit({insert("8", "s_nop 6")}));
  both(edit({insert("c", "again: s_nop 4\ns_cbranch_scc0 again")}), edit({replace("1.0", "1.0", "s_nop 3")}));
}

TEST_F(TwoEdits, InsertedAndTakenOutAgainIsNothing) {
  EXPECT_TRUE(both(edit({insert("c", "s_nop 9")}), edit({replace("1.0", "1.0", "")})).changes.empty());
}

} // namespace
} // namespace asmevo::program
