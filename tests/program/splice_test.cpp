// Edits applied to Programs, against the same edits applied to plain assembly text that LLVM assembles and
// links.
#include "assembly_model.h"
#include "llvm_tools.h"
#include "program/edit.h"
#include "program_builder.h"

#include <gtest/gtest.h>

namespace asmevo::program {
namespace {

using testing::AssemblyModel;
using testing::ModelGenerator;

Result<TextImage> image_of(const Program& p) {
  return lay_out(p, p.text_address, [](uint32_t) { return uint64_t{0}; });
}

struct Expectation {
  std::string section;
  Bytes bytes;
  std::string history; // the edits, for the message
};

// Links all cases at once and compares section by section.
void expect_same_bytes(const std::string& source, const std::vector<Expectation>& cases,
                       std::string_view cpu) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(test::assemble(source, cpu, folder / "o")) << test::text_of(folder / "o.err").substr(0, 2000);
  ASSERT_EQ(test::run_llvm(fmt::format("ld.lld -shared '{}' -o '{}'", (folder / "o").string(),
                                       (folder / "so").string())),
            0);
  const auto linked = read_file(folder / "so");
  ASSERT_TRUE(linked);
  for (const Expectation& c : cases) {
    const Bytes expected = test::section_of(*linked, c.section);
    ASSERT_EQ(c.bytes.size(), expected.size()) << c.section << "\n" << c.history;
    const auto at = std::ranges::mismatch(c.bytes, expected).in1;
    EXPECT_EQ(at, c.bytes.end()) << c.section << " differs at byte " << at - c.bytes.begin() << "\n"
                                 << c.history;
  }
}

void check_ids(const Program& p, const AssemblyModel& model, const std::string& history) {
  for (size_t f = 0; f < model.functions.size(); ++f) {
    const Function& function = p.functions[f];
    const auto& lines = model.functions[f].lines;
    ASSERT_EQ(function.padding - function.begin, lines.size()) << history;
    for (size_t k = 0; k < lines.size(); ++k) {
      const auto at = static_cast<Index>(function.begin + k);
      ASSERT_EQ(p.entries[at].id, lines[k].id) << history;
      EXPECT_EQ(p.find(lines[k].id), at);
    }
  }
}

void run_random_cases(const char* cpu, uint64_t first_seed, unsigned count) {
  isa::Codec& codec = testing::codec_for(isa::Target::from_id(cpu)->gfx);
  std::string source;
  std::vector<Expectation> cases;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    ModelGenerator generator(seed, codec);
    AssemblyModel model = generator.model();
    Program program = generator.program(model);
    std::string history = fmt::format("seed {}\n", seed);
    for (uint32_t node = 0; node < 4; ++node) {
      if (node > 0) {
        const auto changes = generator.changes(model);
        if (changes.empty()) continue;
        Edit edit;
        edit.base = node - 1;
        edit.kernel = model.functions[changes.front().function].name;
        for (const auto& change : changes) edit.changes.push_back(change.edit(model));
        history += edit.json() + "\n";
        const auto parsed = Edit::parse(edit.json());
        ASSERT_TRUE(parsed) << parsed.error().message;
        auto spliced = splice(program, *parsed, node, codec);
        ASSERT_TRUE(spliced) << spliced.error().describe() << "\n" << history;
        program = std::move(*spliced);
        testing::apply(model, changes);
        testing::number_fresh_lines(model, node);
      }
      check_ids(program, model, history);
      const auto image = image_of(program);
      ASSERT_TRUE(image) << image.error().message << "\n" << history;
      ASSERT_EQ(image->offsets.back(), image->bytes.size());
      const std::string section = fmt::format(".case{}_{}", seed, node);
      source += fmt::format(".section {},\"ax\",@progbits\n{}", section,
                            model.source(fmt::format("c{}_{}_", seed, node)));
      cases.push_back({section, image->bytes, history});
    }
  }
  EXPECT_GT(cases.size(), 3 * count);
  expect_same_bytes(source, cases, cpu);
}

TEST(Splice, RandomEditsGiveTheBytesOfTheAssembler_gfx942) {
  run_random_cases("gfx942", 1000, 200);
}
TEST(Splice, RandomEditsGiveTheBytesOfTheAssembler_gfx90a) {
  run_random_cases("gfx90a", 2000, 60);
}
TEST(Splice, RandomEditsGiveTheBytesOfTheAssembler_gfx950) {
  run_random_cases("gfx950", 3000, 60);
}

// --- one rule at a time ---

class SpliceRules : public ::testing::Test {
 protected:
  isa::Codec& codec_ = testing::codec_for();
  // Offsets: 0 s_nop, 4 s_nop, 8 s_branch, c s_nop, 10 s_cbranch, 14 s_endpgm.
  Program base_ = testing::build_program("start: s_nop 0\n middle: s_nop 1\n s_branch last\n s_nop 2\n"
                                         "s_cbranch_scc0 start\n last: s_endpgm\n");

  static Change replace(std::string_view first, std::string_view last, std::string text) {
    return {InstrId::parse(first), InstrId::parse(last), std::nullopt, std::move(text)};
  }
  static Change insert(std::string_view before, std::string text) {
    return {std::nullopt, std::nullopt, InstrId::parse(before), std::move(text)};
  }
  std::expected<Program, SpliceError> splice_all(std::vector<Change> changes, std::string kernel = "f") {
    Edit edit;
    edit.kernel = std::move(kernel);
    edit.changes = std::move(changes);
    return splice(base_, edit, 1, codec_);
  }
  std::string error_of(std::vector<Change> changes, std::string kernel = "f") {
    const auto result = splice_all(std::move(changes), std::move(kernel));
    return result ? "no error" : result.error().describe();
  }
  std::string listing(const Program& p) {
    std::string out;
    auto labels = p.labels_by_entry();
    for (Index k = 0; k < p.entries.size(); ++k) {
      std::vector<std::string> names;
      for (const uint32_t l : labels[k]) names.push_back(p.labels[l].name + ": ");
      std::ranges::sort(names);
      for (const auto& n : names) out += n;
      out += print(p, k, codec_) + "\n";
    }
    return out;
  }
};

TEST_F(SpliceRules, LabelsOfAReplacedRangeMoveToTheReplacement) {
  const auto p = splice_all({replace("0", "4", "s_nop 7\ns_nop 8")});
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(
      listing(*p),
      "middle: start: s_nop 7\ns_nop 8\ns_branch last\ns_nop 2\ns_cbranch_scc0 start\nlast: s_endpgm\n");
}

TEST_F(SpliceRules, LabelsOfADeletedRangeMoveToWhatFollows) {
  const auto p = splice_all({replace("0", "4", "")});
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(listing(*p), "middle: start: s_branch last\ns_nop 2\ns_cbranch_scc0 start\nlast: s_endpgm\n");
}

TEST_F(SpliceRules, InsertionComesBehindTheLabelsOfItsPlace) {
  const auto p = splice_all({insert("14", "s_nop 9")});
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(listing(*p), "start: s_nop 0\nmiddle: s_nop 1\ns_branch last\ns_nop 2\ns_cbranch_scc0 "
                         "start\nlast: s_nop 9\ns_endpgm\n");
}

TEST_F(SpliceRules, InsertionAndReplacementAtOnePlace) {
  const auto p = splice_all(
      {replace("4", "4", "s_nop 5"), insert("4", "s_nop 3\ns_nop 4"), insert("4", "here: s_nop 6")});
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(listing(*p),
            "start: s_nop 0\nmiddle: s_nop 3\ns_nop 4\nhere: s_nop 6\ns_nop 5\ns_branch last\ns_nop 2\n"
            "s_cbranch_scc0 start\nlast: s_endpgm\n");
}

// Labels inside the range go to the replacement, not to what is inserted in front of the range.
TEST_F(SpliceRules, InsertionInFrontOfAReplacedRange) {
  const auto p = splice_all({insert("0", "s_nop 3"), replace("0", "4", "s_nop 4")});
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(
      listing(*p),
      "start: s_nop 3\nmiddle: s_nop 4\ns_branch last\ns_nop 2\ns_cbranch_scc0 start\nlast: s_endpgm\n");
}

TEST_F(SpliceRules, NewLabelsServeAllTextsOfTheEdit) {
  const auto p = splice_all({insert("4", "s_cbranch_scc1 out"), insert("14", "s_nop 3\nout:")});
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(p->branch_target(1), 7U);
}

TEST_F(SpliceRules, NothingChangesWithoutChanges) {
  const auto p = splice_all({});
  ASSERT_TRUE(p);
  EXPECT_EQ(image_of(*p)->bytes, image_of(base_)->bytes);
  const auto same = splice_all({replace("0", "0", "s_nop 0")});
  EXPECT_EQ(image_of(*same)->bytes, image_of(base_)->bytes);
}

TEST_F(SpliceRules, Refusals) {
  EXPECT_EQ(error_of({}, "g"), "changes[0]: there is no kernel 'g'");
  EXPECT_EQ(error_of({insert("18", "s_nop 0")}), "changes[0]: there is no instruction 18");
  EXPECT_EQ(error_of({insert("0", ""), replace("0", "2.7", "")}), "changes[1]: there is no instruction 2.7");
  EXPECT_EQ(error_of({replace("8", "4", "s_nop 0")}), "changes[0]: 4 stands before 8");
  EXPECT_EQ(error_of({replace("0", "8", "s_nop 0"), replace("8", "c", "s_nop 0")}),
            "changes[1]: overlaps changes[0]");
  EXPECT_EQ(error_of({replace("4", "4", "s_nop 0"), replace("4", "4", "s_nop 1")}),
            "changes[1]: overlaps changes[0]");
  EXPECT_EQ(error_of({replace("0", "8", "s_nop 0"), insert("4", "s_nop 1")}),
            "changes[1]: overlaps changes[0]");
  EXPECT_EQ(error_of({insert("4", "s_branch 4")}),
            "changes[0], line 1, column 1: a branch needs a label, not a number");
  EXPECT_EQ(error_of({insert("4", "s_nop 0\n  s_cbranch_scc0 nowhere")}),
            "changes[0], line 2, column 3: there is no label 'nowhere'");
  EXPECT_EQ(error_of({insert("4", "s_nop 0\nlast: s_nop 1")}),
            "changes[0], line 2, column 1: label 'last' exists already");
  EXPECT_EQ(error_of({insert("4", "new: s_nop 0"), insert("8", "new: s_nop 0")}),
            "changes[1], line 1, column 1: label 'new' exists already");
  EXPECT_EQ(error_of({insert("4", "s_getpc_b64 s[0:1]")}),
            "changes[0], line 1, column 1: s_getpc_b64 needs a symbol@rel32@lo behind it in the same text");
  EXPECT_EQ(error_of({replace("14", "14", "s_nop 0")}),
            "changes[0]: control runs off the end of function 'f'");
  EXPECT_EQ(error_of({replace("14", "14", "")}), "changes[0]: control runs off the end of function 'f'");
  EXPECT_EQ(error_of({replace("0", "14", "")}), "changes[0]: nothing is left of function 'f'");
  EXPECT_EQ(error_of({replace("0", "0", ".long 0")}), "changes[0], line 1, column 1: expected an instruction "
                                                      "or a label; directives are not allowed in an edit");
  EXPECT_EQ(
      error_of({insert("0", std::string(40000, ' ')), insert("4", std::string(40000, ' '))}).substr(0, 10),
      "changes[0]");
  EXPECT_EQ(error_of({insert("0", std::string(40000, '\n')), insert("4", std::string(40000, '\n'))}),
            "changes[1]: more than 65536 bytes of text");
  EXPECT_NE(error_of({insert("4", "s_mov_b32 s0, last@abs32@lo")}).find("only rel32"), std::string::npos);
  EXPECT_NE(error_of({insert("4", "s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, last@gotpcrel32@lo+4")})
                .find("gotpcrel32"),
            std::string::npos);
  EXPECT_NE(error_of({insert("4", "v_mov_b32 v0, v999")}).find("changes[0], line 1, column 15"),
            std::string::npos);
}

TEST_F(SpliceRules, TheErrorNamesTheChangeThatIsWrong) {
  EXPECT_EQ(error_of({insert("4", "s_nop 0"), replace("14", "14", "s_nop 0")}),
            "changes[1]: control runs off the end of function 'f'");
  EXPECT_EQ(error_of({insert("4", "s_nop 0"), insert("14", "v_bad")}).substr(0, 30),
            "changes[1], line 1, column 1: ");
}

TEST_F(SpliceRules, FunctionsAreNotJoined) {
  base_.functions = {{"f", 0, 3, true, 3}, {"g", 3, 6, false, 6}};
  EXPECT_EQ(error_of({replace("4", "c", "s_nop 0")}), "changes[0]: 4 to c is not inside one function");
  EXPECT_EQ(error_of({replace("8", "8", "s_nop 0")}), "changes[0]: control runs off the end of function 'f'");
  const auto p = splice_all({insert("c", "s_nop 5")}); // in front of g's first instruction: g's
  ASSERT_TRUE(p) << p.error().describe();
  EXPECT_EQ(p->functions[0].end, 3U);
  EXPECT_EQ(p->functions[1].begin, 3U);
  EXPECT_EQ(p->functions[1].end, 7U);
}

// Another kernel is not run to see what the edit does to it.
TEST_F(SpliceRules, OtherKernelsStay) {
  base_.functions = {{"f", 0, 3, true, 3}, {"g", 3, 6, true, 6}};
  EXPECT_EQ(error_of({insert("4", "s_nop 5"), insert("c", "s_nop 5")}),
            "changes[1]: c belongs to 'g', which is neither kernel 'f' nor a function it calls");
  EXPECT_EQ(error_of({insert("c", "s_nop 5")}, "g"), "no error");
  base_.functions[1].kernel = false; // f branches to it
  EXPECT_EQ(error_of({insert("c", "s_nop 5")}), "no error");
  base_.labels[base_.references[base_.entries[2].reference].label].at = 1; // and here not
  EXPECT_EQ(error_of({insert("c", "s_nop 5")}).substr(0, 28), "changes[0]: c belongs to 'g'");
}

TEST_F(SpliceRules, CodeOutsideFunctionsStays) {
  base_.functions = {{"f", 2, 6, true, 6}};
  EXPECT_EQ(error_of({insert("0", "s_nop 0")}), "changes[0]: 0 to 0 is not inside one function");
}

TEST_F(SpliceRules, HalfOfAnAddressPairIsNoticed) {
  base_ = testing::build_program(
      "s_getpc_b64 s[0:1]\n s_add_u32 s0, s0, end@rel32@lo+4\n s_addc_u32 s1, s1, end@rel32@hi+12\n"
      "end: s_endpgm\n");
  EXPECT_EQ(error_of({insert("0", "s_nop 0"), replace("4", "4", "s_nop 0")}),
            "changes[1]: the s_getpc_b64 at 0 is left without its s_add_u32");
  EXPECT_EQ(error_of({replace("c", "c", "")}),
            "changes[0]: the s_getpc_b64 at 0 is left without its s_addc_u32");
  EXPECT_EQ(error_of({replace("4", "c", "s_nop 0")}),
            "changes[0]: the s_getpc_b64 at 0 is left without its s_add_u32");
  EXPECT_EQ(error_of({replace("0", "c", "s_nop 0")}), "no error");
  // The same text again, without the s_getpc_b64 in it.
  EXPECT_EQ(error_of({replace("4", "4", "s_add_u32 s0, s0, end@rel32@lo+4")}), "no error");
  EXPECT_EQ(error_of({replace("c", "c", "s_addc_u32 s1, s1, end@rel32@hi+12")}), "no error");
}

TEST_F(SpliceRules, RemovedGetpcIsNoticed) {
  base_ = testing::build_program(
      "s_getpc_b64 s[0:1]\n s_add_u32 s0, s0, end@rel32@lo+4\n s_addc_u32 s1, s1, end@rel32@hi+12\n"
      "end: s_endpgm\n");
  EXPECT_NE(error_of({replace("0", "0", "s_nop 0")}).find("adds to the s_getpc_b64 that this edit removes"),
            std::string::npos);
  EXPECT_TRUE(splice_all({replace("0", "c", "s_nop 0")})); // with all that depends on it
  EXPECT_TRUE(splice_all({insert("4", "s_nop 0")}));
}

TEST_F(SpliceRules, InsertedIdsCount) {
  const auto p = splice_all({insert("8", "s_nop 3\ns_nop 4"), insert("0", "s_nop 5")});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->entries[0].id.text(), "1.0");
  EXPECT_EQ(p->entries[1].id.text(), "0");
  EXPECT_EQ(p->entries[3].id.text(), "1.1");
  EXPECT_EQ(p->entries[4].id.text(), "1.2");
  EXPECT_EQ(p->entries[5].id.text(), "8");
}

} // namespace
} // namespace asmevo::program
