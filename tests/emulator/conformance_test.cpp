// The vectors in data/, and what the runner says of files that are none.
#include "emulator/conformance/runner.h"
#include "llvm_tools.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace asmevo::emulator::conformance {
namespace {

using testing::HasSubstr;
using Kind = Outcome::Kind;

const std::filesystem::path data = ASMEVO_SOURCE_DIR "/tests/emulator/data";

TEST(conformance, vectors_pass_but_for_those_judged_wrong) {
  const auto report = run({data / "alu", data / "matrix"}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->passed, 2900U);
  for (const Outcome& o : report->outcomes)
    if (o.kind == Kind::Failed) {
      EXPECT_THAT(o.text, HasSubstr("(judged wrong")) << o.id;
    }
}

TEST(conformance, no_vector_of_hardware_fails_or_is_an_exception) {
  const auto report = run({data / "alu" / "hardware.jsonl.zst"}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->passed, report->outcomes.size());
  EXPECT_GT(report->passed, 300U);
}

TEST(conformance, every_exception_is_needed) {
  Options all;
  all.exceptions.clear();
  const auto report = run({data / "alu"}, all);
  ASSERT_TRUE(report);
  std::set<std::string> failed;
  for (const Outcome& o : report->outcomes)
    if (o.kind == Kind::Failed) failed.insert(o.id);
  for (const Exception& e : known_exceptions()) {
    const bool used = std::ranges::any_of(
        failed, [&](const std::string& id) { return id.find(e.condition) != std::string::npos; });
    EXPECT_TRUE(used) << e.ops.front() << ' ' << e.condition;
    EXPECT_FALSE(e.reason.empty() || e.source.empty());
  }
}

class Files : public testing::Test {
 protected:
  Result<Report> run_text(std::string_view text, const Options& options = {}) {
    EXPECT_TRUE(write_file(folder_ / "v.jsonl", text));
    return run({folder_.path()}, options);
  }
  std::string failure(std::string_view text) {
    const auto report = run_text(text);
    if (!report) return report.error().message;
    return report->outcomes.empty() ? "" : report->outcomes[0].text;
  }
  test::ScratchFolder folder_;
};

constexpr std::string_view good =
    R"({"id":"a","arch":"gfx942","family":"f","ops":["s_mov_b32"],"asm":["s_mov_b32 s0, 5"],)"
    R"("init":{"exec":"0x1"},"expect":{"s0":"0x5"},"origin":"model"})";

std::string with(std::string_view from, std::string_view to) {
  std::string text(good);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_F(Files, a_vector_passes_or_says_what_came_instead) {
  EXPECT_EQ(failure(good), "");
  EXPECT_EQ(failure(with(R"("s0":"0x5")", R"("s0":"0x6")")), "s0: expected 0x6, got 0x5");
}

TEST_F(Files, a_vector_that_is_none_fails_with_the_reason) {
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("s0":[5])")), HasSubstr("not a vector"));
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("q0":"0x5")")), HasSubstr("unknown expectation 'q0'"));
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("s900":"0x5")")), HasSubstr("out of range"));
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("s4294967295":"0x5")")), HasSubstr("out of range"));
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("v[4294967295:4294967296]":{"0":"0x5"})")),
              HasSubstr("out of range"));
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("v0":{"64":"0x5"})")), HasSubstr("a lane beyond 63"));
  EXPECT_THAT(failure(with(R"("s0":"0x5")", R"("v0":{"4294967296":"0x0"})")), HasSubstr("a lane beyond 63"));
  EXPECT_THAT(failure(with(R"("s0":"0x5"},"origin":"model")", R"("s0":"0x6"},"origin":7)")),
              HasSubstr("not a vector"));
  EXPECT_THAT(failure(with(R"("init":{)", R"("mem":{"size":-1},"init":{)")), HasSubstr("not a vector"));
  EXPECT_THAT(failure(with("s_mov_b32 s0, 5\"", "s_mov_b32 s0, v5\"")), HasSubstr("line 1"));
  EXPECT_THAT(failure(with("gfx942", "gfx1030")), HasSubstr("gfx1030"));
  EXPECT_THAT(failure(with(R"("init":{)", R"("mem":{"size":4000000000},"init":{)")),
              HasSubstr("not a vector"));
  EXPECT_THAT(failure(with("s_mov_b32 s0, 5", "s_branch -1")), HasSubstr("limit"));
}

TEST_F(Files, a_file_that_is_no_list_of_vectors_is_bad_input) {
  EXPECT_THAT(failure("{\n"), HasSubstr("v.jsonl, line 1: not a JSON object"));
  EXPECT_THAT(failure(std::string(good) + "\n\n[1]\n"), HasSubstr("v.jsonl, line 3: not a JSON object"));
  EXPECT_THAT(failure(""), HasSubstr("no vectors there"));
  ASSERT_TRUE(write_file(folder_ / "x.jsonl.zst", "no zstd"));
  EXPECT_THAT(failure(good), HasSubstr("not zstd data"));
  EXPECT_FALSE(run({folder_ / "missing"}, {}));
}

TEST_F(Files, exceptions_are_few_and_never_for_hardware) {
  const std::string wrong = with(R"("s0":"0x5")", R"("s0":"0x6")") + "\n";
  Options options;
  options.exceptions = {{{"s_mov_b32"}, "", "reason", "source"}};
  const auto one = run_text(wrong, options);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->skipped, 1U);
  const auto two = run_text(wrong + wrong, options);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->skipped, 1U);
  EXPECT_EQ(two->failed, 1U);
  std::string hardware = wrong;
  hardware.replace(hardware.find("model"), 5, "hw");
  const auto none = run_text(hardware, options);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->skipped, 0U);
}

} // namespace
} // namespace asmevo::emulator::conformance
