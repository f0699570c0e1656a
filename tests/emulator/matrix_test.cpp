#include "emulator/conformance/runner.h"
#include "emulator/families/exact_sum.h"
#include "matrix_registers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace asmevo::emulator {

namespace {

struct OldName {
  const char* name;
  unsigned blocks;
};

constexpr const char* names_of_gfx942[] = {
    "v_mfma_f64_16x16x4_f64",      "v_mfma_f64_4x4x4_4b_f64",     "v_mfma_f32_32x32x1_2b_f32",
    "v_mfma_f32_16x16x1_4b_f32",   "v_mfma_f32_4x4x1_16b_f32",    "v_mfma_f32_32x32x2_f32",
    "v_mfma_f32_16x16x4_f32",      "v_mfma_f32_32x32x4_2b_f16",   "v_mfma_f32_16x16x4_4b_f16",
    "v_mfma_f32_4x4x4_16b_f16",    "v_mfma_f32_32x32x8_f16",      "v_mfma_f32_16x16x16_f16",
    "v_mfma_f32_32x32x4_2b_bf16",  "v_mfma_f32_16x16x4_4b_bf16",  "v_mfma_f32_4x4x4_16b_bf16",
    "v_mfma_f32_32x32x8_bf16",     "v_mfma_f32_16x16x16_bf16",    "v_mfma_f32_32x32x16_fp8_fp8",
    "v_mfma_f32_32x32x16_fp8_bf8", "v_mfma_f32_32x32x16_bf8_fp8", "v_mfma_f32_32x32x16_bf8_bf8",
    "v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x32_fp8_bf8", "v_mfma_f32_16x16x32_bf8_fp8",
    "v_mfma_f32_16x16x32_bf8_bf8", "v_mfma_i32_32x32x4_2b_i8",    "v_mfma_i32_16x16x4_4b_i8",
    "v_mfma_i32_4x4x4_16b_i8",     "v_mfma_i32_32x32x16_i8",      "v_mfma_i32_16x16x32_i8",
};
constexpr const char* names_of_gfx942_only[] = {"v_mfma_f32_32x32x4_xf32", "v_mfma_f32_16x16x8_xf32"};
constexpr const char* names_of_gfx950_only[] = {
    "v_mfma_f32_32x32x16_f16",  "v_mfma_f32_16x16x32_f16", "v_mfma_f32_32x32x16_bf16",
    "v_mfma_f32_16x16x32_bf16", "v_mfma_i32_32x32x32_i8",  "v_mfma_i32_16x16x64_i8",
};
constexpr OldName names_of_gfx90a[] = {
    {"v_mfma_f64_16x16x4f64", 1},      {"v_mfma_f64_4x4x4f64", 4},      {"v_mfma_f32_32x32x1f32", 2},
    {"v_mfma_f32_16x16x1f32", 4},      {"v_mfma_f32_4x4x1f32", 16},     {"v_mfma_f32_32x32x2f32", 1},
    {"v_mfma_f32_16x16x4f32", 1},      {"v_mfma_f32_32x32x4f16", 2},    {"v_mfma_f32_16x16x4f16", 4},
    {"v_mfma_f32_4x4x4f16", 16},       {"v_mfma_f32_32x32x8f16", 1},    {"v_mfma_f32_16x16x16f16", 1},
    {"v_mfma_f32_32x32x2bf16", 2},     {"v_mfma_f32_16x16x2bf16", 4},   {"v_mfma_f32_4x4x2bf16", 16},
    {"v_mfma_f32_32x32x4bf16", 1},     {"v_mfma_f32_16x16x8bf16", 1},   {"v_mfma_f32_32x32x4bf16_1k", 2},
    {"v_mfma_f32_16x16x4bf16_1k", 4},  {"v_mfma_f32_4x4x4bf16_1k", 16}, {"v_mfma_f32_32x32x8bf16_1k", 1},
    {"v_mfma_f32_16x16x16bf16_1k", 1}, {"v_mfma_i32_32x32x4i8", 2},     {"v_mfma_i32_16x16x4i8", 4},
    {"v_mfma_i32_4x4x4i8", 16},        {"v_mfma_i32_32x32x8i8", 1},     {"v_mfma_i32_16x16x16i8", 1},
};
constexpr const char* f8f6f4_formats[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};

MatrixCase mixed_case(const std::string& name, unsigned format_a, unsigned format_b) {
  MatrixCase c = matrix_case("gfx950", name);
  c.format_a = f8f6f4_formats[format_a];
  c.format_b = f8f6f4_formats[format_b];
  if (format_a < 2) c.shape.order_a = KOrder::Halves;
  if (format_b < 2) c.shape.order_b = KOrder::Halves;
  c.modifiers = fmt::format("cbsz:{} blgp:{}", format_a, format_b);
  return c;
}

std::vector<MatrixCase> dense_cases() {
  std::vector<MatrixCase> all;
  for (const char* n : names_of_gfx942)
    for (const char* gpu : {"gfx942", "gfx950"}) all.push_back(matrix_case(gpu, n));
  for (const char* n : names_of_gfx942_only) all.push_back(matrix_case("gfx942", n));
  for (const char* n : names_of_gfx950_only) all.push_back(matrix_case("gfx950", n));
  for (const OldName& n : names_of_gfx90a) all.push_back(matrix_case("gfx90a", n.name, n.blocks));
  for (const char* n : {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"})
    for (unsigned pair = 0; pair < 25; ++pair) all.push_back(mixed_case(n, pair / 5, pair % 5));
  return all;
}

} // namespace

TEST(Matrix, EveryMnemonicMultipliesSmallIntegers) {
  for (const MatrixCase& c : dense_cases()) {
    SCOPED_TRACE(c.gpu + " " + text_of(c));
    IntegerProduct product(c, 5);
    product.run_and_compare([](unsigned, unsigned k) { return k; });
  }
}

// One or two vectors of every mnemonic of gfx942 and gfx950, and dot products that a GPU computed.
TEST(Matrix, VectorsPass) {
  const auto report = conformance::run({ASMEVO_SOURCE_DIR "/tests/emulator/data/matrix"}, {});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const conformance::Outcome& o : report->outcomes)
    if (o.kind != conformance::Outcome::Kind::Passed) ADD_FAILURE() << o.id << ": " << o.text;
  EXPECT_EQ(report->passed, 130U + 1598U);
}

namespace {

uint32_t bits(float f) {
  return std::bit_cast<uint32_t>(f);
}
float number(uint32_t b) {
  return std::bit_cast<float>(b);
}

constexpr uint32_t smallest_normal = 0x00800000, largest = 0x7f7fffff, infinity = 0x7f800000;
constexpr uint32_t fp16_overflow = 1U << 23;

// Row 0 of A times column 0 of B, everything else 0: A's and B's element k in the given bits.
struct DotProduct {
  MatrixCase c;
  Snippet s;
  explicit DotProduct(const MatrixCase& of) : c(of), s(snippet(of.gpu, text_of(of))) {}
  void a(unsigned k, uint64_t value) {
    put_item(s, reg_a, c.layout_a().position(0, 0, k), width_of(c.format_a), value);
  }
  void b(unsigned k, uint64_t value) {
    put_item(s, reg_b, c.layout_b().position(0, 0, k), width_of(c.format_b), value);
  }
  uint32_t result(uint32_t accumulator = 0) {
    s.v(0, 0) = accumulator;
    s.wave().pc = Snippet::code_address;
    run(s);
    return s.v(0, 0);
  }
};

} // namespace

// --- everything but arithmetic

TEST(Matrix, ExecMeansNothing) {
  Snippet s = snippet("gfx942", "v_mfma_f32_16x16x4_f32 v[0:3], v64, v80, 1.0");
  s.wave().set_exec(0);
  run(s);
  for (unsigned row = 0; row < 4; ++row)
    for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(s.v(row, lane), bits(1.0F));
}

TEST(Matrix, AccumulatorMayBeAnInlineConstant) {
  Snippet f64 = snippet("gfx942", "v_mfma_f64_16x16x4_f64 v[0:7], v[64:65], v[80:81], 0.5");
  run(f64);
  EXPECT_EQ(f64.v64(6, 63), std::bit_cast<uint64_t>(0.5));
  Snippet i32 = snippet("gfx942", "v_mfma_i32_16x16x32_i8 v[0:3], v[64:65], v[80:81], -5");
  run(i32);
  EXPECT_EQ(static_cast<int32_t>(i32.v(3, 17)), -5);
}

TEST(Matrix, AccumulationRegisters) {
  Snippet s = snippet("gfx942", "v_mfma_f32_16x16x4_f32 a[0:3], a4, v5, a[8:11]");
  for (unsigned lane = 0; lane < 64; ++lane) {
    s.a(4, lane) = bits(2.0F);
    s.v(5, lane) = bits(3.0F);
    for (unsigned row = 8; row < 12; ++row) s.a(row, lane) = bits(1.0F);
  }
  run(s);
  EXPECT_EQ(number(s.a(3, 63)), 4 * 6.0F + 1);
  EXPECT_EQ(s.v(3, 63), 0U);
}

// D may lie over A, B and a part of C: all is read before anything is written.
TEST(Matrix, DestinationMayOverlapSources) {
  const std::string apart = "v_mfma_f32_16x16x16_f16 v[40:43], v[10:11], v[12:13], v[14:17]";
  for (const std::string text : {"v_mfma_f32_16x16x16_f16 v[10:13], v[10:11], v[12:13], v[14:17]",
                                 "v_mfma_f32_16x16x16_f16 v[12:15], v[10:11], v[12:13], v[14:17]",
                                 "v_mfma_f32_16x16x16_f16 v[16:19], v[10:11], v[12:13], v[14:17]"}) {
    Snippet want = snippet("gfx942", apart), got = snippet("gfx942", text);
    std::mt19937 random(9);
    for (unsigned row = 10; row < 18; ++row)
      for (unsigned lane = 0; lane < 64; ++lane)
        want.v(row, lane) = got.v(row, lane) = static_cast<uint32_t>(random()) & 0xbfffbfff;
    run(want);
    run(got);
    const unsigned to = static_cast<unsigned>(std::stoi(text.substr(text.find('[') + 1)));
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned lane = 0; lane < 64; ++lane)
        ASSERT_EQ(got.v(to + row, lane), want.v(40 + row, lane)) << text;
  }
}

// --- MODE

TEST(Matrix, DenormalModeFlushesInputsOfF32Only) {
  DotProduct d(matrix_case("gfx942", "v_mfma_f32_16x16x4_f32"));
  d.a(0, 0x00400000); // 2^-127
  d.b(0, bits(1.0F));
  EXPECT_EQ(d.result(0x00000001), 0x00400001U);
  d.s.wave().set_mode(0x3c0);
  EXPECT_EQ(d.result(0x00000001), 0x00000001U);
  d.a(0, bits(0x1p-100F));
  d.b(0, bits(0x1p-27F));
  EXPECT_EQ(d.result(), 0x00400000U); // results never are

  DotProduct half(matrix_case("gfx942", "v_mfma_f32_16x16x16_f16"));
  half.s.wave().set_mode(0);
  half.a(0, 0x0001); // 2^-24
  half.b(0, 0x3c00);
  EXPECT_EQ(half.result(), bits(0x1p-24F));
}

TEST(Matrix, RoundingModeMeansNothing) {
  for (unsigned rounding = 0; rounding < 4; ++rounding) {
    DotProduct single(matrix_case("gfx942", "v_mfma_f32_16x16x4_f32"));
    single.s.wave().set_mode(0x3f0 | rounding | rounding << 2);
    single.a(0, bits(1.0F));
    single.b(0, bits(0x1.8p-24F));
    EXPECT_EQ(single.result(bits(1.0F)), bits(1.0F + 0x1p-23F));
    DotProduct half(matrix_case("gfx942", "v_mfma_f32_16x16x16_f16"));
    half.s.wave().set_mode(0x3f0 | rounding | rounding << 2);
    half.a(0, 0x3c00);
    half.b(0, 0x3c00);
    EXPECT_EQ(half.result(bits(0x1.8p-24F)),
              bits(1.0F)); // C is cut 24 bits below the product: half a unit, a tie
  }
}

TEST(Matrix, OverflowSaturatesOnDemand) {
  DotProduct single(matrix_case("gfx942", "v_mfma_f32_16x16x4_f32"));
  single.a(1, bits(0x1p100F));
  single.b(1, bits(-0x1p100F));
  EXPECT_EQ(single.result(), infinity | 0x80000000);
  single.s.wave().set_mode(FloatMode::usual | fp16_overflow);
  EXPECT_EQ(single.result(), largest | 0x80000000);
  EXPECT_EQ(single.result(infinity), infinity); // an infinite operand is no overflow

  DotProduct brain(matrix_case("gfx942", "v_mfma_f32_16x16x16_bf16"));
  brain.a(9, 0x7f00); // 2^127
  brain.b(9, 0x4000);
  EXPECT_EQ(brain.result(), infinity);
  brain.s.wave().set_mode(FloatMode::usual | fp16_overflow);
  EXPECT_EQ(brain.result(), largest);
  EXPECT_EQ(brain.result(infinity), infinity);

  DotProduct integer(matrix_case("gfx942", "v_mfma_i32_16x16x32_i8"));
  integer.a(3, 0x80);
  integer.b(3, 0x7f);
  EXPECT_EQ(integer.result(0x80000001), 0x80000001U - 128 * 127);
  integer.s.wave().set_mode(FloatMode::usual | fp16_overflow);
  EXPECT_EQ(integer.result(0x80000001), 0x80000000U);
  integer.b(3, 0x80);
  EXPECT_EQ(integer.result(0x7fffffff), 0x7fffffffU);
}

// --- Inf and NaN

TEST(Matrix, InfinitiesAndNaNs) {
  DotProduct d(matrix_case("gfx942", "v_mfma_f32_16x16x16_f16"));
  d.a(2, 0x7c00);
  d.b(2, 0x3c00);
  EXPECT_EQ(d.result(bits(-1.0F)), infinity);
  EXPECT_TRUE(std::isnan(number(d.result(infinity | 0x80000000))));
  d.b(2, 0);
  EXPECT_TRUE(std::isnan(number(d.result()))); // Inf * 0
  d.a(2, 0);
  EXPECT_EQ(d.result(infinity | 0x80000000), infinity | 0x80000000);
  EXPECT_EQ(d.result(0x7f800001), 0x7fc00001U); // quieted
}

// What MMA-Sim reports of gfx942: a product that is no f32 is infinite, whatever would cancel it.
TEST(Matrix, ProductsBeyondF32AreInfinite) {
  DotProduct d(matrix_case("gfx942", "v_mfma_f32_16x16x16_bf16"));
  d.a(0, 0x7f00);
  d.b(0, 0x4000);
  d.a(1, 0x7f00);
  d.b(1, 0xbf80);
  d.a(2, 0x7f00);
  d.b(2, 0xbf80);
  EXPECT_EQ(d.result(), infinity);
}

// --- gfx90a

TEST(Matrix, Gfx90aFlushesSubnormalsOfHalfFormats) {
  DotProduct half(matrix_case("gfx90a", "v_mfma_f32_16x16x16f16"));
  half.a(0, 0x03ff);
  half.b(0, 0x3c00);
  EXPECT_EQ(half.result(bits(1.0F)), bits(1.0F));
  EXPECT_EQ(half.result(0x00000001), 0U);
  half.a(0, 0x0400); // the least normal
  EXPECT_EQ(half.result(), bits(0x1p-14F));

  DotProduct brain(matrix_case("gfx90a", "v_mfma_f32_16x16x16bf16_1k"));
  brain.a(0, 0x0080); // 2^-126
  brain.b(0, 0x3f00); // 1/2
  EXPECT_EQ(brain.result(), 0U);
  brain.b(0, 0x3f80);
  EXPECT_EQ(brain.result(), smallest_normal);

  DotProduct single(matrix_case("gfx90a", "v_mfma_f32_16x16x4f32"));
  single.a(0, 1);
  single.b(0, bits(1.0F));
  EXPECT_EQ(single.result(), 1U); // f32 does not flush
}

// (p0 + p1) + (p2 + p3) in groups of four; the older bf16 forms in groups of two.
TEST(Matrix, Gfx90aAddsInPairs) {
  const auto result = [](const MatrixCase& c, std::array<float, 4> products) {
    DotProduct d(c);
    for (unsigned k = 0; k < 4; ++k) {
      d.a(k, bits_of(c.format_a, c.gpu, double{products[k]}));
      d.b(k, bits_of(c.format_b, c.gpu, 1));
    }
    return number(d.result());
  };
  // 1 + 2^-24 is 1, but 2^-24 + 2^-24 counts: which pairs meet shows.
  const std::array<float, 4> apart{1, 0x1p-24F, 0x1p-24F, 0};
  const MatrixCase fours = matrix_case("gfx90a", "v_mfma_f32_16x16x16bf16_1k"),
                   twos = matrix_case("gfx90a", "v_mfma_f32_16x16x8bf16");
  EXPECT_EQ(result(fours, apart), 1.0F);
  EXPECT_EQ(result(fours, {1, 0, 0x1p-24F, 0x1p-24F}), 1 + 0x1p-23F);
  EXPECT_EQ(result(twos, {0x1p-24F, 0x1p-24F, 1, 0}), 1 + 0x1p-23F);
  EXPECT_EQ(result(twos, {1, 0, 0x1p-24F, 0x1p-24F}), 1 + 0x1p-23F);
  EXPECT_EQ(result(twos, {0x1p-24F, 1, 0x1p-24F, 0}), 1.0F);
}

// --- f8f6f4 and scales

TEST(Matrix, ScalesAreChosenByOpSel) {
  MatrixCase c = mixed_case("v_mfma_scale_f32_16x16x128_f8f6f4", 4, 4);
  for (unsigned code_a = 0; code_a < 4; ++code_a)
    for (unsigned code_b = 0; code_b < 4; ++code_b) {
      c.modifiers = fmt::format("op_sel:[{},{},0] op_sel_hi:[{},{},0] cbsz:4 blgp:4", code_a & 1, code_b & 1,
                                code_a >> 1, code_b >> 1);
      DotProduct d(c);
      d.a(40, bits_of("fp4", "gfx950", 1.5)); // k = 40: the second run of 32, scales in lane 16
      d.b(40, bits_of("fp4", "gfx950", 2));
      d.s.v(reg_scale_a, 16) = 0x80818283; // 2^4, 2^3, 2^2, 2^1 from byte 0 on
      d.s.v(reg_scale_b, 16) = 0x7f7e7d7c; // 2^-3, 2^-2, 2^-1, 1
      const int exponent = (4 - static_cast<int>(code_a)) + (static_cast<int>(code_b) - 3);
      EXPECT_EQ(number(d.result()), std::ldexp(3.0F, exponent)) << code_a << code_b;
    }
}

TEST(Matrix, ScaleOfAllOnesIsNaN) {
  DotProduct d(mixed_case("v_mfma_scale_f32_32x32x64_f8f6f4", 0, 0));
  for (unsigned lane = 0; lane < 64; ++lane) d.s.v(reg_scale_a, lane) = d.s.v(reg_scale_b, lane) = 127;
  d.s.v(reg_scale_b, 33) = 255; // column 1, k from 32 on
  run(d.s);
  EXPECT_EQ(d.s.v(0, 0), 0U);
  EXPECT_TRUE(std::isnan(number(d.s.v(0, 1))));
}

TEST(Matrix, MixedFormatsRoundOnce) {
  DotProduct d(mixed_case("v_mfma_f32_16x16x128_f8f6f4", 1, 1));
  d.a(0, 0x7b); // 57344
  d.b(0, 0x7b);
  d.a(1, 0x01); // 2^-16
  d.b(1, 0x01);
  d.a(100, 0x7b);
  d.b(100, 0xfb);                          // - 57344
  EXPECT_EQ(number(d.result()), 0x1p-32F); // 2^64 apart from what cancelled
  d.a(100, 0);
  EXPECT_EQ(number(d.result()), 57344.0F * 57344.0F);
  const float above = 57344.0F * 57344.0F;                // 49 * 2^26: a unit is 2^8
  EXPECT_EQ(number(d.result(bits(128.0F))), above + 256); // tie, but for the 2^-32
  d.a(1, 0);
  EXPECT_EQ(number(d.result(bits(128.0F))), above); // tie to even
}

// Doubles far apart: the sum's rounding depends on the last of them.
TEST(Matrix, ExactSumsRoundOnce) {
  const auto sum = [](std::initializer_list<double> terms) {
    return round_exact_sum(terms.begin(), static_cast<unsigned>(terms.size()));
  };
  EXPECT_EQ(sum({0x1p200, 1, -0x1p200, 0x1p-300}), 1.0F);
  EXPECT_EQ(sum({1, 0x1p-24}), 1.0F);                                        // tie to even
  EXPECT_EQ(sum({1, 0x1p-24, 0x1p-290}), 1 + 0x1p-23F);                      // just above it
  EXPECT_EQ(sum({0x1p-290, 1 + 0x1p-23, 0x1p-24, -0x1p-289}), 1 + 0x1p-23F); // just below
  EXPECT_EQ(sum({-1, -0x1p-24, -0x1p-290, 0x1p120, -0x1p120}), -1 - 0x1p-23F);
  EXPECT_EQ(sum({0x1p-149, 0x1p-150, 0x1p-280}), 0x1p-148F); // subnormal result: 1.5 units and a bit
  EXPECT_EQ(sum({0x1p-150, -0x1p-280}), 0.0F);
  EXPECT_EQ(sum({0x1p128, -0x1p103, -0x1p-200}), 0x1.fffffep127F);
  EXPECT_EQ(sum({0x1p128, -0x1p103, 0x1p-200}), std::numeric_limits<float>::infinity());
  EXPECT_EQ(sum({0x1p31 - 0x1p-22, 0x1.b9p-24, -0x1p31}), -0x1.238p-23F); // parts close to each other
  EXPECT_EQ(sum({3, -3}), 0.0F);
}

} // namespace asmevo::emulator
