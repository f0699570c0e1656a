// The list of mnemonics: what must be in it for which target, and that nothing an assembler accepts is
// missing from it, as far as a sample of every family shows.
#include "isa/mnemonics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace asmevo::isa {
namespace {

std::set<std::string> of(const char* target) {
  const auto codec = *Codec::create(*Target::from_id(target));
  std::set<std::string> set;
  for (const Mnemonic& m : mnemonics_of(*codec)) EXPECT_TRUE(set.emplace(m.base).second);
  return set;
}

TEST(Mnemonics, EveryTargetHasItsOwn) {
  const std::set<std::string> a = of("gfx90a"), b = of("gfx942"), c = of("gfx950");
  for (const auto* all : {&a, &b, &c})
    for (const char* base : {"s_add_u32",
                             "s_mov_b64",
                             "s_cmp_lg_u64",
                             "s_movk_i32",
                             "s_setreg_imm32_b32",
                             "s_endpgm",
                             "s_load_dwordx16",
                             "s_buffer_load_dword",
                             "s_atomic_add",
                             "v_mov_b32",
                             "v_add_f32",
                             "v_cmp_class_f64",
                             "v_fma_f64",
                             "v_readlane_b32",
                             "v_div_scale_f32",
                             "v_mad_u64_u32",
                             "v_pk_fma_f32",
                             "v_dot4_i32_i8",
                             "v_accvgpr_read_b32",
                             "ds_read_b128",
                             "ds_bpermute_b32",
                             "ds_gws_barrier",
                             "buffer_load_dwordx4",
                             "tbuffer_load_format_xyzw",
                             "global_atomic_pk_add_f16",
                             "flat_atomic_add_f64",
                             "scratch_store_dword",
                             "v_screen_partition_4se_b32"})
      EXPECT_TRUE(all->contains(base)) << base;
  EXPECT_TRUE(a.contains("v_mfma_f32_32x32x2bf16") && a.contains("v_mfma_f32_32x32x8f16"));
  EXPECT_TRUE(b.contains("v_mfma_f32_32x32x8_f16"));
  EXPECT_TRUE(b.contains("v_mfma_f32_16x16x8_xf32") && !a.contains("v_mfma_f32_16x16x8_xf32"));
  EXPECT_TRUE(b.contains("v_smfmac_f32_16x16x64_fp8_fp8"));
  EXPECT_TRUE(c.contains("v_mfma_scale_f32_16x16x128_f8f6f4") &&
              !b.contains("v_mfma_scale_f32_16x16x128_f8f6f4"));
  EXPECT_TRUE(c.contains("v_permlane32_swap_b32") && !b.contains("v_permlane32_swap_b32"));
  EXPECT_TRUE(a.contains("image_load") && !b.contains("image_load"));
  EXPECT_GT(a.size(), 1000U);
}

// Whatever decodes is in the list: random words, kept to what the formats' first bits are likely to be.
TEST(Mnemonics, NothingThatDecodesIsMissing) {
  for (const char* target : {"gfx90a", "gfx942", "gfx950"}) {
    const std::set<std::string> known = of(target);
    const auto codec = *Codec::create(*Target::from_id(target));
    uint64_t state = 12345;
    const auto next = [&] {
      return static_cast<uint32_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 32);
    };
    for (int i = 0; i < 100'000; ++i) {
      const uint32_t words[4] = {next(), next(), next(), next()};
      const Instruction* instruction = codec->decode({reinterpret_cast<const uint8_t*>(words), sizeof words});
      if (instruction->is_data()) continue;
      ASSERT_TRUE(known.contains(std::string(instruction->base_mnemonic))) << instruction->mnemonic;
      if (codec->pool_size() > 50'000) codec->renew_pool();
    }
  }
}

} // namespace
} // namespace asmevo::isa
