// Packed instructions, halves chosen and negated; f16 results against one rounding of the exact value.
#include "float_lanes.h"

namespace asmevo::emulator {
namespace {

uint32_t half_of(uint32_t v, unsigned upper) {
  return v >> (16 * upper) & 0xffff;
}

void fill(Snippet& s, unsigned seed, unsigned rows = 6) {
  Operands operands(seed);
  constexpr uint16_t edges[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x7bff, 0xfbff,
                                0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3c00, 0xbc00, 0x7fff, 0xffff};
  const auto half = [&]() -> uint32_t {
    return operands.raw() % 4 == 0 ? edges[operands.raw() % std::size(edges)] : operands.next16();
  };
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned l = 0; l < lanes; ++l) s.v(row, l) = half() | half() << 16;
}

// --- Integers

struct Integer {
  std::string_view name;
  bool is_signed, three;
  int64_t (*exact)(int64_t, int64_t, int64_t);
};
constexpr Integer integers[] = {
    {"v_pk_add_u16", false, false, [](int64_t a, int64_t b, int64_t) { return a + b; }},
    {"v_pk_sub_u16", false, false, [](int64_t a, int64_t b, int64_t) { return a - b; }},
    {"v_pk_add_i16", true, false, [](int64_t a, int64_t b, int64_t) { return a + b; }},
    {"v_pk_sub_i16", true, false, [](int64_t a, int64_t b, int64_t) { return a - b; }},
    {"v_pk_mul_lo_u16", false, false, [](int64_t a, int64_t b, int64_t) { return a * b; }},
    {"v_pk_mad_u16", false, true, [](int64_t a, int64_t b, int64_t c) { return a * b + c; }},
    {"v_pk_mad_i16", true, true, [](int64_t a, int64_t b, int64_t c) { return a * b + c; }},
};

void check(const Integer& row, unsigned op_sel, unsigned op_sel_hi, bool clamp) {
  const auto list = [&](unsigned bits) {
    std::string text = "[" + std::to_string(bits & 1) + "," + std::to_string(bits >> 1 & 1);
    return text + (row.three ? "," + std::to_string(bits >> 2 & 1) + "]" : "]");
  };
  const std::string text = std::string(row.name) + " v10, v0, v1" + (row.three ? ", v2" : "") +
                           " op_sel:" + list(op_sel) + " op_sel_hi:" + list(op_sel_hi) +
                           (clamp ? " clamp" : "");
  Snippet s = snippet("gfx942", text);
  fill(s, op_sel * 8 + op_sel_hi);
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned upper = 0; upper < 2; ++upper) {
      const unsigned select = upper != 0 ? op_sel_hi : op_sel;
      int64_t v[3];
      for (unsigned i = 0; i < 3; ++i) {
        const uint32_t bits = half_of(s.v(i, l), select >> i & 1);
        v[i] = row.is_signed ? int64_t{static_cast<int16_t>(bits)} : int64_t{bits};
      }
      int64_t result = row.exact(v[0], v[1], v[2]);
      if (clamp)
        result = row.is_signed ? std::clamp<int64_t>(result, -32768, 32767)
                               : std::clamp<int64_t>(result, 0, 65535);
      EXPECT_EQ(half_of(s.v(10, l), upper), result & 0xffff) << text << " lane " << l;
    }
}

TEST(Packed, IntegersWithEveryChoiceOfHalves) {
  for (const Integer& row : integers)
    for (unsigned select = 0; select < 64; select += 7)
      for (const bool clamp : {false, true}) check(row, select & 7, select >> 3, clamp);
}

TEST(Packed, ShiftsAndConstants) {
  Snippet s = snippet("gfx942",
                      "v_pk_lshlrev_b16 v10, v0, v1\nv_pk_ashrrev_i16 v11, v0, v1\nv_pk_max_i16 v12, v1, -1\n"
                      "v_pk_add_u16 v13, v1, 3\nv_pk_add_u16 v14, v1, 3 op_sel_hi:[1,0]");
  fill(s, 4);
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned upper = 0; upper < 2; ++upper) {
      const uint32_t a = half_of(s.v(0, l), upper), b = half_of(s.v(1, l), upper);
      EXPECT_EQ(half_of(s.v(10, l), upper), b << a % 16 & 0xffff);
      EXPECT_EQ(half_of(s.v(11, l), upper), (static_cast<int16_t>(b) >> a % 16) & 0xffff);
      EXPECT_EQ(half_of(s.v(12, l), upper),
                static_cast<int16_t>(b) < 0 ? 0xffff : b);                        // -1 is -1 in both halves
      EXPECT_EQ(half_of(s.v(13, l), upper), (b + (upper != 0 ? 0 : 3)) & 0xffff); // 3 has zeros above
      EXPECT_EQ(half_of(s.v(14, l), upper), (b + 3) & 0xffff);
    }
}

// --- f16

// The exact value rounded to odd in 53 bits, for reference_half to round again.
double to_odd(long double exact) {
  auto d = static_cast<double>(exact);
  if (std::fabs(static_cast<long double>(d)) > std::fabs(exact)) d = std::nextafter(d, 0.0);
  if (static_cast<long double>(d) != exact && !std::isnan(d) && (bits64(d) & 1) == 0) d = f64(bits64(d) + 1);
  return d;
}

long double exact_half(uint32_t bits, bool flush = false) {
  const double v = half_value(static_cast<uint16_t>(bits));
  return flush && std::fabs(v) < 0x1p-14 ? std::copysign(0.0L, static_cast<long double>(v)) : v;
}

struct HalfCase {
  std::string_view text; // VDST is v10, sources v0 to v2
  long double (*exact)(long double, long double, long double);
};
constexpr HalfCase half_cases[] = {
    {"v_pk_add_f16 v10, v0, v1", [](long double a, long double b, long double) { return a + b; }},
    {"v_pk_mul_f16 v10, v0, v1", [](long double a, long double b, long double) { return a * b; }},
    {"v_pk_fma_f16 v10, v0, v1, v2", [](long double a, long double b, long double c) { return a * b + c; }},
};

// A sum that is exactly zero takes its sign from the direction; compare those by value.
bool same_half(uint32_t a, uint32_t b) {
  return same16(a, b) || ((a | b) & 0x7fff) == 0;
}

TEST(Packed, HalfArithmeticRoundsOnceInEveryDirection) {
  for (const HalfCase& c : half_cases)
    for (unsigned direction = 0; direction < 4; ++direction)
      for (unsigned seed = 0; seed < 40; ++seed) {
        Snippet s = snippet("gfx942", c.text);
        fill(s, seed);
        run_in_mode(s, mode_rounding(0, direction));
        for (unsigned l = 0; l < lanes; ++l)
          for (unsigned upper = 0; upper < 2; ++upper) {
            const auto source = [&](unsigned row) { return exact_half(half_of(s.v(row, l), upper)); };
            const uint16_t expected =
                reference_half(to_odd(c.exact(source(0), source(1), source(2))), direction);
            EXPECT_TRUE(same_half(half_of(s.v(10, l), upper), expected))
                << c.text << " direction " << direction << " lane " << l << std::hex << " " << s.v(0, l)
                << " " << s.v(1, l) << " " << s.v(2, l) << " gave " << s.v(10, l) << ", expected "
                << expected;
          }
      }
}

// 1025 + (0.5 - 2^-21): rounding to f32 first would make 1025.5 of it, a tie that goes to 1026.
TEST(Packed, FusedHalfIsNotRoundedTwice) {
  Snippet s = snippet("gfx942", "v_pk_fma_f16 v10, v0, v1, v2\nv_pk_fmac_f16 v2, v0, v1");
  s.v(0, 0) = 0x3c01'bc01; // 1 + 2^-10
  s.v(1, 0) = 0x37fe'37fe; // (1 - 2^-10) / 2
  s.v(2, 0) = 0x6401'e401;
  run(s);
  EXPECT_EQ(s.v(10, 0), 0x6401'e401U);
  EXPECT_EQ(s.v(2, 0), 0x6401'e401U);
}

TEST(Packed, HalfDenormalsFlushWhereModeSaysSo) {
  Snippet s =
      snippet("gfx942", "v_pk_add_f16 v10, v0, v1\nv_pk_mul_f16 v11, v2, v3\nv_pk_max_f16 v12, v0, v0");
  s.v(0, 0) = 0x80010001;
  s.v(1, 0) = 0x00000400;                         // 2^-24 + 2^-14
  s.v(2, 0) = 0x84000400, s.v(3, 0) = 0x38003800; // 2^-14 * 0.5
  run_in_mode(s, 0x330);
  EXPECT_EQ(half_of(s.v(10, 0), 0), 0x400U);
  EXPECT_EQ(s.v(11, 0), 0x80000000U);
  EXPECT_EQ(s.v(12, 0), 0x80000000U);
  run_in_mode(s, 0x3f0);
  EXPECT_EQ(half_of(s.v(10, 0), 0), 0x401U);
  EXPECT_EQ(s.v(11, 0), 0x82000200U);
  EXPECT_EQ(s.v(12, 0), 0x80010001U);
}

TEST(Packed, HalfClampAndOverflow) {
  Snippet s =
      snippet("gfx942", "v_pk_add_f16 v10, v0, v1 clamp\nv_pk_mul_f16 v11, v2, v2\nv_pk_mul_f16 v12, v0, v3");
  s.v(0, 0) = 0x7e00c000; // NaN, -2
  s.v(1, 0) = 0x00000000;
  s.v(0, 1) = 0x40003800; // 2, 0.5
  s.v(2, 0) = 0xfbff7bff; // the largest
  s.v(2, 1) = 0x7c007c00;
  run(s);
  EXPECT_EQ(s.v(10, 0), 0U);
  EXPECT_EQ(s.v(10, 1), 0x3c003800U);
  EXPECT_EQ(s.v(11, 0), 0x7c007c00U);
  run_in_mode(s, 0x2f0 | 1U << 23); // no DX10_CLAMP, FP16_OVFL
  EXPECT_TRUE(half_nan(half_of(s.v(10, 0), 1)));
  EXPECT_EQ(half_of(s.v(10, 0), 0), 0U);
  EXPECT_EQ(s.v(11, 0), 0x7bff7bffU);
  EXPECT_EQ(s.v(11, 1), 0x7c007c00U); // infinity stays
}

TEST(Packed, SelectedInfinitiesAreNoOverflow) {
  Snippet s = snippet("gfx942", "v_pk_max_f16 v10, v0, v1\nv_pk_min_f16 v11, v0, v1");
  s.v(0, 0) = 0x7c00fc00, s.v(1, 0) = 0x3c003c00;
  run_in_mode(s, 0x3f0 | 1U << 23); // FP16_OVFL
  EXPECT_EQ(s.v(10, 0), 0x7c003c00U);
  EXPECT_EQ(s.v(11, 0), 0x3c00fc00U);
}

TEST(Packed, HalfMinimumAndMaximum) {
  Snippet s = snippet(
      "gfx950", "v_pk_min_f16 v10, v0, v1\nv_pk_max_f16 v11, v0, v1\nv_pk_minimum3_f16 v12, v0, v1, v2\n"
                "v_pk_maximum3_f16 v13, v0, v1, v2");
  fill(s, 21);
  s.v(0, 0) = 0x80000000, s.v(1, 0) = 0x00008000; // zeros of both signs
  run(s);
  EXPECT_EQ(s.v(10, 0), 0x80008000U);
  EXPECT_EQ(s.v(11, 0), 0U);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned upper = 0; upper < 2; ++upper) {
      const uint32_t x[] = {half_of(s.v(0, l), upper), half_of(s.v(1, l), upper), half_of(s.v(2, l), upper)};
      const auto signalling = [](uint32_t v) { return half_nan(v) && (v & 0x200) == 0; };
      const auto value = [](uint32_t v) { return half_value(static_cast<uint16_t>(v)); };
      const double least = std::fmin(value(x[0]), value(x[1])), most = std::fmax(value(x[0]), value(x[1]));
      if (signalling(x[0]) || signalling(x[1]) || std::isnan(least)) {
        EXPECT_TRUE(half_nan(half_of(s.v(10, l), upper)) && (half_of(s.v(10, l), upper) & 0x200) != 0);
        EXPECT_TRUE(half_nan(half_of(s.v(11, l), upper)));
      } else {
        EXPECT_EQ(value(half_of(s.v(10, l), upper)), least);
        EXPECT_EQ(value(half_of(s.v(11, l), upper)), most);
      }
      const bool any_nan = half_nan(x[0]) || half_nan(x[1]) || half_nan(x[2]);
      const double third = value(x[2]);
      EXPECT_EQ(half_nan(half_of(s.v(12, l), upper)), any_nan);
      if (any_nan) continue;
      EXPECT_EQ(value(half_of(s.v(12, l), upper)), std::fmin(least, third));
      EXPECT_EQ(value(half_of(s.v(13, l), upper)), std::fmax(most, third));
    }
}

TEST(Packed, AccumulatesIntoTheDestination) {
  Snippet s = snippet("gfx942", "v_pk_fmac_f16 v2, v0, v1");
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = 0x40003c00, s.v(1, l) = 0x42004000, s.v(2, l) = 0x3c003800;
  s.wave().set_exec(1);
  run(s);
  EXPECT_EQ(s.v(2, 0), 0x47004100U); // 2 * 3 + 1, 1 * 2 + 0.5
  EXPECT_EQ(s.v(2, 1), 0x3c003800U);
}

TEST(Packed, PackTakesHalvesAsTheyAre) {
  Snippet s = snippet("gfx942", "v_pack_b32_f16 v10, v0, v1\nv_pack_b32_f16 v11, -v0, |v1| op_sel:[1,1,0]");
  s.v(0, 0) = 0x1234'8001, s.v(1, 0) = 0x9876'7c01;
  run(s);
  EXPECT_EQ(s.v(10, 0), 0x7c01'8001U);
  EXPECT_EQ(s.v(11, 0), 0x1876'9234U);
}

// --- Pairs of f32

TEST(Packed, FloatPairsChooseRegistersAndSigns) {
  for (unsigned select = 0; select < 64; ++select) {
    const auto list = [](unsigned bits) {
      return "[" + std::to_string(bits & 1) + "," + std::to_string(bits >> 1 & 1) + "," +
             std::to_string(bits >> 2 & 1) + "]";
    };
    const unsigned low = select & 7, high = select >> 3, neg_low = select * 5 & 7, neg_high = select * 3 & 7;
    Snippet s = snippet("gfx942", "v_pk_fma_f32 v[10:11], v[0:1], s[2:3], v[4:5] op_sel:" + list(low) +
                                      " op_sel_hi:" + list(high) + " neg_lo:" + list(neg_low) +
                                      " neg_hi:" + list(neg_high));
    Operands operands(select);
    for (unsigned row = 0; row < 6; ++row)
      for (unsigned l = 0; l < lanes; ++l) s.v(row, l) = bits32(operands.within(-3, 3));
    s.s(2) = bits32(1.5F), s.s(3) = bits32(-2.25F);
    run(s);
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned upper = 0; upper < 2; ++upper) {
        const unsigned sel = upper != 0 ? high : low, neg = upper != 0 ? neg_high : neg_low;
        const auto source = [&](unsigned i, float first, float second) {
          const float v = (sel >> i & 1) != 0 ? second : first;
          return (neg >> i & 1) != 0 ? -v : v;
        };
        const float expected = std::fma(source(0, f32(s.v(0, l)), f32(s.v(1, l))), source(1, 1.5F, -2.25F),
                                        source(2, f32(s.v(4, l)), f32(s.v(5, l))));
        EXPECT_EQ(s.v(10 + upper, l), bits32(expected)) << select;
      }
  }
}

TEST(Packed, FloatPairConstantsClampAndOverlap) {
  Snippet s = snippet(
      "gfx942",
      "v_pk_add_f32 v[10:11], v[0:1], 1.0 op_sel_hi:[1,0]\nv_pk_mul_f32 v[12:13], v[0:1], v[0:1] clamp\n"
      "v_pk_add_f32 v[0:1], v[0:1], v[0:1] op_sel:[1,0] op_sel_hi:[0,1]");
  s.v(0, 0) = bits32(3), s.v(1, 0) = bits32(-0.5F);
  run(s);
  EXPECT_EQ(f32(s.v(10, 0)), 4);
  EXPECT_EQ(f32(s.v(11, 0)), 0.5F);
  EXPECT_EQ(f32(s.v(12, 0)), 1);
  EXPECT_EQ(f32(s.v(13, 0)), 0.25F);
  EXPECT_EQ(f32(s.v(0, 0)), 2.5F); // both sums of what was there before
  EXPECT_EQ(f32(s.v(1, 0)), 2.5F);
}

TEST(Packed, FloatPairsObeyTheModeOfF32) {
  Snippet s = snippet("gfx942", "v_pk_add_f32 v[10:11], v[0:1], v[2:3]");
  s.v(0, 0) = bits32(1), s.v(1, 0) = 1;
  s.v(2, 0) = bits32(0x1p-30F), s.v(3, 0) = 0;
  run_in_mode(s, mode_rounding(1, 0) & ~0x30U);
  EXPECT_EQ(s.v(10, 0), 0x3f800001U);
  EXPECT_EQ(s.v(11, 0), 0U);
}

// MXCSR takes denormal operands for zero there, the clamp must not.
TEST(Packed, ClampKeepsDenormalResults) {
  Snippet s = snippet("gfx942", "v_pk_mul_f32 v[10:11], v[0:1], v[2:3] clamp");
  s.v(0, 0) = s.v(1, 0) = bits32(0x1p-126F);
  s.v(2, 0) = bits32(0.5F), s.v(3, 0) = bits32(-0.5F);
  run_in_mode(s, 0x3e0);
  EXPECT_EQ(s.v(10, 0), bits32(0x1p-127F));
  EXPECT_EQ(s.v(11, 0), 0U);
}

TEST(Packed, MovesByOpSelAlone) {
  Snippet s = snippet(
      "gfx942",
      "v_pk_mov_b32 v[0:1], v[0:1], v[2:3] op_sel:[1,0]\nv_pk_mov_b32 v[4:5], s[2:3], v[2:3] op_sel:[0,1]\n"
      "v_pk_mov_b32 v[6:7], v[2:3], 5");
  for (unsigned row = 0; row < 4; ++row) s.v(row, 9) = 100 + row;
  s.wave().set_pair(2, 0x0000'0008'0000'0007);
  run(s);
  EXPECT_EQ(s.v64(0, 9), uint64_t{102} << 32 | 101);
  EXPECT_EQ(s.v64(4, 9), uint64_t{103} << 32 | 7);
  EXPECT_EQ(s.v64(6, 9), uint64_t{5} << 32 | 102);
}

// --- Mixed f32 and f16

TEST(Packed, MixTakesEachSourceAsItIsTold) {
  Snippet s = snippet("gfx942", "v_fma_mix_f32 v10, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,1,0]\n"
                                "v_fma_mix_f32 v11, -|v3|, v2, 1.0 op_sel_hi:[0,0,0]\n"
                                "v_fma_mix_f32 v12, v0, v1, 1.0 op_sel_hi:[1,1,1] clamp\n"
                                "v_fma_mixlo_f16 v13, v3, v2, v2\nv_fma_mixhi_f16 v14, v3, v2, -v2 clamp");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = 0x4000'3800; // 2, 0.5
    s.v(1, l) = 0x4400'c200; // 4, -3
    s.v(2, l) = bits32(0.25F);
    s.v(3, l) = bits32(-5.0F);
    s.v(13, l) = s.v(14, l) = 0x1111'2222;
  }
  run(s);
  EXPECT_EQ(f32(s.v(10, 7)), 2 * -3 + 0.25F);
  EXPECT_EQ(f32(s.v(11, 7)), -5 * 0.25F + 1); // an f32 constant
  EXPECT_EQ(f32(s.v(12, 7)), 0);              // 0.5 * -3 + 1
  EXPECT_EQ(s.v(13, 7), 0x1111'bc00U);        // -1.25 + 0.25
  EXPECT_EQ(s.v(14, 7), 0x0000'2222U);
}

TEST(Packed, MixDenormalsFollowTheModeOfF32) {
  Snippet s = snippet("gfx950", "v_fma_mix_f32 v10, v0, v1, v2 op_sel_hi:[1,1,0]");
  s.v(0, 0) = 0x8001, s.v(1, 0) = 0x0400;
  run_in_mode(s, 0x3f0);
  EXPECT_EQ(s.v(10, 0), 0xac800000U); // measured on gfx90a and gfx950 (LLVM pull request 205101)
  run_in_mode(s, 0x300);
  EXPECT_EQ(s.v(10, 0), 0U);
}

} // namespace
} // namespace asmevo::emulator
