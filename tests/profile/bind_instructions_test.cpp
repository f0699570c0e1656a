#include "profile/import_fixture.h"

namespace asmevo::profile {
namespace {

TEST(Comparable, PrintsOfTheSameWordsAreTheSame) {
  EXPECT_EQ(comparable("s_load_dword s3, s[0:1], 0x10"), comparable("S_LOAD_DWORD  s3,s[0:1],16"));
  EXPECT_EQ(comparable("v_add_u32_e32 v2, 0x4000, v2"), comparable("v_add_u32 v2, 16384, v2 ; comment"));
  EXPECT_EQ(comparable("s_waitcnt vmcnt(0) & lgkmcnt(0)"), comparable("s_waitcnt vmcnt(0) lgkmcnt(0)"));
  EXPECT_EQ(comparable("s_waitcnt vmcnt(0) lgkmcnt(0)"), "s_waitcnt vmcnt(0) lgkmcnt(0)");
  EXPECT_EQ(comparable("s_addc_u32 s1, s1, lit(0xffffffff)"), comparable("s_addc_u32 s1, s1, 0xffffffff"));
  EXPECT_EQ(comparable("s_cbranch_scc1 65524"), comparable("s_cbranch_scc1 L_38"));
  EXPECT_EQ(comparable("global_load_dword v1, v[6:7], off offset:16 sc0 // 00000: DC"),
            "global_load_dword v1,v[6:7],off offset:16 sc0");
}

TEST(Comparable, WhatDiffersStaysDifferent) {
  EXPECT_NE(comparable("s_waitcnt vmcnt(0)"), comparable("s_waitcnt vmcnt(1)"));
  EXPECT_NE(comparable("v_add_f32 v1, v2, v3"), comparable("v_add_f32 v1, v2, v31"));
  EXPECT_NE(comparable("ds_read_b32 v1, v2 offset:4"), comparable("ds_read_b32 v1, v2 offset:64"));
  EXPECT_NE(comparable("v_mov_b32 v1, -1"), comparable("v_mov_b32 v1, 1"));
}

TEST(KernelName, AsProfilersWriteThem) {
  const KernelName name("_ZN2ns4turnIfEEvPT_S1_");
  EXPECT_EQ(name.match("_ZN2ns4turnIfEEvPT_S1_.kd"), NameMatch::Full);
  EXPECT_EQ(name.match("void ns::turn<float>(float*, float)"), NameMatch::Full);
  EXPECT_EQ(name.match("void ns::turn<float>(float*, float) [clone .kd]"), NameMatch::Full);
  EXPECT_EQ(name.match("turn"), NameMatch::Truncated);
  EXPECT_EQ(name.match("void ns::turn<double>(double*, double)"), NameMatch::None);
  EXPECT_EQ(name.match(""), NameMatch::None);
  EXPECT_EQ(KernelName("plain").match("plain.kd"), NameMatch::Full);
  EXPECT_EQ(truncated_name("void (anonymous namespace)::f<g(int)>(h<1>*)"), "f");
}

TEST(Listing, HasTheKernelAndWhatItMayCall) {
  const KernelListing& l = reduce().listing;
  EXPECT_EQ(l.target, "gfx942");
  EXPECT_EQ(l.at(l.entry), 0U);
  EXPECT_FALSE(l.at(l.entry + 2));
  EXPECT_EQ(l.other_kernels.size(), 2U);
  EXPECT_TRUE(std::ranges::all_of(l.instructions, &ListedInstruction::own));
  EXPECT_EQ(l.instructions.back().text, "s_endpgm");
  EXPECT_FALSE(list_kernel(*reduce().subject, "nobody"));
  const auto opened = oracle::Subject::open(object_bytes("device_function.gfx942.co"));
  const Kernel calls("device_function.gfx942.co", (*opened)->object().kernels().front().name);
  EXPECT_FALSE(std::ranges::all_of(calls.listing.instructions, &ListedInstruction::own));
}

std::vector<TextAt> all_texts(const Kernel& k, int64_t up) {
  std::vector<TextAt> texts;
  texts.reserve(k.size());
  for (size_t n = 0; n < k.size(); ++n)
    texts.push_back({k.address(n) + static_cast<uint64_t>(up), k.texts[n]});
  return texts;
}

TEST(Shift, IsFoundByTexts) {
  for (const int64_t up : {0, 256, -4, 1 << 20}) {
    const auto texts = all_texts(reduce(), up);
    EXPECT_EQ(find_shift(reduce().listing, texts), up);
    EXPECT_TRUE(match_texts(reduce().listing, texts, up).good());
  }
  EXPECT_FALSE(match_texts(reduce().listing, all_texts(reduce(), 4)).good());
}

TEST(Shift, TextsOfAnotherKernelFitNowhere) {
  const Kernel other("reduce.gfx942.co", "histogram");
  const auto texts = all_texts(other, 0);
  const auto shift = find_shift(reduce().listing, texts);
  EXPECT_FALSE(shift && match_texts(reduce().listing, texts, *shift).good());
}

TEST(Skid, GoesBackToTheWaitWithinItsBlock) {
  const Kernel& k = reduce();
  const size_t wait = k.find("s_waitcnt vmcnt(0)"); // v_add_f32, s_andn2 behind it
  EXPECT_EQ(before_skid(k.listing, wait), wait);
  EXPECT_EQ(before_skid(k.listing, wait + 1), wait);
  EXPECT_EQ(before_skid(k.listing, wait + 2), wait);
  EXPECT_EQ(before_skid(k.listing, wait + 3), wait + 3); // too far
  const size_t barrier = k.find("s_barrier");
  EXPECT_EQ(before_skid(k.listing, barrier), barrier); // waits itself
  EXPECT_EQ(before_skid(k.listing, barrier + 1), barrier);
  const size_t load = k.find("ds_read2st64_b32"); // slow by itself
  EXPECT_EQ(before_skid(k.listing, load), load);
}

TEST(Skid, NeverAcrossTheStartOfABlock) {
  const KernelListing& l = reduce().listing;
  for (size_t n = 0; n < l.instructions.size(); ++n) {
    const size_t from = before_skid(l, n);
    EXPECT_LE(n - from, 2U);
    for (size_t i = from + 1; i <= n; ++i) EXPECT_FALSE(l.instructions[i].starts_block) << i;
    EXPECT_TRUE(from == n || l.instructions[from].waits);
  }
}

} // namespace
} // namespace asmevo::profile
