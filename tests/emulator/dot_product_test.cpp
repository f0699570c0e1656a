#include "float_lanes.h"

namespace asmevo::emulator {
namespace {

struct Dot {
  std::string_view name;
  unsigned bits;
  bool is_signed, accumulates; // into the destination
};
constexpr Dot dots[] = {
    {"v_dot2_i32_i16", 16, true, false}, {"v_dot2_u32_u16", 16, false, false},
    {"v_dot2c_i32_i16", 16, true, true}, {"v_dot4_i32_i8", 8, true, false},
    {"v_dot4_u32_u8", 8, false, false},  {"v_dot4c_i32_i8", 8, true, true},
    {"v_dot8_i32_i4", 4, true, false},   {"v_dot8_u32_u4", 4, false, false},
    {"v_dot8c_i32_i4", 4, true, true},
};

int64_t part(uint32_t v, unsigned n, const Dot& dot) {
  const int64_t span = int64_t{1} << dot.bits, raw = v >> (n * dot.bits) & (span - 1);
  return dot.is_signed && raw >= span / 2 ? raw - span : raw;
}

void check(const Dot& dot, bool clamp) {
  const std::string text =
      std::string(dot.name) +
      (dot.accumulates ? clamp ? "_e64 v2, v0, v1" : "_e32 v2, v0, v1" : " v2, v0, v1, v2") +
      (clamp ? " clamp" : "");
  Snippet s = snippet("gfx942", text);
  std::mt19937 random(5);
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned l = 0; l < lanes; ++l) {
      constexpr uint32_t edges[] = {0x80808080, 0x7f7f7f7f, 0xffffffff, 0x88888888,
                                    0x80008000, 0x7fffffff, 0x80000000};
      s.v(row, l) = random() % 2 == 0 ? edges[random() % std::size(edges)] : static_cast<uint32_t>(random());
    }
  const Row before = s.wave().vectors[2];
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    int64_t sum = dot.is_signed ? static_cast<int32_t>(before.lane[l]) : int64_t{before.lane[l]};
    for (unsigned n = 0; n < 32 / dot.bits; ++n) sum += part(s.v(0, l), n, dot) * part(s.v(1, l), n, dot);
    if (clamp)
      sum = dot.is_signed ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                          : std::clamp<int64_t>(sum, 0, UINT32_MAX);
    EXPECT_EQ(s.v(2, l), static_cast<uint32_t>(sum)) << text << " lane " << l;
  }
}

TEST(DotProduct, IntegersExactThenWrappedOrSaturated) {
  for (const Dot& dot : dots)
    for (const bool clamp : {false, true}) check(dot, clamp);
}

TEST(DotProduct, IntegerConstantAccumulator) {
  Snippet s = snippet("gfx942", "v_dot4_i32_i8 v2, v0, v1, -7");
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = 0x01020304, s.v(1, l) = 0xff010101;
  run(s);
  EXPECT_EQ(static_cast<int32_t>(s.v(2, 0)), -1 + 2 + 3 + 4 - 7);
}

// 2^24 + 1 + 1 in f32 is 2^24 when the products are added one after the other, 2^24 + 2 when they are added
// first.
TEST(DotProduct, FloatsAddInTheManualsOrder) {
  Snippet s = snippet("gfx950", "v_dot2_f32_f16 v10, v0, v0, v2\nv_dot2c_f32_f16 v3, v0, v0\n"
                                "v_dot2_f32_bf16 v11, v1, v1, v2\nv_dot2c_f32_bf16 v4, v1, v1\n"
                                "v_dot2_f32_f16 v12, v0, v0, v2 neg_lo:[1,0,1] neg_hi:[1,0,0]");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = 0x3c003c00;
    s.v(1, l) = 0x3f803f80;
    s.v(2, l) = s.v(3, l) = s.v(4, l) = bits32(0x1p24F);
  }
  run(s);
  EXPECT_EQ(f32(s.v(10, 1)), 0x1p24F);
  EXPECT_EQ(f32(s.v(3, 1)), 0x1p24F);
  EXPECT_EQ(f32(s.v(11, 1)), 0x1p24F + 2);
  EXPECT_EQ(f32(s.v(4, 1)), 0x1p24F);
  EXPECT_EQ(f32(s.v(12, 1)), -0x1p24F);
}

TEST(DotProduct, FloatAccumulatorConstantIsF32AndClampIsUnit) {
  Snippet s = snippet("gfx942", "v_dot2_f32_f16 v10, v0, v1, 4.0\nv_dot2_f32_f16 v11, v0, v1, 4.0 clamp");
  s.v(0, 0) = 0x3c003800, s.v(1, 0) = 0x40004000;
  run(s);
  EXPECT_EQ(f32(s.v(10, 0)), 7);
  EXPECT_EQ(f32(s.v(11, 0)), 1);
}

// Measured: gfx90a takes f16 denormals for zero in every mode, gfx950 in none (LLVM pull request 205101).
TEST(DotProduct, DenormalsByTarget) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"})
    for (const uint32_t mode : {0x3f0U, 0x300U}) {
      Snippet s = snippet(gpu, "v_dot2_f32_f16 v10, v0, v1, v2\nv_dot2c_f32_f16 v3, v0, v1");
      s.v(0, 0) = 0x8001, s.v(1, 0) = 0x0400;
      run_in_mode(s, mode);
      const uint32_t expected = std::string_view(gpu) == "gfx90a" ? 0 : 0xac800000;
      EXPECT_EQ(s.v(10, 0), expected) << gpu;
      EXPECT_EQ(s.v(3, 0), expected) << gpu;
    }
}

} // namespace
} // namespace asmevo::emulator
