#include "float_lanes.h"

namespace asmevo::emulator {
namespace {

constexpr std::string_view division = "v_div_scale_f64 v[6:7], s[4:5], v[2:3], v[2:3], v[0:1]\n"
                                      "v_rcp_f64 v[8:9], v[6:7]\n"
                                      "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0\n"
                                      "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]\n"
                                      "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0\n"
                                      "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]\n"
                                      "v_div_scale_f64 v[10:11], vcc, v[0:1], v[2:3], v[0:1]\n"
                                      "v_mul_f64 v[12:13], v[10:11], v[8:9]\n"
                                      "v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]\n"
                                      "v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]\n"
                                      "v_div_fixup_f64 v[4:5], v[6:7], v[2:3], v[0:1]";

TEST(VectorDouble, DivisionIsCorrectlyRounded) {
  Snippet s = snippet("gfx942", division);
  Operands o(1);
  const auto with_exponent = [&](uint64_t bits, int low, int range) {
    const auto field =
        static_cast<uint64_t>(1023 + low + static_cast<int>(o.raw() % static_cast<uint64_t>(range)));
    return (bits & 0x800f'ffff'ffff'ffff) | field << 52;
  };
  constexpr uint64_t denormal = 0x800f'ffff'ffff'ffff;
  for (int round = 0; round < 2000; ++round) {
    for (unsigned l = 0; l < lanes; ++l) {
      uint64_t n = o.next64(), d = o.next64();
      switch (round % 6) {
      case 1: n = with_exponent(n, -400, 300), d = with_exponent(d, 630, 380); break; // denormal quotients
      case 2: n &= denormal; break;
      case 3: d &= denormal; break;
      case 4: n &= denormal, d &= denormal; break;
      case 5: n = with_exponent(n, -1022, 60), d = with_exponent(d, -30, 60); break;
      default: break;
      }
      s.set_v64(0, l, n);
      s.set_v64(2, l, d);
    }
    run_in_mode(s, FloatMode::usual);
    for (unsigned l = 0; l < lanes; ++l) {
      const double n = f64(s.v64(0, l)), d = f64(s.v64(2, l)), quotient = n / d;
      ASSERT_TRUE(same64(s.v64(4, l), bits64(quotient)))
          << std::hexfloat << n << " / " << d << " = " << quotient << ", got " << f64(s.v64(4, l));
    }
  }
}

TEST(VectorDouble, RoundsAsModeSays) {
  Snippet s = snippet("gfx942", "v_add_f64 v[10:11], v[0:1], v[2:3]\nv_mul_f64 v[12:13], v[0:1], v[2:3]\n"
                                "v_fma_f64 v[14:15], v[0:1], v[2:3], v[4:5]\nv_cvt_f32_f64 v16, v[0:1]\n"
                                "v_ldexp_f64 v[18:19], v[0:1], v6\nv_sqrt_f64 v[20:21], v[0:1]");
  Operands o(2);
  for (unsigned direction = 0; direction < 4; ++direction)
    for (int round = 0; round < 20; ++round) {
      for (unsigned l = 0; l < lanes; ++l) {
        for (unsigned row : {0U, 2U, 4U})
          s.set_v64(row, l,
                    l % 2 != 0 ? o.next64()
                               : bits64(static_cast<double>(o.within(-140, 127)) * (1 + 0x1p-40)));
        s.v(6, l) = static_cast<uint32_t>(static_cast<int32_t>(o.raw() % 4400) - 2200);
      }
      run_in_mode(s, mode_rounding(0, direction));
      for (unsigned l = 0; l < lanes; ++l) {
        volatile double a = f64(s.v64(0, l)), b = f64(s.v64(2, l)), c = f64(s.v64(4, l));
        const auto check = [&](unsigned row, auto compute) {
          const double expected = rounded(direction, compute);
          EXPECT_TRUE(same64(s.v64(row, l), bits64(expected)))
              << "v" << row << " direction " << direction << " " << a;
        };
        check(10, [&]() -> double { return a + b; });
        check(12, [&]() -> double { return a * b; });
        check(14, [&]() -> double { return std::fma(a, b, c); });
        check(18, [&]() -> double { return std::ldexp(a, static_cast<int>(s.v(6, l))); });
        const float narrow = rounded(direction, [&]() -> float {
          volatile float f = static_cast<float>(a);
          return f;
        });
        EXPECT_TRUE(same32(s.v(16, l), bits32(narrow))) << a << " direction " << direction;
      }
    }
}

TEST(VectorDouble, FlushesByItsOwnFields) {
  Snippet s = snippet(
      "gfx942", "v_add_f64 v[10:11], v[0:1], 0\nv_max_f64 v[12:13], v[0:1], v[0:1]\n"
                "v_mul_f64 v[14:15], v[2:3], 0.5\nv_cvt_f32_f64 v16, v[4:5]\nv_cvt_f64_f32 v[18:19], v6");
  s.set_v64(0, 0, 77);
  s.set_v64(2, 0, uint64_t{1} << 52);
  s.set_v64(4, 0, bits64(0x1p-140));
  s.v(6, 0) = 5;
  run_in_mode(s, FloatMode::usual & ~0xc0U); // f32 keeps
  EXPECT_EQ(s.v64(10, 0), 0U);
  EXPECT_EQ(s.v64(12, 0), 0U);
  EXPECT_EQ(s.v64(14, 0), 0U);
  EXPECT_EQ(s.v(16, 0), bits32(0x1p-140F));
  EXPECT_EQ(s.v64(18, 0), bits64(0x5p-149));
  run_in_mode(s, FloatMode::usual & ~0x30U); // f64 keeps
  EXPECT_EQ(s.v64(10, 0), 77U);
  EXPECT_EQ(s.v64(12, 0), 77U);
  EXPECT_EQ(s.v64(14, 0), uint64_t{1} << 51);
  EXPECT_EQ(s.v(16, 0), 0U);
  EXPECT_EQ(s.v64(18, 0), 0U);
}

TEST(VectorDouble, PartsAndFractions) {
  Snippet s = snippet(
      "gfx942", "v_frexp_mant_f64 v[10:11], v[0:1]\nv_frexp_exp_i32_f64 v12, v[0:1]\n"
                "v_fract_f64 v[14:15], v[0:1]\nv_rndne_f64 v[16:17], v[0:1]\nv_ceil_f64 v[18:19], v[0:1]");
  Operands o(3);
  for (int round = 0; round < 50; ++round) {
    for (unsigned l = 0; l < lanes; ++l)
      s.set_v64(0, l, round % 2 == 0 ? o.next64() : bits64(static_cast<double>(o.within(-60, 55))));
    run_in_mode(s, FloatMode::usual);
    for (unsigned l = 0; l < lanes; ++l) {
      const double x = f64(s.v64(0, l));
      int exponent = 0;
      const double mantissa = std::frexp(x, &exponent);
      EXPECT_TRUE(same64(s.v64(10, l), bits64(mantissa))) << x;
      EXPECT_EQ(static_cast<int>(s.v(12, l)), std::isfinite(x) ? exponent : 0) << x;
      if (std::isfinite(x)) {
        EXPECT_EQ(f64(s.v64(14, l)), std::min(x - std::floor(x), 0x1.fffffffffffffp-1)) << x;
      }
      EXPECT_TRUE(same64(s.v64(16, l), bits64(std::nearbyint(x)))) << x;
      EXPECT_TRUE(same64(s.v64(18, l), bits64(std::ceil(x)))) << x;
    }
  }
}

// The first three segments add up to 2 / pi; later ones stand where the argument's exponent puts them.
TEST(VectorDouble, TrigPreop) {
  Snippet s = snippet("gfx942", "v_trig_preop_f64 v[2:3], v[0:1], 0\nv_trig_preop_f64 v[4:5], v[0:1], 1\n"
                                "v_trig_preop_f64 v[6:7], v[0:1], 2\nv_trig_preop_f64 v[8:9], v[0:1], 31");
  s.set_v64(0, 0, bits64(1.0));
  s.set_v64(0, 1, bits64(0x1p55));  // field 1078: one bit on
  s.set_v64(0, 2, bits64(0x1p945)); // field 1968
  run(s);
  EXPECT_EQ(s.v64(2, 0), 0x3fe4'5f30'6dc9'c882U);
  const long double sum = static_cast<long double>(f64(s.v64(2, 0))) + f64(s.v64(4, 0));
  EXPECT_NEAR(static_cast<double>((sum - 0.636619772367581343075535053490057448L) * 0x1p60L), 0, 1);
  EXPECT_LT(f64(s.v64(6, 0)), 0x1p-106);
  EXPECT_EQ(s.v64(8, 0), 0U);
  // The leading bit, 1/2, is gone; one more came in at the end.
  EXPECT_NEAR((f64(s.v64(2, 1)) - (0x1.45f306dc9c882p-1 - 0.5)) * 0x1p54, 0.5, 0.5);
  EXPECT_GT(f64(s.v64(2, 2)), 0x1p-900); // scaled up by 2^128
}

} // namespace
} // namespace asmevo::emulator
