// The rule unrolled, and what it rests on: which way scalars send control.
#include "random_code.h"
#include "search/scalar_path.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RuleBench;
using testing::with_address;
using testing::with_lds;

// The object with the first proposal, checked; its text, or nothing where there is none.
std::string unrolled(const std::string& body) {
  const RuleBench bench(body, with_lds);
  const auto proposals = bench.proposals(propose_unrolled);
  if (proposals.empty()) return "";
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
  std::vector<uint32_t> start(512);
  for (uint32_t n = 0; n < start.size(); ++n) start[n] = n * 2654435761U;
  EXPECT_EQ(testing::run(object, 512, start),
            testing::run(emulator::assemble_kernel(body, with_lds), 512, start))
      << RuleBench::text(object);
  size_t instructions = 0;
  for (const program::Change& c : proposals.front().changes)
    for (size_t at = 0; at < c.text.size(); at = c.text.find('\n', at) + 1)
      instructions += !c.text.substr(at, c.text.find('\n', at) - at).ends_with(':');
  EXPECT_EQ(proposals.front().copies.size(), instructions);
  return RuleBench::text(object);
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
  return n;
}

const std::string work = "v_mad_u32_u24 v1, v1, 3, s6\n";
const std::string end = "global_store_dword v0, v1, s[2:3]\ns_endpgm\n";

std::string loop(const std::string& start, const std::string& body) {
  return with_address("v_mov_b32_e32 v1, v0\n" + start + "L:\n" + body + end);
}

TEST(Unrolled, EachTurnStandsThere) {
  const std::string text = unrolled(
      loop("s_mov_b32 s6, 0\n", work + "s_addk_i32 s6, 0x10\ns_cmpk_lg_i32 s6, 0x50\ns_cbranch_scc1 L\n"));
  EXPECT_EQ(count(text, "v_mad_u32_u24"), 5U);
  EXPECT_THAT(text, Not(HasSubstr("s_cbranch")));
}

// All ways in which compilers count.
TEST(Unrolled, CountersOfAllKinds) {
  for (const std::string step :
       {"s_add_i32 s6, s6, 1\ns_cmp_lt_i32 s6, 3\ns_cbranch_scc1 L\n",
        "s_add_u32 s6, s6, 1\ns_cmp_eq_u32 s6, 3\ns_cbranch_scc0 L\n",
        "s_addk_i32 s6, 1\ns_cmpk_gt_u32 s6, 2\ns_cbranch_scc0 L\n",
        "s_add_i32 s6, s6, 1\ns_cmp_ge_u32 s6, 3\ns_cselect_b64 s[10:11], -1, 0\ns_and_b64 vcc, exec, "
        "s[10:11]\n"
        "s_cbranch_vccz L\n",
        "s_add_i32 s6, s6, 1\ns_cmp_lg_u32 s6, 3\ns_cselect_b64 s[10:11], -1, 0\n"
        "s_andn2_b64 vcc, exec, s[10:11]\ns_cbranch_vccz L\n",
        "s_add_i32 s6, s6, 1\ns_lshl_b32 s7, s6, 2\ns_cmpk_le_u32 s7, 8\ns_cbranch_scc1 L\n"}) {
    const std::string text = unrolled(loop("s_mov_b32 s6, 0\n", work + step));
    EXPECT_EQ(count(text, "v_mad_u32_u24"), 3U) << step << text;
  }
}

// An exit in the middle of the turn, as where a compiler wrote out four of nine.
TEST(Unrolled, ExitsInTheMiddle) {
  const std::string text =
      unrolled(loop("s_mov_b32 s6, 0\ns_branch middle\n",
                    "s_cbranch_execnz out\nmiddle:\n" + work + "s_cmpk_eq_i32 s6, 4\ns_cbranch_scc1 L\n" +
                        work + "s_addk_i32 s6, 2\ns_branch middle\nout:\n"));
  EXPECT_EQ(count(text, "v_mad_u32_u24"), 5U) << text;
}

TEST(Unrolled, NotWhereTheNumberOfTurnsIsNotKnown) {
  const std::string step = "s_add_i32 s6, s6, 1\ns_cmp_lt_i32 s6, s9\ns_cbranch_scc1 L\n";
  EXPECT_EQ(unrolled(loop("s_mov_b32 s6, 0\ns_and_b32 s9, s5, 7\n", work + step)), "");
  const std::string from = "s_add_i32 s6, s6, 1\ns_cmp_lt_i32 s6, 9\ns_cbranch_scc1 L\n";
  EXPECT_EQ(unrolled(loop("s_and_b32 s6, s5, 7\n", work + from)), "");
}

TEST(Unrolled, NotWhereItWouldBeLong) {
  const std::string step = "s_add_i32 s6, s6, 1\ns_cmp_lt_i32 s6, 40\ns_cbranch_scc1 L\n";
  EXPECT_EQ(unrolled(loop("s_mov_b32 s6, 0\n", work + step)), "");
}

TEST(Unrolled, NotALoopAroundAnotherOne) {
  const std::string inner =
      "s_and_b32 s7, s5, 3\nI:\n" + work + "s_sub_i32 s7, s7, 1\ns_cmp_gt_i32 s7, 0\ns_cbranch_scc1 I\n";
  const std::string step = "s_add_i32 s6, s6, 1\ns_cmp_lt_i32 s6, 3\ns_cbranch_scc1 L\n";
  EXPECT_EQ(unrolled(loop("s_mov_b32 s6, 0\n", inner + step)), "");
}

// The way without lanes is laid out apart, with a copy of what follows: everybody goes the way with lanes.
TEST(Unrolled, WaysWithoutLanesGo) {
  const std::string tail = "s_addk_i32 s6, 1\ns_cmpk_lt_i32 s6, 3\n";
  const std::string text = unrolled(
      loop("s_mov_b32 s6, 0\ns_branch L\nwith:\nv_add_u32_e32 v1, 5, v1\ns_or_b64 exec, exec, "
           "s[10:11]\nv_add_u32_e32 v1, 1, v1\n" +
               tail + "s_cbranch_scc0 out\n",
           work +
               "v_cmp_gt_u32_e32 vcc, s6, v0\ns_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execnz with\n"
               "s_or_b64 exec, exec, s[10:11]\nv_add_u32_e32 v1, 1, v1\n" +
               tail + "s_cbranch_scc1 L\nout:\n"));
  EXPECT_EQ(count(text, "v_mad_u32_u24"), 3U) << text;
  EXPECT_THAT(text, Not(HasSubstr("s_cbranch_execnz")));
}

// Where they do not do the same, both ways stay.
TEST(Unrolled, WaysThatDifferStay) {
  const std::string tail = "s_addk_i32 s6, 1\ns_cmpk_lt_i32 s6, 3\n";
  const std::string text = unrolled(
      loop("s_mov_b32 s6, 0\ns_branch L\nwith:\nv_add_u32_e32 v1, 5, v1\ns_or_b64 exec, exec, "
           "s[10:11]\nv_add_u32_e32 v1, 2, v1\n" +
               tail + "s_cbranch_scc0 out\n",
           work +
               "v_cmp_gt_u32_e32 vcc, s6, v0\ns_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execnz with\n"
               "s_or_b64 exec, exec, s[10:11]\nv_add_u32_e32 v1, 1, v1\n" +
               tail + "s_cbranch_scc1 L\nout:\n"));
  EXPECT_TRUE(text.empty() || count(text, "s_cbranch_execnz") >= 3) << text;
}

// Random loops: counters, steps, exits anywhere, conditions for some lanes.
std::string random_loop(RandomStream& random) {
  const auto turns = 1 + random.below(6), step = 1 + random.below(5);
  std::string body;
  const auto some = [&] {
    std::string text;
    for (unsigned n = 0; n < 1 + random.below(4); ++n) switch (random.below(4)) {
      case 0: text += work; break;
      case 1:
        text += fmt::format(
            "v_cmp_gt_u32_e32 vcc, {0}, v0\ns_and_saveexec_b64 s[10:11], vcc\n"
            "s_cbranch_execz skip{1}\nv_xor_b32_e32 v1, s6, v1\nskip{1}:\ns_or_b64 exec, exec, s[10:11]\n",
            random.below(300), random.next());
        break;
      case 2: text += "v_add_u32_e32 v1, s6, v1\n"; break;
      default: text += fmt::format("s_add_u32 s7, s6, {}\nv_add_u32_e32 v1, s7, v1\n", random.below(50));
      }
    return text;
  };
  body += some();
  if (random.below(2) == 0)
    body += fmt::format("s_cmp_eq_u32 s6, {}\ns_cbranch_scc1 out\n", step * random.below(turns + 2));
  body += some();
  body +=
      fmt::format("s_add_u32 s6, s6, {}\ns_cmp_lt_u32 s6, {}\ns_cbranch_scc1 L\nout:\n", step, step * turns);
  return loop("s_mov_b32 s6, 0\n", body);
}

TEST(Unrolled, RandomLoops) {
  RandomStream random(7);
  unsigned made = 0;
  for (unsigned n = 0; n < 60; ++n) made += !unrolled(random_loop(random)).empty();
  EXPECT_GT(made, 20U);
}

} // namespace
} // namespace asmevo::search
