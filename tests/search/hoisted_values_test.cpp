// The rule hoisted-values.
#include "random_code.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RuleBench;
using testing::with_address;
using testing::with_lds;

struct Changed {
  std::string in_front, loop; // what stands there now
};

// The object with the first proposal, checked; nothing where there is none.
std::optional<Changed> hoisted(const std::string& body) {
  const RuleBench bench(body, with_lds);
  const auto proposals = bench.proposals(propose_hoisted_values);
  if (proposals.empty()) return std::nullopt;
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
  std::vector<uint32_t> start(512);
  for (uint32_t n = 0; n < start.size(); ++n) start[n] = n * 2654435761U;
  EXPECT_EQ(testing::run(object, 512, start),
            testing::run(emulator::assemble_kernel(body, with_lds), 512, start))
      << body << "became\n"
      << RuleBench::text(object);
  const std::string text = RuleBench::text(object);
  const size_t at = text.find("s_memtime");
  EXPECT_NE(at, std::string::npos);
  return Changed{text.substr(0, at), text.substr(at)};
}

// A loop of four turns that begins with s_memtime, which nobody reads.
std::string loop(const std::string& body) {
  return with_address(
      "v_mov_b32_e32 v1, v0\nv_mov_b32_e32 v30, 1\ns_mov_b32 s6, 0\nL:\ns_memtime s[20:21]\n" + body +
      "s_waitcnt lgkmcnt(0)\ns_addk_i32 s6, 1\ns_cmp_lt_u32 s6, 4\ns_cbranch_scc1 L\n"
      "global_store_dword v0, v1, s[2:3]\ns_endpgm\n");
}

// The end of a chain gets a register; what leads to it is done in front.
TEST(HoistedValues, ChainsInRegistersThatAreUsedAgain) {
  const auto c =
      hoisted(loop("v_mul_u32_u24_e32 v2, 3, v0\nv_add_u32_e32 v2, 7, v2\nv_add_u32_e32 v1, v1, v2\n"
                   "v_mul_u32_u24_e32 v2, 5, v0\nv_add_u32_e32 v2, 9, v2\nv_xor_b32_e32 v1, v1, v2\n"));
  ASSERT_TRUE(c);
  EXPECT_THAT(c->loop, Not(HasSubstr("v_mul_u32_u24")));
  EXPECT_THAT(c->in_front, HasSubstr("v_mul_u32_u24_e32 v2, 5, v0"));
}

TEST(HoistedValues, NotWhatTheLoopChanges) {
  EXPECT_FALSE(hoisted(loop("v_add_u32_e32 v2, s6, v0\nv_add_u32_e32 v1, v1, v2\n")));
  EXPECT_FALSE(hoisted(loop("v_mul_u32_u24_e32 v2, 3, v1\nv_add_u32_e32 v1, v1, v2\n")));
}

// What a narrow write leaves in the other lanes is still wanted there.
TEST(HoistedValues, WhatOtherLanesKeepStays) {
  const auto c =
      hoisted(loop("v_mov_b32_e32 v2, 5\nv_cmp_gt_u32_e32 vcc, 64, v0\ns_and_saveexec_b64 s[10:11], vcc\n"
                   "v_add_u32_e32 v2, s6, v1\ns_or_b64 exec, exec, s[10:11]\nv_add_u32_e32 v1, v1, v2\n"
                   "v_mul_u32_u24_e32 v2, 5, v0\nv_xor_b32_e32 v1, v1, v2\n"));
  ASSERT_TRUE(c);
  EXPECT_THAT(c->loop, HasSubstr("v_mov_b32_e32 v2, 5"));
  EXPECT_THAT(c->loop, Not(HasSubstr("v_mul_u32_u24")));
}

// A comparison under a narrower mask says less than one in front of the loop would.
TEST(HoistedValues, NotComparisonsOfSomeLanes) {
  const auto c = hoisted(loop(
      "v_cmp_gt_u32_e32 vcc, 64, v1\ns_and_saveexec_b64 s[10:11], vcc\nv_cmp_gt_u32_e64 s[12:13], 50, v0\n"
      "s_or_b64 exec, exec, s[10:11]\nv_cndmask_b32_e64 v2, 3, v30, s[12:13]\nv_add_u32_e32 v1, v1, v2\n"
      "v_mul_u32_u24_e32 v2, 5, v0\nv_xor_b32_e32 v1, v1, v2\n"));
  ASSERT_TRUE(c);
  EXPECT_THAT(c->loop, HasSubstr("v_cmp_gt_u32_e64"));
}

// Pairs that an operand names together stay together.
TEST(HoistedValues, PairsStayPairs) {
  const auto c = hoisted(
      loop("v_mul_u32_u24_e32 v4, 3, v0\nv_mov_b32_e32 v5, 0\nv_mov_b32_e32 v6, v1\nv_mov_b32_e32 v7, 0\n"
           "v_lshl_add_u64 v[6:7], v[4:5], 2, v[6:7]\nv_add_u32_e32 v1, v1, v6\n"));
  ASSERT_TRUE(c);
  EXPECT_THAT(c->loop, Not(HasSubstr("v_mul_u32_u24")));
}

// Random loops: chains of what changes and what does not in few registers, under conditions, with loads.
std::string random_loop(RandomStream& random) {
  std::string body;
  const auto any = [&] { return 2 + random.below(4); };
  for (unsigned n = 0; n < 25; ++n) switch (random.below(8)) {
    case 0: body += fmt::format("v_mul_u32_u24_e32 v{}, {}, v0\n", any(), random.below(60)); break;
    case 1: body += fmt::format("v_add_u32_e32 v{}, v{}, v{}\n", any(), any(), any()); break;
    case 2: body += fmt::format("v_add_u32_e32 v{}, s6, v{}\n", any(), any()); break;
    case 3: body += fmt::format("v_xor_b32_e32 v1, v1, v{}\n", any()); break;
    case 4:
      body += fmt::format(
          "v_cmp_gt_u32_e32 vcc, {0}, v{1}\ns_and_saveexec_b64 s[10:11], vcc\nv_lshrrev_b32_e32 v{2}, "
          "1, v{3}\nv_add_u32_e32 v{2}, 3, v{2}\ns_or_b64 exec, exec, s[10:11]\n",
          random.below(64), random.below(3) == 0 ? any() : 0, any(), any());
      break;
    case 5: body += fmt::format("global_load_dword v{}, v0, s[2:3]\ns_waitcnt vmcnt(0)\n", any()); break;
    case 6:
      body +=
          fmt::format("s_lshl_b32 s7, s5, {}\nv_and_b32_e32 v{}, s7, v{}\n", random.below(5), any(), any());
      break;
    default:
      body += fmt::format(
          "v_cmp_lt_u32_e64 s[12:13], {}, v{}\ns_nop 1\nv_cndmask_b32_e64 v{}, v{}, v{}, s[12:13]\n",
          random.below(64), any(), any(), any(), any());
    }
  std::string start;
  for (unsigned n = 2; n < 6; ++n) start += fmt::format("v_mov_b32_e32 v{}, {}\n", n, n);
  // Some are what the turn before left, some not.
  for (unsigned n = 2; n < 6; ++n)
    if (random.below(3) != 0)
      start += "", body = fmt::format("v_mov_b32_e32 v{}, {}\n", n, random.below(60)) + body;
  const std::string whole = loop(body);
  return whole.substr(0, whole.find("L:\n")) + start + whole.substr(whole.find("L:\n"));
}

TEST(HoistedValues, RandomLoops) {
  RandomStream random(11);
  unsigned made = 0;
  for (unsigned n = 0; n < 120; ++n) made += hoisted(random_loop(random)).has_value();
  EXPECT_GT(made, 60U);
}

} // namespace
} // namespace asmevo::search
