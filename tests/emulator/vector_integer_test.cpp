// Integer instructions against exact arithmetic in 128 bits, with and without clamp.
#include "one_instruction.h"

#include <bit>
#include <random>

namespace asmevo::emulator {
namespace {

__extension__ typedef __int128 Exact; // wide enough for every exact result here

enum class Type : uint8_t { I32, U32, I16, U16 };

bool is_signed(Type t) {
  return t == Type::I32 || t == Type::I16;
}
unsigned bits_of(Type t) {
  return t == Type::I16 || t == Type::U16 ? 16 : 32;
}

Exact as(Type t, uint32_t v) {
  switch (t) {
  case Type::I32: return static_cast<int32_t>(v);
  case Type::U32: return v;
  case Type::I16: return static_cast<int16_t>(v);
  case Type::U16: return static_cast<uint16_t>(v);
  }
  return 0;
}

uint32_t wrapped(Type t, Exact v) {
  return static_cast<uint32_t>(v) & (bits_of(t) == 16 ? 0xffffU : ~0U);
}

uint32_t saturated(Type t, Exact v) {
  const Exact span = Exact{1} << bits_of(t);
  const Exact low = is_signed(t) ? -(span / 2) : 0, high = is_signed(t) ? span / 2 - 1 : span - 1;
  return wrapped(t, v < low ? low : v > high ? high : v);
}

uint32_t edgy(std::mt19937& random) {
  constexpr uint32_t edges[] = {0,          1,          2,      0x7f,       0x80,       0xff,
                                0x7fff,     0x8000,     0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
                                0x7fff8000, 0x80007fff, 31,     0x00ffffff, 0x00800000, 0x007fffff};
  return random() % 3 == 0 ? edges[random() % std::size(edges)] : static_cast<uint32_t>(random());
}

Snippet with_random_sources(std::string_view gpu, const std::string& text, unsigned seed) {
  Snippet s = snippet(gpu, text);
  std::mt19937 random(seed);
  for (unsigned row = 0; row < 12; ++row)
    for (unsigned l = 0; l < lanes; ++l) s.v(row, l) = edgy(random);
  return s;
}

struct Arithmetic {
  std::string_view name;
  Type a, b, c, result;
  Exact (*exact)(Exact, Exact, Exact);
  bool three = false;
  bool clamps = true;
  bool keeps_upper = false; // half of the destination
};

Exact magnitude(Exact v) {
  return v < 0 ? -v : v;
}
Exact low24(Exact v, bool sign) {
  const Exact part = v & 0xffffff;
  return sign && part >= 0x800000 ? part - 0x1000000 : part;
}
Exact byte_sum(Exact a, Exact b, bool skip_zero) {
  Exact sum = 0;
  for (int i = 0; i < 4; ++i) {
    const Exact x = a >> (8 * i) & 0xff, y = b >> (8 * i) & 0xff;
    if (!skip_zero || y != 0) sum += magnitude(x - y);
  }
  return sum;
}

constexpr Arithmetic arithmetic[] = {
    {"v_add_u32_e64", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact) { return a + b; }},
    {"v_sub_u32_e64", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact) { return a - b; }},
    {"v_subrev_u32_e64", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact) { return b - a; }},
    {"v_add_i32", Type::I32, Type::I32, Type::I32, Type::I32, [](Exact a, Exact b, Exact) { return a + b; }},
    {"v_sub_i32", Type::I32, Type::I32, Type::I32, Type::I32, [](Exact a, Exact b, Exact) { return a - b; }},
    {"v_add_u16_e64", Type::U16, Type::U16, Type::U16, Type::U16,
     [](Exact a, Exact b, Exact) { return a + b; }},
    {"v_sub_u16_e64", Type::U16, Type::U16, Type::U16, Type::U16,
     [](Exact a, Exact b, Exact) { return a - b; }},
    {"v_subrev_u16_e64", Type::U16, Type::U16, Type::U16, Type::U16,
     [](Exact a, Exact b, Exact) { return b - a; }},
    {"v_add_i16", Type::I16, Type::I16, Type::I16, Type::I16, [](Exact a, Exact b, Exact) { return a + b; },
     false, true, true},
    {"v_sub_i16", Type::I16, Type::I16, Type::I16, Type::I16, [](Exact a, Exact b, Exact) { return a - b; },
     false, true, true},
    {"v_mul_lo_u16_e64", Type::U16, Type::U16, Type::U16, Type::U16,
     [](Exact a, Exact b, Exact) { return a * b; }, false, false},
    {"v_mul_u32_u24_e64", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact) { return low24(a, false) * low24(b, false); }},
    {"v_mul_i32_i24_e64", Type::U32, Type::U32, Type::U32, Type::I32,
     [](Exact a, Exact b, Exact) { return low24(a, true) * low24(b, true); }},
    {"v_mad_u32_u24", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return low24(a, false) * low24(b, false) + c; }, true},
    {"v_mad_i32_i24", Type::U32, Type::U32, Type::I32, Type::I32,
     [](Exact a, Exact b, Exact c) { return low24(a, true) * low24(b, true) + c; }, true},
    {"v_mad_u16", Type::U16, Type::U16, Type::U16, Type::U16,
     [](Exact a, Exact b, Exact c) { return a * b + c; }, true, true, true},
    {"v_mad_i16", Type::I16, Type::I16, Type::I16, Type::I16,
     [](Exact a, Exact b, Exact c) { return a * b + c; }, true, true, true},
    {"v_mad_legacy_u16", Type::U16, Type::U16, Type::U16, Type::U16,
     [](Exact a, Exact b, Exact c) { return a * b + c; }, true},
    {"v_mad_legacy_i16", Type::I16, Type::I16, Type::I16, Type::I16,
     [](Exact a, Exact b, Exact c) { return a * b + c; }, true},
    {"v_mad_u32_u16", Type::U16, Type::U16, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return a * b + c; }, true},
    {"v_mad_i32_i16", Type::I16, Type::I16, Type::I32, Type::I32,
     [](Exact a, Exact b, Exact c) { return a * b + c; }, true},
    {"v_sad_u8", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return byte_sum(a, b, false) + c; }, true},
    {"v_sad_hi_u8", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return byte_sum(a, b, false) * 65536 + c; }, true},
    {"v_msad_u8", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return byte_sum(a, b, true) + c; }, true},
    {"v_sad_u16", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) {
       return magnitude((a & 0xffff) - (b & 0xffff)) + magnitude((a >> 16) - (b >> 16)) + c;
     },
     true},
    {"v_sad_u32", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return magnitude(a - b) + c; }, true},
    {"v_mul_hi_u32", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact) { return a * b >> 32; }, false, false},
    {"v_mul_hi_i32", Type::I32, Type::I32, Type::I32, Type::I32,
     [](Exact a, Exact b, Exact) { return a * b >> 32; }, false, false},
    {"v_mul_lo_u32", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact) { return a * b; }, false, false},
    {"v_add3_u32", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return a + b + c; }, true, false},
    {"v_xad_u32", Type::U32, Type::U32, Type::U32, Type::U32,
     [](Exact a, Exact b, Exact c) { return (a ^ b) + c; }, true, false},
};

void check(const Arithmetic& row, bool clamp) {
  const std::string text =
      std::string(row.name) + (row.three ? " v10, v0, v1, v2" : " v10, v0, v1") + (clamp ? " clamp" : "");
  Snippet s = with_random_sources("gfx942", text, 1);
  const Row before = s.wave().vectors[10];
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const Exact exact = row.exact(as(row.a, s.v(0, l)), as(row.b, s.v(1, l)), as(row.c, s.v(2, l)));
    uint32_t expected = clamp ? saturated(row.result, exact) : wrapped(row.result, exact);
    if (row.keeps_upper) expected |= before.lane[l] & 0xffff0000;
    EXPECT_EQ(s.v(10, l), expected) << text << " lane " << l;
  }
}

TEST(VectorInteger, ArithmeticWrapsAndSaturates) {
  for (const Arithmetic& row : arithmetic) {
    check(row, false);
    if (row.clamps) check(row, true);
  }
}

// --- Carries

struct Carry {
  std::string_view name;
  bool carry_in, subtracts, reversed;
};
constexpr Carry carries[] = {
    {"v_add_co_u32", false, false, false},  {"v_addc_co_u32", true, false, false},
    {"v_sub_co_u32", false, true, false},   {"v_subb_co_u32", true, true, false},
    {"v_subrev_co_u32", false, true, true}, {"v_subbrev_co_u32", true, true, true},
};

void check_carry(const Carry& row, bool e64, bool clamp, uint64_t exec) {
  const std::string text = std::string(row.name) +
                           (e64 ? "_e64 v10, s[10:11], v0, v1" : "_e32 v10, vcc, v0, v1") +
                           (row.carry_in ? e64 ? ", s[8:9]" : ", vcc" : "") + (clamp ? " clamp" : "");
  Snippet s = with_random_sources("gfx942", text, 7);
  const uint64_t carry_in = 0x123456789abcdef0;
  s.wave().set_vcc(carry_in);
  s.wave().set_pair(8, carry_in);
  s.wave().set_exec(exec);
  const Row before = s.wave().vectors[10];
  run(s);
  uint64_t carry_out = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    Exact a = s.v(0, l), b = s.v(1, l);
    if (row.reversed) std::swap(a, b);
    const Exact c = row.carry_in ? Exact(carry_in >> l & 1) : Exact(0);
    const Exact exact = row.subtracts ? a - b - c : a + b + c;
    const bool active = (exec >> l & 1) != 0;
    if (active && (exact < 0 || exact >> 32 != 0)) carry_out |= uint64_t{1} << l;
    const uint32_t result = clamp ? saturated(Type::U32, exact) : wrapped(Type::U32, exact);
    EXPECT_EQ(s.v(10, l), active ? result : before.lane[l]) << text << " lane " << l;
  }
  EXPECT_EQ(e64 ? s.wave().pair(10) : s.wave().vcc(), carry_out) << text;
  if (e64) {
    EXPECT_EQ(s.wave().vcc(), carry_in) << text;
  }
}

TEST(VectorInteger, CarriesOfEveryForm) {
  for (const Carry& row : carries)
    for (const uint64_t exec : {all_lanes, uint64_t{0xff00ff0012345678}}) {
      check_carry(row, false, false, exec);
      check_carry(row, true, false, exec);
      check_carry(row, true, true, exec);
    }
}

TEST(VectorInteger, CarryMayGoToExec) {
  Snippet s = snippet("gfx942", "v_add_co_u32_e64 v2, exec, v0, v1");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = l % 2 == 0 ? 0xffffffff : 1;
    s.v(1, l) = 5;
  }
  run(s);
  for (unsigned l = 0; l < lanes; ++l) EXPECT_EQ(s.v(2, l), l % 2 == 0 ? 4U : 6U);
  EXPECT_EQ(s.wave().exec(), 0x5555555555555555U);
}

void check_wide_mad(bool is_signed_form, bool clamp) {
  const std::string text = std::string(is_signed_form ? "v_mad_i64_i32" : "v_mad_u64_u32") +
                           " v[10:11], s[4:5], v0, v1, v[2:3]" + (clamp ? " clamp" : "");
  Snippet s = with_random_sources("gfx942", text, 3);
  run(s);
  uint64_t carry = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const Type t = is_signed_form ? Type::I32 : Type::U32;
    const Exact c = is_signed_form ? Exact(static_cast<int64_t>(s.v64(2, l))) : Exact(s.v64(2, l));
    const Exact exact = as(t, s.v(0, l)) * as(t, s.v(1, l)) + c;
    carry |= static_cast<uint64_t>(exact >> 64 & 1) << l;
    const Exact low = is_signed_form ? Exact(INT64_MIN) : Exact(0),
                high = is_signed_form ? Exact(INT64_MAX) : Exact(UINT64_MAX);
    const Exact result = !clamp ? exact : exact < low ? low : exact > high ? high : exact;
    EXPECT_EQ(s.v64(10, l), static_cast<uint64_t>(result)) << text << " lane " << l;
  }
  EXPECT_EQ(s.wave().pair(4), carry) << text;
}

TEST(VectorInteger, WideMultiplyAdd) {
  for (const bool is_signed_form : {false, true})
    for (const bool clamp : {false, true}) check_wide_mad(is_signed_form, clamp);
}

// --- Sums of absolute differences of several bytes at once

uint64_t part(const Snippet& s, unsigned row, unsigned lane, unsigned shift) {
  auto& snippet = const_cast<Snippet&>(s);
  return snippet.v64(row, lane) >> shift;
}

void check_quad(bool masked, bool clamp) {
  const std::string text = std::string(masked ? "v_mqsad_pk_u16_u8" : "v_qsad_pk_u16_u8") +
                           " v[10:11], v[0:1], v2, v[4:5]" + (clamp ? " clamp" : "");
  Snippet s = with_random_sources("gfx942", text, 5);
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned n = 0; n < 4; ++n) {
      const Exact sum = byte_sum(static_cast<uint32_t>(part(s, 0, l, 8 * n)), s.v(2, l), masked) +
                        Exact(part(s, 4, l, 16 * n) & 0xffff);
      EXPECT_EQ(part(s, 10, l, 16 * n) & 0xffff, clamp ? saturated(Type::U16, sum) : wrapped(Type::U16, sum))
          << text << " lane " << l << " sum " << n;
    }
}

TEST(VectorInteger, QuadDifferences) {
  for (const bool masked : {false, true})
    for (const bool clamp : {false, true}) check_quad(masked, clamp);
}

TEST(VectorInteger, MaskedQuadDifferencesOf32Bits) {
  for (const bool clamp : {false, true}) {
    Snippet s = with_random_sources(
        "gfx942", std::string("v_mqsad_u32_u8 v[12:15], v[0:1], v2, v[4:7]") + (clamp ? " clamp" : ""), 6);
    run(s);
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned n = 0; n < 4; ++n) {
        const Exact sum =
            byte_sum(static_cast<uint32_t>(part(s, 0, l, 8 * n)), s.v(2, l), true) + s.v(4 + n, l);
        EXPECT_EQ(s.v(12 + n, l), clamp ? saturated(Type::U32, sum) : wrapped(Type::U32, sum));
      }
  }
}

// --- 16-bit halves

TEST(VectorInteger, OpSelChoosesHalvesOf16BitOperands) {
  Snippet s = with_random_sources("gfx942",
                                  "v_mad_i16 v10, v0, v1, v2 op_sel:[1,0,1,1]\n"
                                  "v_mad_u32_u16 v11, v0, v1, v2 op_sel:[0,1,0,0]",
                                  8);
  const Row before = s.wave().vectors[10];
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const Exact exact =
        as(Type::I16, s.v(0, l) >> 16) * as(Type::I16, s.v(1, l)) + as(Type::I16, s.v(2, l) >> 16);
    EXPECT_EQ(s.v(10, l), wrapped(Type::I16, exact) << 16 | (before.lane[l] & 0xffff));
    EXPECT_EQ(s.v(11, l), wrapped(Type::U32, as(Type::U16, s.v(0, l)) * (s.v(1, l) >> 16) + s.v(2, l)));
  }
}

TEST(VectorInteger, MedianIsTheMiddleOne) {
  Snippet s = with_random_sources("gfx942",
                                  "v_med3_i32 v10, v0, v1, v2\nv_med3_u32 v11, v0, v1, v2\n"
                                  "v_med3_u16 v8, v0, v1, v2 op_sel:[0,0,0,1]",
                                  9);
  const Row before = s.wave().vectors[8];
  run(s);
  const auto middle = [&](Type t, unsigned l) {
    Exact v[] = {as(t, s.v(0, l)), as(t, s.v(1, l)), as(t, s.v(2, l))};
    std::sort(std::begin(v), std::end(v));
    return wrapped(t, v[1]);
  };
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(s.v(10, l), middle(Type::I32, l));
    EXPECT_EQ(s.v(11, l), middle(Type::U32, l));
    EXPECT_EQ(s.v(8, l), middle(Type::U16, l) << 16 | (before.lane[l] & 0xffff));
  }
}

// --- Bits

TEST(VectorBits, AnyTruthTableOfThree) {
  for (const unsigned table : {0x00U, 0x96U, 0xcaU, 0xe8U, 0x7fU, 0xffU, 0x2dU, 0x54U}) {
    const std::string suffix = std::to_string(table);
    Snippet s =
        with_random_sources("gfx950",
                            "v_bitop3_b32 v10, v0, v1, v2 bitop3:" + suffix +
                                "\nv_bitop3_b16 v11, v0, v1, v2 bitop3:" + suffix + " op_sel:[1,0,0,0]",
                            table);
    run(s);
    for (unsigned l = 0; l < lanes; ++l) {
      uint32_t full = 0, half = 0;
      for (unsigned bit = 0; bit < 32; ++bit) {
        const auto at = [&](uint32_t a) {
          return (a >> bit & 1) << 2 | (s.v(1, l) >> bit & 1) << 1 | (s.v(2, l) >> bit & 1);
        };
        full |= (table >> at(s.v(0, l)) & 1) << bit;
        if (bit < 16) half |= (table >> at(s.v(0, l) >> 16) & 1) << bit;
      }
      EXPECT_EQ(s.v(10, l), full) << table;
      EXPECT_EQ(s.v(11, l) & 0xffff, half) << table;
    }
  }
}

TEST(VectorBits, PermutesBytes) {
  Snippet s = with_random_sources("gfx942", "v_perm_b32 v10, v0, v1, v2", 4);
  for (unsigned l = 0; l < lanes; ++l)
    s.v(2, l) = l % 16 | (l / 2 % 16) << 8 | (l * 7 % 16) << 16 | (l * 5 + 200) << 24;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t data = uint64_t{s.v(0, l)} << 32 | s.v(1, l);
    uint32_t expected = 0;
    for (unsigned n = 0; n < 4; ++n) {
      const unsigned select = s.v(2, l) >> (8 * n) & 0xff;
      uint32_t byte = 0xff;
      if (select < 8)
        byte = data >> (8 * select) & 0xff;
      else if (select < 12)
        byte = (data >> (16 * (select - 8) + 15) & 1) != 0 ? 0xff : 0;
      else if (select == 12)
        byte = 0;
      expected |= byte << (8 * n);
    }
    EXPECT_EQ(s.v(10, l), expected) << std::hex << s.v(2, l);
  }
}

TEST(VectorBits, FieldsModulo32) {
  Snippet s = with_random_sources(
      "gfx942", "v_bfe_u32 v10, v0, v1, v2\nv_bfe_i32 v11, v0, v1, v2\nv_bfm_b32 v8, v1, v2", 2);
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(1, l) = l * 5;
    s.v(2, l) = l * 3 + (l << 8);
  }
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned first = s.v(1, l) % 32, width = s.v(2, l) % 32;
    const uint64_t zeros_above = s.v(0, l);
    const int64_t signs_above = static_cast<int32_t>(s.v(0, l));
    const uint64_t mask = (uint64_t{1} << width) - 1;
    EXPECT_EQ(s.v(10, l), zeros_above >> first & mask);
    const uint64_t field = static_cast<uint64_t>(signs_above >> first) & mask;
    const bool negative = width != 0 && (field >> (width - 1) & 1) != 0;
    EXPECT_EQ(s.v(11, l), static_cast<uint32_t>(negative ? field | ~mask : field)) << first << " " << width;
    EXPECT_EQ(s.v(8, l), static_cast<uint32_t>(((uint64_t{1} << first) - 1) << width));
  }
}

TEST(VectorBits, FindsBits) {
  Snippet s = with_random_sources(
      "gfx942", "v_ffbh_u32 v10, v0\nv_ffbl_b32 v11, v0\nv_ffbh_i32 v8, v0\nv_bfrev_b32 v9, v0", 2);
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l < 32 ? 1U << l : l < 60 ? ~0U << (l - 32) : l - 62;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const uint32_t v = s.v(0, l);
    int top = -1, bottom = -1, differs = -1;
    uint32_t reversed = 0;
    for (int i = 31; i >= 0; --i) {
      if ((v >> (31 - i) & 1) != 0) top = i;
      if ((v >> i & 1) != 0) bottom = i;
      if (i > 0 && (v >> (31 - i) & 1) != v >> 31) differs = i;
      reversed |= (v >> i & 1) << (31 - i);
    }
    EXPECT_EQ(static_cast<int>(s.v(10, l)), top) << std::hex << v;
    EXPECT_EQ(static_cast<int>(s.v(11, l)), bottom) << std::hex << v;
    EXPECT_EQ(static_cast<int>(s.v(8, l)), differs) << std::hex << v;
    EXPECT_EQ(s.v(9, l), reversed);
  }
}

TEST(VectorBits, CountsLanesBelow) {
  Snippet s = snippet("gfx942", "v_mbcnt_lo_u32_b32 v0, s0, 0\nv_mbcnt_hi_u32_b32 v0, s1, v0");
  const uint64_t mask = 0xf0f0'1234'8001'ffff;
  s.wave().set_pair(0, mask);
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    EXPECT_EQ(s.v(0, l), static_cast<uint32_t>(std::popcount(mask & ((uint64_t{1} << l) - 1))));
}

TEST(VectorBits, ShiftsWideAndNarrow) {
  Snippet s = with_random_sources("gfx942",
                                  "v_lshlrev_b64 v[10:11], v0, v[2:3]\nv_ashrrev_i64 v[12:13], v0, v[2:3]\n"
                                  "v_ashrrev_i16 v14, v0, v2\nv_lshl_add_u64 v[16:17], v[2:3], v0, v[4:5]\n"
                                  "v_alignbit_b32 v18, v1, v2, v0\nv_alignbyte_b32 v19, v1, v2, v0",
                                  3);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned n = s.v(0, l);
    const auto value = static_cast<int64_t>(s.v64(2, l));
    EXPECT_EQ(s.v64(10, l), static_cast<uint64_t>(value) << n % 64);
    EXPECT_EQ(s.v64(12, l), static_cast<uint64_t>(value >> n % 64));
    EXPECT_EQ(s.v(14, l), static_cast<uint16_t>(static_cast<int16_t>(s.v(2, l)) >> n % 16));
    EXPECT_EQ(s.v64(16, l), (s.v64(2, l) << n % 8) + s.v64(4, l));
    const uint64_t both = uint64_t{s.v(1, l)} << 32 | s.v(2, l);
    EXPECT_EQ(s.v(18, l), static_cast<uint32_t>(both >> n % 32));
    EXPECT_EQ(s.v(19, l), static_cast<uint32_t>(both >> 8 * (n % 4)));
  }
}

TEST(VectorBits, Gfx950PacksShiftedBytes) {
  Snippet s = with_random_sources(
      "gfx950",
      "v_ashr_pk_i8_i32 v10, v0, v1, v2\nv_ashr_pk_u8_i32 v11, v0, v1, v2 op_sel:[0,0,0,1]\n"
      "v_prng_b32 v9, v0",
      3);
  const Row before = s.wave().vectors[11];
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned shift = s.v(2, l) % 32;
    const int a = static_cast<int32_t>(s.v(0, l)) >> shift, b = static_cast<int32_t>(s.v(1, l)) >> shift;
    const auto byte = [](int v, int low, int high) {
      return static_cast<uint32_t>(std::clamp(v, low, high)) & 0xff;
    };
    EXPECT_EQ(s.v(10, l) & 0xffff, byte(a, -128, 127) | byte(b, -128, 127) << 8);
    EXPECT_EQ(s.v(11, l), (byte(a, 0, 255) | byte(b, 0, 255) << 8) << 16 | (before.lane[l] & 0xffff));
    EXPECT_EQ(s.v(9, l), s.v(0, l) << 1 ^ ((s.v(0, l) >> 31) != 0 ? 197U : 0U));
  }
}

} // namespace
} // namespace asmevo::emulator
