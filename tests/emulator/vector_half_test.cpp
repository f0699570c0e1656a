#include "float_lanes.h"

namespace asmevo::emulator {
namespace {

// f16 sums and products are exact in a double, fma's but for what cannot matter.
TEST(VectorHalf, RoundsOnceInEveryDirection) {
  Snippet s = snippet(
      "gfx942", "v_add_f16 v10, v0, v1\nv_sub_f16 v11, v0, v1\nv_mul_f16 v12, v0, v1\n"
                "v_fma_f16 v13, v0, v1, v2\nv_subrev_f16 v14, v0, v1\nv_fma_legacy_f16 v15, v0, v1, v2");
  Operands o(1);
  for (unsigned direction = 0; direction < 4; ++direction)
    for (int round = 0; round < 400; ++round) {
      for (unsigned l = 0; l < lanes; ++l)
        for (unsigned row = 0; row < 3; ++row) s.v(row, l) = o.next16();
      run_in_mode(s, mode_rounding(0, direction));
      for (unsigned l = 0; l < lanes; ++l) {
        const double a = half_value(static_cast<uint16_t>(s.v(0, l))),
                     b = half_value(static_cast<uint16_t>(s.v(1, l))),
                     c = half_value(static_cast<uint16_t>(s.v(2, l)));
        const auto check = [&](unsigned row, double exact, bool zero_sign = true) {
          const uint16_t expected = reference_half(exact, direction);
          const bool zeros = !zero_sign && ((expected | s.v(row, l)) & 0x7fff) == 0;
          ASSERT_TRUE(zeros || same16(s.v(row, l), expected))
              << "v" << row << " direction " << direction << ": " << a << " " << b << " " << c << " got "
              << std::hex << s.v(row, l) << " expected " << expected;
        };
        check(10, a + b, false); // the sign of a zero sum depends on the direction
        check(11, a - b, false);
        check(14, b - a, false);
        check(12, a * b);
        const long double sum = static_cast<long double>(a) * b + c; // 64 bits hold it
        // Into a double by cutting, with a trace of what was cut.
        auto d = static_cast<double>(sum);
        if (static_cast<long double>(d) != sum) d = std::nextafter(d, sum > d ? INFINITY : -INFINITY);
        check(13, d, false);
        check(15, d, false);
      }
    }
}

TEST(VectorHalf, RoundsHalvesOfVop3WithoutTouchingTheRest) {
  Snippet s = snippet("gfx942", "v_fma_f16 v10, v0, v1, v2 op_sel:[1,0,0,1]\nv_fma_f16 v11, v0, v1, v2\n"
                                "v_add_f16 v12, v0, v1\nv_mad_legacy_f16 v13, v0, v1, v2");
  s.v(0, 0) = 0x4000'3c00; // 2, 1
  s.v(1, 0) = 0x4200;      // 3
  s.v(2, 0) = 0;
  for (unsigned row = 10; row < 14; ++row) s.v(row, 0) = 0xdead'beef;
  run(s);
  EXPECT_EQ(s.v(10, 0), 0x4600'beefU);
  EXPECT_EQ(s.v(11, 0), 0xdead'4200U);
  EXPECT_EQ(s.v(12, 0), 0x4400U);
  EXPECT_EQ(s.v(13, 0), 0x4200U);
}

TEST(VectorHalf, FlushesByMode) {
  Snippet s = snippet(
      "gfx942", "v_add_f16 v10, v0, v1\nv_mul_f16 v11, v2, v3\nv_max_f16 v12, v0, v0\nv_cvt_f32_f16 v13, v0\n"
                "v_cvt_f16_f32 v14, v4");
  constexpr uint32_t base = FloatMode::usual & ~0xc0U;
  for (unsigned keeps = 0; keeps < 4; ++keeps) {
    s.v(0, 0) = 0x8012;
    s.v(1, 0) = 0x8000;
    s.v(2, 0) = 0x0400;
    s.v(3, 0) = 0x3800;
    s.v(4, 0) = bits32(-0x1p-20F);
    run_in_mode(s, base | keeps << 6);
    const bool in = (keeps & 1) != 0, out = (keeps & 2) != 0;
    EXPECT_EQ(s.v(10, 0), in && out ? 0x8012U : 0x8000U) << keeps;
    EXPECT_EQ(s.v(11, 0), out ? 0x200U : 0U) << keeps;
    EXPECT_EQ(s.v(12, 0), in && out ? 0x8012U : 0x8000U) << keeps;
    EXPECT_EQ(f32(s.v(13, 0)), in ? -0x12p-24F : -0.0F) << keeps;
    EXPECT_EQ(s.v(14, 0), out ? 0x8010U : 0x8000U) << keeps;
  }
}

TEST(VectorHalf, OverflowClampsWithFp16Ovfl) {
  Snippet s = snippet("gfx942", "v_mul_f16 v10, v0, v1\nv_add_f16 v11, v2, v1\nv_cvt_f16_f32 v12, v3");
  s.v(0, 0) = 0xfbff;
  s.v(1, 0) = 0x4000;
  s.v(2, 0) = 0x7c00;
  s.v(3, 0) = bits32(1e30F);
  run_in_mode(s, FloatMode::usual | 1U << 23);
  EXPECT_EQ(s.v(10, 0), 0xfbffU);
  EXPECT_EQ(s.v(11, 0), 0x7c00U); // a true infinity stays
  EXPECT_EQ(s.v(12, 0), 0x7bffU);
  run_in_mode(s, FloatMode::usual);
  EXPECT_EQ(s.v(10, 0), 0xfc00U);
  EXPECT_EQ(s.v(12, 0), 0x7c00U);
}

TEST(VectorHalf, OutputModifiersFlushDenormals) {
  Snippet s = snippet("gfx942", "v_add_f16_e64 v10, v0, 0 div:2\nv_add_f16_e64 v11, v1, 0 div:2");
  s.v(0, 0) = 0x0400; // the least normal number
  s.v(1, 0) = 0x0800;
  run_in_mode(s, 0x140); // no IEEE, results flushed
  EXPECT_EQ(s.v(10, 0), 0U);
  EXPECT_EQ(s.v(11, 0), 0x0400U);
}

// Every f16, one operand.
TEST(VectorHalf, UnaryForAllValues) {
  Snippet s =
      snippet("gfx942", "v_floor_f16 v10, v0\nv_ceil_f16 v11, v0\nv_trunc_f16 v12, v0\nv_rndne_f16 v13, v0\n"
                        "v_fract_f16 v14, v0\nv_frexp_mant_f16 v15, v0\nv_frexp_exp_i16_f16 v16, v0\n"
                        "v_ldexp_f16 v17, v0, v1\nv_cvt_f32_f16 v18, v0");
  for (unsigned first = 0; first < 0x10000; first += lanes) {
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(0, l) = first + l;
      s.v(1, l) = static_cast<uint32_t>(static_cast<int>(l) - 32) & 0xffff;
    }
    run_in_mode(s, FloatMode::usual);
    for (unsigned l = 0; l < lanes; ++l) {
      const double x = half_value(static_cast<uint16_t>(first + l));
      const auto check = [&](unsigned row, double exact) {
        ASSERT_TRUE(same16(s.v(row, l), reference_half(exact)))
            << "v" << row << " of " << x << " got " << s.v(row, l);
      };
      check(10, std::floor(x));
      check(11, std::ceil(x));
      check(12, std::trunc(x));
      check(13, std::nearbyint(x));
      if (std::isfinite(x))
        check(14,
              std::min(reference_half(x - std::floor(x)) >= 0x3c00 ? 0x1.ffcp-1 : x - std::floor(x), 1.0));
      int exponent = 0;
      check(15, std::frexp(x, &exponent));
      ASSERT_EQ(static_cast<int16_t>(s.v(16, l)), std::isfinite(x) ? exponent : 0) << x;
      check(17, std::ldexp(x, static_cast<int>(l) - 32));
      ASSERT_TRUE(same32(s.v(18, l), bits32(static_cast<float>(x)))) << x;
    }
  }
}

TEST(VectorHalf, DivFixup) {
  Snippet s = snippet("gfx942", "v_div_fixup_f16 v10, v0, v1, v2\nv_div_fixup_legacy_f16 v11, v0, v1, v2");
  struct Case {
    uint16_t quotient, denominator, numerator, expected;
  };
  constexpr Case cases[] = {
      {0x3c00, 0x0000, 0x0000, 0xfe00}, {0x3c00, 0x7c00, 0xfc00, 0xfe00}, {0x3c00, 0x8000, 0x3c00, 0xfc00},
      {0x3c00, 0xfc00, 0x3c00, 0x8000}, {0x3c00, 0x3c00, 0x8000, 0x8000}, {0xbc00, 0x3c00, 0x4000, 0x3c00},
      {0x3c00, 0xbc00, 0x4000, 0xbc00}, {0x3c00, 0x7e00, 0x4000, 0x7e00}, {0x3c00, 0x3c00, 0xfc00, 0xfc00},
  };
  for (unsigned l = 0; l < std::size(cases); ++l)
    s.v(0, l) = cases[l].quotient, s.v(1, l) = cases[l].denominator, s.v(2, l) = cases[l].numerator;
  run(s);
  for (unsigned l = 0; l < std::size(cases); ++l) {
    EXPECT_TRUE(same16(s.v(10, l), cases[l].expected)) << l;
    EXPECT_TRUE(same16(s.v(11, l), cases[l].expected)) << l;
  }
}

} // namespace
} // namespace asmevo::emulator
