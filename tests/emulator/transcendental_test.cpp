#include "float_lanes.h"

#include <numbers>

namespace asmevo::emulator {
namespace {

using Exact = long double (*)(long double);
constexpr long double pi = std::numbers::pi_v<long double>;

long double reciprocal(long double x) {
  return 1 / x;
}
long double reciprocal_root(long double x) {
  return 1 / std::sqrt(x);
}
long double root(long double x) {
  return std::sqrt(x);
}
long double power(long double x) {
  return std::exp2(x);
}
long double logarithm(long double x) {
  return std::log2(x);
}
// Reduced in revolutions, where that is exact.
long double sine(long double x) {
  return std::sin(2 * pi * (x - std::nearbyint(x)));
}
long double cosine(long double x) {
  return std::cos(2 * pi * (x - std::nearbyint(x)));
}

// Distance in units of the last place that `got` has at the exact value.
long double ulps(float got, long double exact) {
  const int exponent = std::max(std::ilogb(static_cast<double>(exact)), -126);
  return std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, exponent - 23);
}

struct Function {
  std::string_view text;
  Exact exact;
  int low, high; // exponents of the operands
  bool positive;
  long double most_ulps;
};
constexpr Function functions[] = {
    {"v_rcp_f32 v1, v0", reciprocal, -125, 125, false, 0.5L},
    {"v_rcp_iflag_f32 v1, v0", reciprocal, -125, 125, false, 0.5L},
    {"v_rsq_f32 v1, v0", reciprocal_root, -126, 127, true, 0.51L},
    {"v_sqrt_f32 v1, v0", root, -126, 127, true, 0.5L},
    {"v_exp_f32 v1, v0", power, -20, 6, false, 0.51L},
    {"v_exp_legacy_f32 v1, v0", power, -20, 6, false, 0.51L},
    {"v_log_f32 v1, v0", logarithm, -126, 127, true, 0.51L},
    {"v_log_legacy_f32 v1, v0", logarithm, -1, 1, true, 0.51L},
    {"v_sin_f32 v1, v0", sine, -60, 7, false, 0.51L},
    {"v_cos_f32 v1, v0", cosine, -60, 7, false, 0.51L},
};

TEST(Transcendental, F32IsRoundedToNearest) {
  Operands o(1);
  for (const Function& f : functions) {
    Snippet s = snippet("gfx942", f.text);
    for (int round = 0; round < 1000; ++round) {
      for (unsigned l = 0; l < lanes; ++l) {
        const float x = o.within(f.low, f.high);
        s.v(0, l) = bits32(f.positive ? std::fabs(x) : x);
      }
      run_in_mode(s, round % 2 == 0 ? FloatMode::usual
                                    : mode_rounding(1, 2)); // MODE's direction does not matter
      for (unsigned l = 0; l < lanes; ++l) {
        const long double exact = f.exact(f32(s.v(0, l)));
        if (std::fabs(exact) < 0x1p-126L) continue;
        ASSERT_LE(ulps(f32(s.v(1, l)), exact), f.most_ulps)
            << f.text << " of " << std::hexfloat << f32(s.v(0, l)) << " got " << f32(s.v(1, l));
      }
    }
  }
}

struct Special {
  std::string_view text;
  uint32_t operand, result;
};
constexpr uint32_t inf = 0x7f80'0000, minus_inf = 0xff80'0000, nan = 0x7fc0'0000, one = 0x3f80'0000,
                   half = 0x3f00'0000, minus_zero = 0x8000'0000, minus_one = 0xbf80'0000;
constexpr Special specials[] = {
    {"v_rcp_f32 v1, v0", 0, inf},
    {"v_rcp_f32 v1, v0", minus_zero, minus_inf},
    {"v_rcp_f32 v1, v0", inf, 0},
    {"v_rcp_f32 v1, v0", minus_inf, minus_zero},
    {"v_rcp_f32 v1, v0", 1, inf},         // denormals count as zero
    {"v_rcp_f32 v1, v0", 0x7f00'0000, 0}, // and so do denormal results
    {"v_rcp_f32 v1, v0", 0x7f80'0001, nan},
    {"v_rsq_f32 v1, v0", minus_one, nan},
    {"v_rsq_f32 v1, v0", 0, inf},
    {"v_rsq_f32 v1, v0", minus_zero, minus_inf},
    {"v_rsq_f32 v1, v0", inf, 0},
    {"v_sqrt_f32 v1, v0", minus_zero, minus_zero},
    {"v_sqrt_f32 v1, v0", minus_one, nan},
    {"v_sqrt_f32 v1, v0", inf, inf},
    {"v_exp_f32 v1, v0", minus_inf, 0},
    {"v_exp_f32 v1, v0", inf, inf},
    {"v_exp_f32 v1, v0", 0x4300'0000, inf}, // 128
    {"v_exp_f32 v1, v0", 0xc2fe'0000, 0},   // -127
    {"v_exp_f32 v1, v0", minus_zero, one},
    {"v_exp_f32 v1, v0", minus_one, half},
    {"v_exp_f32 v1, v0", 0xffc0'0123, nan},
    {"v_log_f32 v1, v0", 0, minus_inf},
    {"v_log_f32 v1, v0", minus_zero, minus_inf},
    {"v_log_f32 v1, v0", one, 0},
    {"v_log_f32 v1, v0", minus_one, nan},
    {"v_log_f32 v1, v0", inf, inf},
    {"v_log_f32 v1, v0", nan, nan},
    {"v_log_f32 v1, v0", 0x0080'0000, 0xc2fc'0000}, // -126
    {"v_sin_f32 v1, v0", minus_zero, minus_zero},
    {"v_sin_f32 v1, v0", 0x3e80'0000, one}, // a quarter
    {"v_sin_f32 v1, v0", half, 0},
    {"v_sin_f32 v1, v0", 0x4380'4000, 0}, // 256.5: out of range
    {"v_sin_f32 v1, v0", 0x43a0'2000, 0},
    {"v_sin_f32 v1, v0", inf, nan},
    {"v_cos_f32 v1, v0", 0, one},
    {"v_cos_f32 v1, v0", half, minus_one},
    {"v_cos_f32 v1, v0", 0x4380'4000, one},
    {"v_cos_f32 v1, v0", minus_inf, nan},
};

TEST(Transcendental, SpecialOperands) {
  for (const Special& c : specials) {
    Snippet s = snippet("gfx942", c.text);
    s.v(0, 0) = c.operand;
    run(s);
    EXPECT_TRUE(same32(s.v(1, 0), c.result))
        << c.text << " of " << std::hex << c.operand << " gave " << s.v(1, 0);
  }
}

// All f16 operands; denormal results are results there.
TEST(Transcendental, F16WithinOneUlp) {
  struct Half {
    std::string_view text;
    Exact exact;
    bool periodic;
  };
  constexpr Half halves[] = {
      {"v_rcp_f16 v1, v0", reciprocal, false}, {"v_rsq_f16 v1, v0", reciprocal_root, false},
      {"v_sqrt_f16 v1, v0", root, false},      {"v_exp_f16 v1, v0", power, false},
      {"v_log_f16 v1, v0", logarithm, false},  {"v_sin_f16 v1, v0", sine, true},
      {"v_cos_f16 v1, v0", cosine, true},
  };
  for (const Half& f : halves) {
    Snippet s = snippet("gfx942", f.text);
    for (unsigned first = 0; first < 0x10000; first += lanes) {
      for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = first + l;
      run_in_mode(s, FloatMode::usual);
      for (unsigned l = 0; l < lanes; ++l) {
        const double x = half_value(static_cast<uint16_t>(first + l));
        if (f.periodic && std::fabs(x) > 256) continue;
        const auto exact = static_cast<double>(f.exact(x));
        const uint16_t expected = reference_half(exact);
        if (same16(s.v(1, l), expected)) continue;
        const double step = std::ldexp(1.0, std::max(std::ilogb(exact), -14) - 10);
        ASSERT_LE(std::fabs(half_value(static_cast<uint16_t>(s.v(1, l))) - exact), step)
            << f.text << " of " << x;
      }
    }
  }
}

// The reduction to a part of a turn must not depend on MODE's direction.
TEST(Transcendental, F16InEveryDirection) {
  Snippet s = snippet("gfx942", "v_sin_f16 v1, v0\nv_cos_f16 v2, v0\nv_exp_f16 v3, v0");
  for (unsigned direction = 0; direction < 4; ++direction)
    for (unsigned first = 0; first < 0x10000; first += lanes) {
      for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = first + l;
      run_in_mode(s, mode_rounding(0, direction));
      for (unsigned l = 0; l < lanes; ++l) {
        const double x = half_value(static_cast<uint16_t>(first + l));
        if (std::isinf(x)) {
          ASSERT_EQ(s.v(3, l), x > 0 ? 0x7c00U : 0U);
        }
        if (!(std::fabs(x) < 14)) continue;
        const auto check = [&](unsigned row, double exact) {
          const double step = std::ldexp(1.0, std::max(exact == 0 ? -14 : std::ilogb(exact), -14) - 10);
          ASSERT_LE(std::fabs(half_value(static_cast<uint16_t>(s.v(row, l))) - exact), 1.001 * step)
              << "v" << row << " of " << x << " direction " << direction;
        };
        check(1, static_cast<double>(sine(x)));
        check(2, static_cast<double>(cosine(x)));
        check(3, std::exp2(x));
      }
    }
}

TEST(Transcendental, F64) {
  Snippet s =
      snippet("gfx942", "v_rcp_f64 v[2:3], v[0:1]\nv_rsq_f64 v[4:5], v[0:1]\nv_sqrt_f64 v[6:7], v[0:1]");
  Operands o(2);
  for (unsigned l = 0; l < lanes; ++l) s.set_v64(0, l, o.next64() & ~(uint64_t{1} << 63));
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const double x = f64(s.v64(0, l));
    EXPECT_TRUE(same64(s.v64(2, l), bits64(1 / x)));
    EXPECT_TRUE(same64(s.v64(6, l), bits64(std::sqrt(x))));
    const auto exact = static_cast<double>(1 / std::sqrt(static_cast<long double>(x)));
    if (std::isfinite(exact) && exact != 0) {
      EXPECT_NEAR(f64(s.v64(4, l)) / exact, 1, 0x1p-52) << x;
    }
  }
}

} // namespace
} // namespace asmevo::emulator
