#include "float_lanes.h"

namespace asmevo::emulator {
namespace {

constexpr std::string_view division = "v_div_scale_f32 v3, s[4:5], v1, v1, v0\n"
                                      "v_rcp_f32 v4, v3\n"
                                      "v_div_scale_f32 v5, vcc, v0, v1, v0\n"
                                      "v_fma_f32 v6, -v3, v4, 1.0\n"
                                      "v_fma_f32 v4, v6, v4, v4\n"
                                      "v_mul_f32 v6, v5, v4\n"
                                      "v_fma_f32 v7, -v3, v6, v5\n"
                                      "v_fma_f32 v6, v7, v4, v6\n"
                                      "v_fma_f32 v3, -v3, v6, v5\n"
                                      "v_div_fmas_f32 v3, v3, v4, v6\n"
                                      "v_div_fixup_f32 v2, v3, v1, v0";

// What compilers make of n / d, against the host's.
void expect_divisions(const std::function<std::pair<uint32_t, uint32_t>()>& next) {
  Snippet s = snippet("gfx942", division);
  for (int round = 0; round < 500; ++round) {
    for (unsigned l = 0; l < lanes; ++l) std::tie(s.v(0, l), s.v(1, l)) = next();
    const std::vector<uint32_t> n(&s.v(0, 0), &s.v(0, 0) + lanes), d(&s.v(1, 0), &s.v(1, 0) + lanes);
    run_in_mode(s, FloatMode::usual);
    for (unsigned l = 0; l < lanes; ++l) {
      const float quotient = f32(n[l]) / f32(d[l]);
      ASSERT_TRUE(same32(s.v(2, l), bits32(quotient))) << std::hexfloat << f32(n[l]) << " / " << f32(d[l])
                                                       << " = " << quotient << ", got " << f32(s.v(2, l));
    }
  }
}

TEST(VectorFloat, DivisionIsCorrectlyRounded) {
  Operands o(1);
  expect_divisions([&] { return std::pair(o.next32(), o.next32()); });
  // Quotients around the smallest normal number and below.
  expect_divisions([&] { return std::pair(bits32(o.within(-60, 0)), bits32(o.within(66, 92))); });
  expect_divisions([&] { return std::pair(bits32(o.within(-126, -96)), bits32(o.within(-20, 40))); });
  expect_divisions([&] { return std::pair(o.next32() & 0x807f'ffff, o.next32()); });
  expect_divisions([&] { return std::pair(o.next32(), o.next32() & 0x807f'ffff); });
}

TEST(VectorFloat, RoundsAsModeSays) {
  Snippet s = snippet("gfx942", "v_add_f32 v10, v0, v1\nv_sub_f32 v11, v0, v1\nv_subrev_f32 v12, v0, v1\n"
                                "v_mul_f32 v13, v0, v1\nv_fma_f32 v14, v0, v1, v2\nv_fmac_f32 v15, v0, v1\n"
                                "v_fmamk_f32 v16, v0, 0x40490fdb, v1\nv_fmaak_f32 v17, v0, v1, 0x40490fdb\n"
                                "v_cvt_f32_i32 v18, v0\nv_cvt_f32_u32 v19, v0");
  Operands o(2);
  for (unsigned direction = 0; direction < 4; ++direction) {
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned row : {0U, 1U, 2U, 15U})
        s.v(row, l) = l % 2 != 0 ? o.next32() : bits32(o.within(-10, 10));
    const std::vector<uint32_t> summand(&s.v(15, 0), &s.v(15, 0) + lanes);
    run_in_mode(s, mode_rounding(direction, 0));
    for (unsigned l = 0; l < lanes; ++l) {
      volatile float a = f32(s.v(0, l)), b = f32(s.v(1, l)), c = f32(s.v(2, l)), d = f32(summand[l]);
      volatile float k = f32(0x40490fdb);
      volatile int32_t i = static_cast<int32_t>(s.v(0, l));
      volatile int64_t u = s.v(0, l);
      const auto check = [&](unsigned row, auto compute) {
        const float expected = rounded(direction, compute);
        EXPECT_TRUE(same32(s.v(row, l), bits32(expected))) << "v" << row << " direction " << direction;
      };
      check(10, [&]() -> float { return a + b; });
      check(11, [&]() -> float { return a - b; });
      check(12, [&]() -> float { return b - a; });
      check(13, [&]() -> float { return a * b; });
      check(14, [&]() -> float { return std::fma(a, b, c); });
      check(15, [&]() -> float { return std::fma(a, b, d); });
      check(16, [&]() -> float { return std::fma(a, k, b); });
      check(17, [&]() -> float { return std::fma(a, b, k); });
      check(18, [&]() -> float { return static_cast<float>(i); });
      check(19, [&]() -> float { return static_cast<float>(u); });
    }
  }
}

TEST(VectorFloat, FlushesInputsAndOutputsSeparately) {
  Snippet s = snippet("gfx942", "v_add_f32 v10, v0, v1\nv_mul_f32 v11, v2, v3\nv_max_f32 v12, v0, v0\n"
                                "v_ldexp_f32 v13, v0, 1");
  constexpr uint32_t denormal = 0x0000'1234, smallest = 0x0080'0000, base = FloatMode::usual & ~0x30U;
  for (unsigned keeps = 0; keeps < 4; ++keeps) {
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(0, l) = denormal;
      s.v(1, l) = 0;
      s.v(2, l) = smallest;
      s.v(3, l) = bits32(0.5F);
    }
    run_in_mode(s, base | keeps << 4);
    const bool in = (keeps & 1) != 0, out = (keeps & 2) != 0;
    EXPECT_EQ(s.v(10, 0), in && out ? denormal : 0U) << keeps;
    EXPECT_EQ(s.v(11, 0), out ? smallest / 2 : 0U) << keeps;
    EXPECT_EQ(s.v(12, 0), in && out ? denormal : 0U) << keeps;
    EXPECT_EQ(s.v(13, 0), in && out ? 2 * denormal : 0U) << keeps;
  }
}

struct Selection {
  uint32_t a, b, min_ieee, max_ieee, min, max;
};
constexpr uint32_t one = 0x3f80'0000, two = 0x4000'0000, qnan = 0x7fc0'0000, snan = 0x7f80'0001,
                   minus_zero = 0x8000'0000, infinity = 0x7f80'0000;

TEST(VectorFloat, MinAndMaxOfNansAndZeros) {
  constexpr Selection cases[] = {
      {one, two, one, two, one, two},
      {qnan, one, one, one, one, one},
      {one, qnan, one, one, one, one},
      {qnan, qnan, qnan, qnan, qnan, qnan},
      {snan, one, qnan, qnan, one, one},
      {one, snan, qnan, qnan, one, one},
      {0, minus_zero, minus_zero, 0, minus_zero, 0},
      {minus_zero, 0, minus_zero, 0, minus_zero, 0},
      {infinity, one, one, infinity, one, infinity},
  };
  Snippet s = snippet("gfx942", "v_min_f32 v10, v0, v1\nv_max_f32 v11, v0, v1");
  for (unsigned l = 0; l < std::size(cases); ++l) s.v(0, l) = cases[l].a, s.v(1, l) = cases[l].b;
  run_in_mode(s, FloatMode::usual);
  for (unsigned l = 0; l < std::size(cases); ++l) {
    EXPECT_TRUE(same32(s.v(10, l), cases[l].min_ieee)) << l;
    EXPECT_TRUE(same32(s.v(11, l), cases[l].max_ieee)) << l;
    EXPECT_NE(s.v(10, l), snan); // quieted
  }
  run_in_mode(s, FloatMode::usual & ~0x200U);
  for (unsigned l = 0; l < std::size(cases); ++l) {
    EXPECT_TRUE(same32(s.v(10, l), cases[l].min)) << l;
    EXPECT_TRUE(same32(s.v(11, l), cases[l].max)) << l;
  }
}

TEST(VectorFloat, ThreeOperandSelections) {
  Snippet s =
      snippet("gfx950", "v_min3_f32 v10, v0, v1, v2\nv_max3_f32 v11, v0, v1, v2\nv_med3_f32 v12, v0, v1, v2\n"
                        "v_minimum3_f32 v13, v0, v1, v2\nv_maximum3_f32 v14, v0, v1, v2");
  Operands o(3);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned row = 0; row < 3; ++row) s.v(row, l) = bits32(o.within(-3, 3));
  s.v(1, 63) = qnan;
  run(s);
  for (unsigned l = 0; l < 63; ++l) {
    float sorted[] = {f32(s.v(0, l)), f32(s.v(1, l)), f32(s.v(2, l))};
    std::ranges::sort(sorted);
    EXPECT_EQ(f32(s.v(10, l)), sorted[0]);
    EXPECT_EQ(f32(s.v(11, l)), sorted[2]);
    EXPECT_EQ(f32(s.v(12, l)), sorted[1]);
    EXPECT_EQ(f32(s.v(13, l)), sorted[0]);
    EXPECT_EQ(f32(s.v(14, l)), sorted[2]);
  }
  EXPECT_EQ(f32(s.v(12, 63)), std::min(f32(s.v(0, 63)), f32(s.v(2, 63))));
  EXPECT_TRUE(std::isnan(f32(s.v(13, 63))));
  EXPECT_TRUE(std::isnan(f32(s.v(14, 63))));
}

TEST(VectorFloat, MedianWhereOnlyResultsAreFlushed) {
  Snippet s = snippet("gfx942", "v_med3_f32 v10, v0, v1, v2");
  s.v(0, 0) = bits32(-2), s.v(1, 0) = 0x8000'0123, s.v(2, 0) = bits32(-3);
  run_in_mode(s, FloatMode::usual & ~0x20U);
  EXPECT_EQ(f32(s.v(10, 0)), -2.0F);
}

TEST(VectorFloat, ClampAndOutputModifiers) {
  Snippet s = snippet("gfx942", "v_add_f32_e64 v10, v0, 0 clamp\nv_add_f32_e64 v11, v0, 0 mul:4\n"
                                "v_mul_f32_e64 v12, v0, 1.0 clamp div:2");
  const float given[] = {-1, 0.25F, 3, std::nanf("")};
  for (unsigned l = 0; l < 4; ++l) s.v(0, l) = bits32(given[l]);
  constexpr uint32_t no_denormals_no_ieee = 0x100;
  run_in_mode(s, no_denormals_no_ieee); // DX10_CLAMP
  EXPECT_EQ(f32(s.v(10, 0)), 0.0F);
  EXPECT_EQ(f32(s.v(10, 1)), 0.25F);
  EXPECT_EQ(f32(s.v(10, 2)), 1.0F);
  EXPECT_EQ(f32(s.v(10, 3)), 0.0F);
  EXPECT_EQ(f32(s.v(11, 2)), 12.0F);
  EXPECT_EQ(f32(s.v(12, 1)), 0.125F);
  run_in_mode(s, 0);
  EXPECT_TRUE(std::isnan(f32(s.v(10, 3))));
}

TEST(VectorFloat, LdexpAndFrexp) {
  Snippet s =
      snippet("gfx942", "v_ldexp_f32 v10, v0, v1\nv_frexp_mant_f32 v11, v0\nv_frexp_exp_i32_f32 v12, v0\n"
                        "v_fract_f32 v13, v0");
  Operands o(4);
  for (int round = 0; round < 100; ++round) {
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(0, l) = o.next32();
      s.v(1, l) = static_cast<uint32_t>(static_cast<int32_t>(o.raw() % 600) - 300);
    }
    s.v(1, 0) = 0x7fff'ffff;
    s.v(1, 1) = 0x8000'0000;
    run_in_mode(s, FloatMode::usual);
    for (unsigned l = 0; l < lanes; ++l) {
      const float x = f32(s.v(0, l));
      const auto n = static_cast<int32_t>(s.v(1, l));
      EXPECT_TRUE(same32(s.v(10, l), bits32(std::ldexp(x, n)))) << x << " * 2^" << n;
      int exponent = 0;
      const float mantissa = std::frexp(x, &exponent);
      EXPECT_TRUE(same32(s.v(11, l), bits32(mantissa))) << x;
      EXPECT_EQ(static_cast<int>(s.v(12, l)), std::isfinite(x) ? exponent : 0) << x;
      if (std::isfinite(x)) {
        EXPECT_EQ(f32(s.v(13, l)), std::min(x - std::floor(x), f32(0x3f7f'ffff))) << x;
      }
    }
  }
}

TEST(VectorFloat, MadFlushesAlways) {
  Snippet s = snippet(
      "gfx90a",
      "v_mad_f32 v10, v0, v1, v2\nv_mad_legacy_f32 v11, v3, v4, v1\nv_madmk_f32 v12, v0, 0x40000000, v1\n"
      "v_mac_f32 v13, v1, v1");
  s.v(0, 0) = 1; // denormal
  s.v(1, 0) = one;
  s.v(2, 0) = 0;
  s.v(3, 0) = infinity;
  s.v(4, 0) = 0;
  s.v(13, 0) = two;
  run(s);
  EXPECT_EQ(s.v(10, 0), 0U);
  EXPECT_EQ(s.v(11, 0), one); // 0 * Inf is 0
  EXPECT_EQ(s.v(12, 0), one);
  EXPECT_EQ(s.v(13, 0), bits32(3));
}

} // namespace
} // namespace asmevo::emulator
