#include "float_lanes.h"

#include <limits>

namespace asmevo::emulator {
namespace {

template <class I>
I saturated(double x) {
  if (std::isnan(x)) return 0;
  constexpr double least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  return x <= least  ? std::numeric_limits<I>::min()
         : x >= most ? std::numeric_limits<I>::max()
                     : static_cast<I>(x);
}

TEST(VectorConvert, FloatToIntegerSaturates) {
  Snippet s =
      snippet("gfx942", "v_cvt_i32_f32 v10, v0\nv_cvt_u32_f32 v11, v0\nv_cvt_rpi_i32_f32 v12, v0\n"
                        "v_cvt_flr_i32_f32 v13, v0\nv_cvt_i32_f64 v14, v[2:3]\nv_cvt_u32_f64 v15, v[2:3]\n"
                        "v_cvt_i16_f16 v16, v4\nv_cvt_u16_f16 v17, v4");
  Operands o(1);
  for (int round = 0; round < 300; ++round) {
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(0, l) = round % 2 == 0 ? o.next32() : bits32(o.within(-3, 34));
      s.set_v64(2, l,
                round % 2 == 0 ? o.next64() : bits64(static_cast<double>(o.within(-3, 34)) * (1 + 0x1p-30)));
      s.v(4, l) = o.next16();
    }
    s.v(0, 0) = 0x3eff'ffff; // the largest below 1/2
    s.v(0, 1) = 0xbf00'0000;
    s.v(0, 2) = 0x4eff'ffff;
    run_in_mode(s, FloatMode::usual);
    for (unsigned l = 0; l < lanes; ++l) {
      const double x = f32(s.v(0, l)), d = f64(s.v64(2, l)), h = half_value(static_cast<uint16_t>(s.v(4, l)));
      EXPECT_EQ(static_cast<int32_t>(s.v(10, l)), saturated<int32_t>(std::trunc(x))) << x;
      EXPECT_EQ(s.v(11, l), saturated<uint32_t>(std::trunc(x))) << x;
      EXPECT_EQ(static_cast<int32_t>(s.v(12, l)), saturated<int32_t>(std::floor(x + 0.5))) << x;
      EXPECT_EQ(static_cast<int32_t>(s.v(13, l)), saturated<int32_t>(std::floor(x))) << x;
      EXPECT_EQ(static_cast<int32_t>(s.v(14, l)), saturated<int32_t>(std::trunc(d))) << d;
      EXPECT_EQ(s.v(15, l), saturated<uint32_t>(std::trunc(d))) << d;
      EXPECT_EQ(static_cast<int16_t>(s.v(16, l)), saturated<int16_t>(std::trunc(h))) << h;
      EXPECT_EQ(s.v(17, l), saturated<uint16_t>(std::trunc(h))) << h;
    }
  }
}

TEST(VectorConvert, FloatToHalfInEveryDirection) {
  Snippet s =
      snippet("gfx942", "v_cvt_f16_f32 v10, v0\nv_cvt_pkrtz_f16_f32 v11, v0, v1\nv_cvt_f16_i16 v12, v0\n"
                        "v_cvt_f16_u16 v13, v0");
  Operands o(2);
  for (unsigned direction = 0; direction < 4; ++direction)
    for (int round = 0; round < 500; ++round) {
      for (unsigned l = 0; l < lanes; ++l) {
        s.v(0, l) = round % 4 == 0 ? o.next32() : bits32(o.within(-27, 18));
        if (round % 4 == 1) s.v(0, l) &= 0xffff'f000; // ties
        s.v(1, l) = bits32(o.within(-27, 18));
      }
      run_in_mode(s, mode_rounding(0, direction));
      for (unsigned l = 0; l < lanes; ++l) {
        const double x = f32(s.v(0, l)), y = f32(s.v(1, l));
        ASSERT_TRUE(same16(s.v(10, l), reference_half(x, direction)))
            << std::hexfloat << x << " direction " << direction;
        ASSERT_TRUE(same16(s.v(11, l), reference_half(x, 3))) << std::hexfloat << x;
        ASSERT_TRUE(same16(s.v(11, l) >> 16, reference_half(y, 3))) << std::hexfloat << y;
        ASSERT_EQ(s.v(12, l), reference_half(static_cast<int16_t>(s.v(0, l)), direction));
        ASSERT_EQ(s.v(13, l), reference_half(static_cast<uint16_t>(s.v(0, l)), direction));
      }
    }
}

TEST(VectorConvert, PackedHalvesOfGfx950RoundToNearest) {
  Snippet s = snippet("gfx950", "v_cvt_pk_f16_f32 v10, v0, v1");
  Operands o(3);
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = bits32(o.within(-20, 17)), s.v(1, l) = o.next32();
  run_in_mode(s, mode_rounding(1, 3));
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_TRUE(same16(s.v(10, l), reference_half(f32(s.v(0, l)))));
    EXPECT_TRUE(same16(s.v(10, l) >> 16, reference_half(f32(s.v(1, l)))));
  }
}

TEST(VectorConvert, NormalisedIntegersAreLimited) {
  Snippet s = snippet(
      "gfx942", "v_cvt_pknorm_i16_f32 v10, v0, v1\nv_cvt_pknorm_u16_f32 v11, v0, v1\n"
                "v_cvt_norm_i16_f16 v12, v2\nv_cvt_norm_u16_f16 v13, v2\nv_cvt_pknorm_i16_f16 v14, v2, v2");
  s.v(0, 0) = bits32(1), s.v(1, 0) = bits32(-1), s.v(2, 0) = 0x3c00;
  s.v(0, 1) = bits32(7), s.v(1, 1) = bits32(-7), s.v(2, 1) = 0xc700;
  s.v(0, 2) = bits32(std::nanf("")), s.v(1, 2) = bits32(0.25F), s.v(2, 2) = 0x3400;
  run(s);
  EXPECT_EQ(s.v(10, 0), 0x8001'7fffU);
  EXPECT_EQ(s.v(10, 1), 0x8001'7fffU);
  EXPECT_EQ(s.v(10, 2), 0x2000'0000U);
  EXPECT_EQ(s.v(11, 0), 0x0000'ffffU);
  EXPECT_EQ(s.v(11, 1), 0x0000'ffffU);
  EXPECT_EQ(s.v(11, 2), 0x4000'0000U);
  EXPECT_EQ(s.v(12, 0), 0x7fffU);
  EXPECT_EQ(s.v(12, 1), 0x8001U);
  EXPECT_EQ(s.v(13, 1), 0U);
  EXPECT_EQ(s.v(13, 2), 0x4000U);
  EXPECT_EQ(s.v(14, 2), 0x2000'2000U);
}

TEST(VectorConvert, BytesAndNibbles) {
  Snippet s =
      snippet("gfx942",
              "v_cvt_f32_ubyte0 v10, v0\nv_cvt_f32_ubyte1 v11, v0\nv_cvt_f32_ubyte2 v12, v0\n"
              "v_cvt_f32_ubyte3 v13, v0\nv_cvt_off_f32_i4 v14, v1\nv_cvt_pk_u8_f32 v15, v2, v1, v0\n"
              "v_cvt_pk_i16_i32 v16, v3, v4\nv_cvt_pk_u16_u32 v17, v3, v4\nv_cvt_pkaccum_u8_f32 v18, v2, v1");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = 0xfe80'7f01;
    s.v(1, l) = l;
    s.v(2, l) = bits32(l == 5 ? 1000.0F : l == 6 ? -3.0F : 77.9F);
    s.v(3, l) = 0xffff'0000 + l;
    s.v(4, l) = 70000;
    s.v(18, l) = 0x1111'1111;
  }
  run(s);
  EXPECT_EQ(f32(s.v(10, 0)), 1.0F);
  EXPECT_EQ(f32(s.v(11, 0)), 127.0F);
  EXPECT_EQ(f32(s.v(12, 0)), 128.0F);
  EXPECT_EQ(f32(s.v(13, 0)), 254.0F);
  for (unsigned l = 0; l < 16; ++l)
    EXPECT_EQ(f32(s.v(14, l)),
              static_cast<float>(l < 8 ? static_cast<int>(l) : static_cast<int>(l) - 16) / 16);
  EXPECT_EQ(s.v(15, 1), 0xfe80'4d01U);
  EXPECT_EQ(s.v(15, 5), 0xfe80'ff01U);
  EXPECT_EQ(s.v(15, 6), 0xfe00'7f01U);
  EXPECT_EQ(s.v(16, 0), 0x7fff'8000U);
  EXPECT_EQ(s.v(17, 0), 0xffff'ffffU);
  EXPECT_EQ(s.v(18, 2), 0x114d'1111U);
}

} // namespace
} // namespace asmevo::emulator
