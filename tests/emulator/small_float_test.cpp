#include "float_lanes.h"

namespace asmevo::emulator {
namespace {

// A format by its definition.
struct Format {
  std::string_view name;
  int exponent_bits, mantissa_bits, bias;
  enum Kind { Fnuz, Ocp, Ieee, Finite } kind;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  unsigned sign() const { return 1U << (bits() - 1); }
  double value(unsigned code) const {
    const unsigned size = code & (sign() - 1), mantissa = size & ((1U << mantissa_bits) - 1);
    const int exponent = static_cast<int>(size >> mantissa_bits);
    const double s = (code & sign()) != 0 ? -1 : 1;
    if (kind == Fnuz && code == sign()) return std::nan("");
    if (kind == Ocp && size == sign() - 1) return std::nan("");
    if (kind == Ieee && exponent == (1 << exponent_bits) - 1)
      return mantissa != 0 ? std::nan("") : s * INFINITY;
    const double digits = mantissa + (exponent != 0 ? 1U << mantissa_bits : 0U);
    return s * std::ldexp(digits, std::max(exponent, 1) - bias - mantissa_bits);
  }
  unsigned largest() const {
    unsigned code = sign() - 1;
    while (!std::isfinite(value(code))) --code;
    return code;
  }
  bool is_nan(unsigned code) const { return std::isnan(value(code)); }
  /// The nearest code, an even one of two, by looking at all; what is beyond rounds as if the exponent went
  /// on.
  unsigned nearest(double x, bool saturate) const {
    const unsigned s = std::signbit(x) ? sign() : 0;
    const unsigned nan_code = kind == Fnuz ? sign() : kind == Ocp ? (sign() - 1) | s : (sign() - 1) | s;
    if (std::isnan(x)) return kind == Finite ? largest() | s : nan_code;
    const unsigned beyond = kind == Ieee
                                ? static_cast<unsigned>((1 << exponent_bits) - 1) << mantissa_bits | s
                            : kind == Finite ? largest() | s
                                             : nan_code;
    if (std::isinf(x)) return beyond;
    const double size = std::fabs(x);
    const double top = value(largest()), next = top + (top - value(largest() - 1));
    // Half way to the next number goes to the even code: that is the next one where the largest is odd.
    const double limit = (top + next) / 2;
    if (size > limit || (size == limit && largest() % 2 != 0)) return saturate ? largest() | s : beyond;
    unsigned best = 0;
    for (unsigned code = 0; code <= largest(); ++code) {
      const double distance = std::fabs(value(code) - size), least = std::fabs(value(best) - size);
      if (distance < least || (distance == least && code % 2 == 0)) best = code;
    }
    return best == 0 && kind == Fnuz ? 0 : best | s;
  }
};

constexpr Format fp8_fnuz{"fp8", 4, 3, 8, Format::Fnuz}, bf8_fnuz{"bf8", 5, 2, 16, Format::Fnuz},
    fp8_ocp{"fp8", 4, 3, 7, Format::Ocp}, bf8_ocp{"bf8", 5, 2, 15, Format::Ieee},
    fp6{"fp6", 2, 3, 1, Format::Finite}, bf6{"bf6", 3, 2, 3, Format::Finite},
    fp4{"fp4", 2, 1, 1, Format::Finite};

struct Target {
  std::string_view gpu;
  const Format& format;
};
const Target eight_bits[] = {
    {"gfx942", fp8_fnuz}, {"gfx942", bf8_fnuz}, {"gfx950", fp8_ocp}, {"gfx950", bf8_ocp}};

std::string named(std::string text, std::string_view format) {
  for (size_t at; (at = text.find("FMT")) != std::string::npos;) text.replace(at, 3, format);
  return text;
}

TEST(SmallFloat, DecodesEveryByte) {
  for (const auto& [gpu, format] : eight_bits) {
    Snippet s = snippet(
        gpu, named("v_cvt_f32_FMT v10, v0\nv_cvt_f32_FMT_sdwa v11, v0 src0_sel:BYTE_2\n"
                   "v_cvt_pk_f32_FMT v[12:13], v0\nv_cvt_pk_f32_FMT_sdwa v[14:15], v0 src0_sel:WORD_1",
                   format.name));
    for (unsigned first = 0; first < 256; first += lanes) {
      for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = (first + l) * 0x0001'0001U | 0x3800'4000U;
      run_in_mode(s, FloatMode::usual);
      for (unsigned l = 0; l < lanes; ++l) {
        const auto value = [&](unsigned code) { return bits32(static_cast<float>(format.value(code))); };
        EXPECT_TRUE(same32(s.v(10, l), value(first + l))) << first + l;
        EXPECT_TRUE(same32(s.v(11, l), value(first + l))) << first + l;
        EXPECT_TRUE(same32(s.v(12, l), value(first + l)));
        EXPECT_TRUE(same32(s.v(13, l), value(0x40)));
        EXPECT_TRUE(same32(s.v(14, l), value(first + l)));
        EXPECT_TRUE(same32(s.v(15, l), value(0x38)));
      }
    }
  }
}

// Numbers on, between and half way between the format's, and beyond.
double sample(Operands& o, const Format& f, unsigned l) {
  const unsigned code = static_cast<unsigned>(o.raw()) % f.largest();
  const double a = f.value(code), b = f.value(code + 1);
  const double sign = o.raw() % 2 == 0 ? 1 : -1;
  switch (l % 6) {
  case 0: return sign * a;
  case 1: return sign * (a + b) / 2;
  case 2: return sign * static_cast<double>(static_cast<float>(a + (b - a) * 0.501));
  case 3: return sign * static_cast<double>(static_cast<float>(a + (b - a) * 0.499));
  case 4:
    return sign * f.value(f.largest()) *
           static_cast<double>(static_cast<float>(0.9 + static_cast<double>(o.raw() % 1000) / 2000));
  default: return l == 5 ? INFINITY * sign : l == 11 ? std::nan("") : l == 17 ? 0 * sign : sign * 1e-30;
  }
}

TEST(SmallFloat, PacksToNearest) {
  Operands o(1);
  for (const auto& [gpu, format] : eight_bits) {
    Snippet s = snippet(
        gpu, named("v_cvt_pk_FMT_f32 v10, v0, v1\nv_cvt_pk_FMT_f32 v11, v1, v0 op_sel:[0,0,1]", format.name));
    for (int round = 0; round < 40; ++round)
      for (const bool saturate : {false, true}) {
        for (unsigned l = 0; l < lanes; ++l) {
          for (unsigned row : {0U, 1U}) s.v(row, l) = bits32(static_cast<float>(sample(o, format, l)));
          s.v(10, l) = s.v(11, l) = 0xabcd'ef12;
        }
        run_in_mode(s, mode_rounding(1, 2) | (saturate ? 1U << 23 : 0)); // MODE's direction does not matter
        for (unsigned l = 0; l < lanes; ++l) {
          const double a = f32(s.v(0, l)), b = f32(s.v(1, l));
          const auto same = [&](unsigned code, double x) {
            return code == format.nearest(x, saturate) ||
                   (format.is_nan(code) && format.is_nan(format.nearest(x, saturate)));
          };
          EXPECT_TRUE(same(s.v(10, l) & 0xff, a)) << gpu << format.name << a << " " << std::hex << s.v(10, l);
          EXPECT_TRUE(same(s.v(10, l) >> 8 & 0xff, b)) << gpu << format.name << b;
          EXPECT_TRUE(same(s.v(11, l) >> 16 & 0xff, b)) << gpu << format.name << b;
          EXPECT_EQ(s.v(10, l) >> 16, 0xabcdU);
          EXPECT_EQ(s.v(11, l) & 0xffff, 0xef12U);
        }
      }
  }
}

// Over seeds that go evenly through their upper bits, the share that rounds up is the fraction that is cut
// off.
TEST(SmallFloat, StochasticRoundingIsFair) {
  for (const auto& [gpu, format] : eight_bits) {
    Snippet s = snippet(gpu, named("v_cvt_sr_FMT_f32 v10, v0, v1 op_sel:[0,0,1,0]", format.name));
    for (const unsigned code : {3U, 0x21U, 0x45U}) { // the first is denormal
      const double a = format.value(code), b = format.value(code + 1);
      for (const double share : {0.0, 0.25, 0.6875}) {
        const float x = static_cast<float>(-(a + (b - a) * share));
        unsigned up = 0;
        constexpr unsigned steps = 64;
        for (unsigned l = 0; l < lanes; ++l) {
          s.v(0, l) = bits32(x);
          s.v(1, l) = l << 26;
          s.v(10, l) = 0x7777'7777;
        }
        run_in_mode(s, FloatMode::usual);
        for (unsigned l = 0; l < lanes; ++l) {
          const unsigned got = s.v(10, l) >> 8 & 0xff;
          EXPECT_EQ(s.v(10, l) & 0xffff'00ff, 0x7777'0077U);
          EXPECT_TRUE(got == (code | 0x80) || got == ((code + 1) | 0x80)) << std::hex << got;
          up += got == ((code + 1) | 0x80) ? 1 : 0;
        }
        EXPECT_EQ(up, static_cast<unsigned>(share * steps)) << gpu << format.name << code;
      }
    }
  }
}

TEST(SmallFloat, Bf16) {
  Snippet s = snippet("gfx950", "v_cvt_pk_bf16_f32 v10, v0, v1\nv_cvt_f32_bf16 v11, v0\n"
                                "v_cvt_sr_bf16_f32 v12, v0, v2 op_sel:[0,0,1]\nv_cvt_sr_f16_f32 v13, v3, v2");
  Operands o(4);
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = o.next32();
    s.v(1, l) = l < 8 ? 0x3f80'8000 + (l << 16) : o.next32(); // ties
    s.v(2, l) = l << 26;
    s.v(3, l) = bits32(1 + 0x1p-11F);
    s.v(12, l) = s.v(13, l) = 0x5555'5555;
  }
  s.v(0, 0) = 0x3f80'4000; // a quarter of the way
  for (unsigned l = 1; l < lanes; l += 2) s.v(0, l) = 0x3f80'4000;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const auto nearest = [](uint32_t bits) {
      return std::isnan(f32(bits)) ? 0x7fc0U : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    };
    EXPECT_TRUE(same32(s.v(10, l) << 16, nearest(s.v(0, l)) << 16)) << l;
    EXPECT_TRUE(same32(s.v(10, l) & 0xffff'0000, nearest(s.v(1, l)) << 16)) << l;
    EXPECT_EQ(s.v(11, l), s.v(0, l) << 16);
    EXPECT_EQ(s.v(12, l) & 0xffff, 0x5555U);
    if (l % 2 == 1) {
      EXPECT_EQ(s.v(12, l) >> 16, l >= 48 ? 0x3f81U : 0x3f80U) << l;
    }
    EXPECT_EQ(s.v(13, l), 0x5555'0000U | (l >= 32 ? 0x3c01U : 0x3c00U));
  }
}

TEST(SmallFloat, ScaledPairs) {
  Operands o(5);
  for (const Format* f : {&fp8_ocp, &bf8_ocp, &fp4}) {
    const bool four = f == &fp4;
    const std::string select = four ? "op_sel:[0,0,1,1]" : "op_sel:[0,0,0,1]",
                      from = four ? "op_sel:[1,1,0]" : "op_sel:[1,0,0]";
    Snippet s = snippet("gfx950", named("v_cvt_scalef32_pk_FMT_f32 v10, v0, v1, v2 " + select +
                                            "\nv_cvt_scalef32_pk_f32_FMT v[12:13], v10, v2 " + from +
                                            "\nv_cvt_scalef32_pk_bf16_FMT v14, v10, v2 " + from +
                                            "\nv_cvt_scalef32_pk_f16_FMT v15, v10, v3 " + from,
                                        f->name));
    for (int round = 0; round < 20; ++round) {
      for (unsigned l = 0; l < lanes; ++l) {
        const int scale = static_cast<int>(o.raw() % 60) - 30;
        for (unsigned row : {0U, 1U})
          s.v(row, l) = bits32(static_cast<float>(std::ldexp(sample(o, *f, l), scale)));
        s.v(2, l) = bits32(std::ldexp(1.75F, scale)); // only the exponent counts
        s.v(3, l) = bits32(0.5F);
        s.v(10, l) = 0x1234'5678;
      }
      run_in_mode(s, FloatMode::usual);
      for (unsigned l = 0; l < lanes; ++l) {
        const double scale = std::ldexp(1.0, std::ilogb(f32(s.v(2, l))));
        const unsigned mask = (1U << f->bits()) - 1;
        const unsigned low = s.v(10, l) >> (four ? 24 : 16) & mask,
                       high = s.v(10, l) >> (four ? 28 : 24) & mask;
        const auto same = [&](unsigned code, double x) {
          const unsigned expected = f->nearest(x / scale, false);
          return code == expected || (f->is_nan(code) && f->is_nan(expected));
        };
        EXPECT_TRUE(same(low, f32(s.v(0, l)))) << f->name << f32(s.v(0, l)) / scale;
        EXPECT_TRUE(same(high, f32(s.v(1, l)))) << f->name << f32(s.v(1, l)) / scale;
        EXPECT_EQ(s.v(10, l) & 0xffff, 0x5678U);
        const float decoded = static_cast<float>(f->value(low) * scale);
        EXPECT_TRUE(same32(s.v(12, l), bits32(decoded)));
        EXPECT_TRUE(same32(s.v(13, l), bits32(static_cast<float>(f->value(high) * scale))));
        EXPECT_TRUE(same32(s.v(14, l) << 16, bits32(decoded))); // few bits: exact
        EXPECT_TRUE(same16(s.v(15, l), reference_half(f->value(low) * 0.5)));
      }
    }
  }
}

// 32 numbers there and back; halves in, f32 out.
TEST(SmallFloat, ThirtyTwoOfSixBits) {
  Operands o(6);
  for (const Format* f : {&fp6, &bf6}) {
    Snippet s = snippet("gfx950", named("v_cvt_scalef32_pk32_FMT_f16 v[40:45], v[0:15], v20\n"
                                        "v_cvt_scalef32_pk32_f32_FMT v[50:81], v[40:45], v20\n"
                                        "v_cvt_scalef32_2xpk16_FMT_f32 v[90:95], v[50:65], v[66:81], v20\n"
                                        "v_cvt_scalef32_sr_pk32_FMT_f32 v[96:101], v[50:81], v21, v20\n"
                                        "v_cvt_scalef32_pk32_bf16_FMT v[110:125], v[40:45], v20",
                                        f->name));
    for (unsigned l = 0; l < lanes; ++l) {
      for (unsigned row = 0; row < 16; ++row) {
        const auto one = [&](unsigned n) {
          return uint32_t{reference_half(std::ldexp(sample(o, *f, n), 3))};
        };
        s.v(row, l) = one(row) | one(row + l) << 16;
      }
      s.v(20, l) = bits32(8);
      s.v(21, l) = static_cast<uint32_t>(o.raw());
    }
    run(s);
    const auto code = [&](unsigned row, unsigned item, unsigned l) {
      const uint64_t pair = s.v(row + item * 6 / 32, l) |
                            uint64_t{item * 6 / 32 < 5 ? s.v(row + item * 6 / 32 + 1, l) : 0} << 32;
      return static_cast<unsigned>(pair >> (item * 6 % 32) & 63);
    };
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned item = 0; item < 32; ++item) {
        const double x = half_value(static_cast<uint16_t>(s.v(item / 2, l) >> (item % 2 * 16)));
        const unsigned got = code(40, item, l);
        EXPECT_EQ(got, f->nearest(x / 8, false)) << f->name << x / 8;
        EXPECT_EQ(f32(s.v(50 + item, l)), static_cast<float>(f->value(got) * 8));
        EXPECT_EQ(code(90, item, l), code(40, item % 2 * 16 + item / 2, l)); // two sources in turns
        EXPECT_EQ(code(96, item, l), got);                                   // exact: no seed can move it
        EXPECT_EQ(s.v(110 + item / 2, l) >> (item % 2 * 16) & 0xffff, s.v(50 + item, l) >> 16);
      }
  }
}

TEST(SmallFloat, ScaleOfAllOnesIsNan) {
  Snippet s = snippet(
      "gfx950", "v_cvt_scalef32_f32_fp8 v10, v0, v1\nv_cvt_scalef32_f16_bf8 v11, v0, v2 op_sel:[1,0,1]");
  s.v(0, 0) = 0x3c38; // bf8 1, fp8 1
  s.v(1, 0) = 0x7f80'0000;
  s.v(2, 0) = bits32(4);
  s.v(11, 0) = 0x9999'9999;
  run(s);
  EXPECT_TRUE(std::isnan(f32(s.v(10, 0))));
  EXPECT_EQ(s.v(11, 0), 0x4400'9999U);
}

} // namespace
} // namespace asmevo::emulator
