// Comparisons against a reference by relation: of any two values exactly one of less, equal, greater and
// unordered holds, and a comparison names a set of them.
#include "one_instruction.h"

#include <bit>
#include <cmath>
#include <random>

namespace asmevo::emulator {
namespace {

enum : unsigned { less = 1, equal = 2, greater = 4, unordered = 8 };

struct Comparison {
  std::string_view name;
  unsigned relations;
};
constexpr Comparison of_floats[] = {{"f", 0},
                                    {"lt", less},
                                    {"eq", equal},
                                    {"le", less | equal},
                                    {"gt", greater},
                                    {"lg", less | greater},
                                    {"ge", greater | equal},
                                    {"o", less | equal | greater},
                                    {"u", unordered},
                                    {"nge", less | unordered},
                                    {"nlg", equal | unordered},
                                    {"ngt", less | equal | unordered},
                                    {"nle", greater | unordered},
                                    {"neq", less | greater | unordered},
                                    {"nlt", greater | equal | unordered},
                                    {"tru", 15}};
constexpr Comparison of_integers[] = {
    {"f", 0},        {"lt", less},           {"eq", equal},           {"le", less | equal},
    {"gt", greater}, {"ne", less | greater}, {"ge", greater | equal}, {"t", 15}};

double half_value(uint32_t bits) {
  const double size = (bits >> 10 & 31) == 0 ? std::ldexp(bits & 1023, -24)
                      : (bits >> 10 & 31) == 31
                          ? ((bits & 1023) != 0 ? std::nan("") : INFINITY)
                          : std::ldexp(1024 + (bits & 1023), static_cast<int>(bits >> 10 & 31) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

unsigned relation_of(std::string_view type, uint64_t x, uint64_t y, bool flush) {
  const auto floats = [&](double a, double b, double smallest) {
    if (flush && std::fabs(a) < smallest) a = 0;
    if (flush && std::fabs(b) < smallest) b = 0;
    return a < b ? less : a > b ? greater : a == b ? equal : unordered;
  };
  const auto integers = [](auto a, auto b) { return a < b ? less : a > b ? greater : equal; };
  if (type == "f16") return floats(half_value(x & 0xffff), half_value(y & 0xffff), 0x1p-14);
  if (type == "f32")
    return floats(std::bit_cast<float>(static_cast<uint32_t>(x)),
                  std::bit_cast<float>(static_cast<uint32_t>(y)), 0x1p-126);
  if (type == "f64") return floats(std::bit_cast<double>(x), std::bit_cast<double>(y), 0x1p-1022);
  if (type == "i16") return integers(static_cast<int16_t>(x), static_cast<int16_t>(y));
  if (type == "u16") return integers(static_cast<uint16_t>(x), static_cast<uint16_t>(y));
  if (type == "i32") return integers(static_cast<int32_t>(x), static_cast<int32_t>(y));
  if (type == "u32") return integers(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
  if (type == "i64") return integers(static_cast<int64_t>(x), static_cast<int64_t>(y));
  return integers(x, y);
}

// A value of the type in the lowest bits; equal and special ones are frequent.
uint64_t operand(std::string_view type, std::mt19937_64& random) {
  constexpr uint64_t half[] = {0,      0x8000, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 1,
                               0x8001, 0x3c00, 0xbc00, 0x3ff,  0x83ff, 0x400};
  constexpr uint64_t single[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1,
                                 0x80000001, 0x3f800000, 0xbf800000, 0x7fffff,   0x807fffff, 0x800000};
  constexpr uint64_t wide[] = {
      0, 1ULL << 63,       0x7ffULL << 52, 0xfffULL << 52, 0x7ff8ULL << 48,  (0x7ffULL << 52) + 1,
      1, (1ULL << 63) + 1, 0x3ffULL << 52, 0xbffULL << 52, (1ULL << 52) - 1, 1ULL << 52,
      5};
  const uint64_t index = random() % 13, raw = random();
  if (random() % 4 == 0) return raw;
  return type.ends_with("16")   ? half[index] | (raw << 32 >> 16 & 0xffff0000)
         : type.ends_with("32") ? single[index]
                                : wide[index];
}

struct Case {
  std::string_view type;
  bool flush = false;
  uint64_t exec = all_lanes;
};

Snippet with_operands(std::string_view text, const Case& c) {
  Snippet s = snippet("gfx942", text);
  std::mt19937_64 random(11);
  for (unsigned l = 0; l < lanes; ++l) {
    s.set_v64(0, l, operand(c.type, random));
    s.set_v64(2, l, operand(c.type, random));
  }
  s.wave().set_exec(c.exec);
  if (c.flush) s.wave().set_mode(0x300);
  return s;
}

uint64_t expected_mask(Snippet& s, const Case& c, unsigned relations) {
  uint64_t mask = 0;
  for (unsigned l = 0; l < lanes; ++l)
    if ((relation_of(c.type, s.v64(0, l), s.v64(2, l), c.flush) & relations) != 0) mask |= uint64_t{1} << l;
  return mask & c.exec;
}

void check(const Comparison& comparison, const Case& c) {
  const bool wide = c.type.ends_with("64");
  const std::string sources = wide ? "v[0:1], v[2:3]" : "v0, v2";
  const std::string name = std::string(comparison.name) + "_" + std::string(c.type);
  for (const bool writes_exec : {false, true})
    for (const bool e64 : {false, true}) {
      const std::string text =
          (writes_exec ? "v_cmpx_" : "v_cmp_") + name + (e64 ? "_e64 s[4:5], " : "_e32 vcc, ") + sources;
      Snippet s = with_operands(text, c);
      const uint64_t mask = expected_mask(s, c, comparison.relations);
      run(s);
      EXPECT_EQ(e64 ? s.wave().pair(4) : s.wave().vcc(), mask) << text;
      EXPECT_EQ(s.wave().exec(), writes_exec ? mask : c.exec) << text;
    }
}

TEST(VectorCompare, EveryFloatComparison) {
  for (const std::string_view type : {"f16", "f32", "f64"})
    for (const Comparison& comparison : of_floats) {
      check(comparison, {.type = type});
      check(comparison, {.type = type, .flush = true, .exec = 0xfedcba9876543210});
    }
}

TEST(VectorCompare, EveryIntegerComparison) {
  for (const std::string_view type : {"i16", "u16", "i32", "u32", "i64", "u64"})
    for (const Comparison& comparison : of_integers)
      check(comparison, {.type = type, .exec = 0xfedcba98f6543210});
}

TEST(VectorCompare, ModifiersAndConstants) {
  Snippet s =
      snippet("gfx942", "v_cmp_lt_f32_e64 s[0:1], |v0|, -v1\nv_cmp_eq_f16_e64 s[2:3], v0, -v1\n"
                        "v_cmp_gt_f64_e64 s[4:5], -|v[2:3]|, -1.0\nv_cmp_eq_u64_e64 s[6:7], v[2:3], -3");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = std::bit_cast<uint32_t>(-1.0F - static_cast<float>(l));
    s.v(1, l) = std::bit_cast<uint32_t>(-20.5F);
    s.set_v64(2, l, std::bit_cast<uint64_t>(l % 2 == 0 ? 0.5 : 3.0));
  }
  s.set_v64(2, 9, ~uint64_t{2});
  run(s);
  EXPECT_EQ(s.wave().pair(0), (uint64_t{1} << 20) - 1); // 1 + l < 20.5
  EXPECT_EQ(s.wave().pair(4), 0x5555555555555555U);
  EXPECT_EQ(s.wave().pair(6), uint64_t{1} << 9);
}

// --- Classes

unsigned class_of(double v, bool signalling, double smallest) {
  const int kind = std::isnan(v) ? -1 : std::isinf(v) ? 0 : std::fabs(v) >= smallest ? 1 : v != 0 ? 2 : 3;
  if (kind < 0) return signalling ? 0 : 1;
  return static_cast<unsigned>(std::signbit(v) ? 2 + kind : 9 - kind);
}

TEST(VectorCompare, Classes) {
  constexpr uint32_t values[] = {0x7f800001, 0xff800001, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001,
                                 0x80000000, 0,          1,          0x3f800000, 0x7f800000, 0x00800000};
  for (unsigned bit = 0; bit < 10; ++bit) {
    Snippet s =
        snippet("gfx942", "v_cmp_class_f32_e64 s[0:1], v0, v1\nv_cmp_class_f32_e64 s[2:3], -|v0|, v1");
    s.wave().set_mode(0x300); // flushing does not matter
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(0, l) = values[l % std::size(values)];
      s.v(1, l) = 1U << bit | 0xfffffc00; // only ten bits count
    }
    run(s);
    for (unsigned l = 0; l < lanes; ++l) {
      const uint32_t bits = s.v(0, l);
      const bool signalling = (bits & 0x7fffffff) > 0x7f800000 && (bits >> 22 & 1) == 0;
      EXPECT_EQ(s.wave().pair(0) >> l & 1, class_of(std::bit_cast<float>(bits), signalling, 0x1p-126) == bit);
      EXPECT_EQ(s.wave().pair(2) >> l & 1,
                class_of(std::bit_cast<float>(bits | 0x80000000), signalling, 0x1p-126) == bit);
    }
  }
}

TEST(VectorCompare, ClassesOfOtherWidths) {
  Snippet s = snippet("gfx942", "v_cmp_class_f64_e32 vcc, v[0:1], v2\nv_cmp_class_f16_e64 s[2:3], v4, v2");
  for (unsigned l = 0; l < lanes; ++l) {
    s.set_v64(0, l, l == 0 ? 0x7ff0000000000001 : l == 1 ? 0x8000000000000001 : std::bit_cast<uint64_t>(1.0));
    s.v(4, l) = l == 0 ? 0x7c01 : l == 1 ? 0x8001 : 0x3c00;
    s.v(2, l) = l == 0 ? 1 : l == 1 ? 1U << 4 : l == 2 ? 1U << 8 : 1U << 9;
  }
  run(s);
  EXPECT_EQ(s.wave().vcc(), 7U);
  EXPECT_EQ(s.wave().pair(2), 7U);
}

} // namespace
} // namespace asmevo::emulator
