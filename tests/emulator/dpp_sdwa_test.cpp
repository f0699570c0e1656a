// Every DPP control and SDWA selector against the manual's description, lane by lane.
#include "float_lanes.h"

#include <optional>

namespace asmevo::emulator {
namespace {

struct Control {
  std::string text;
  std::function<std::optional<unsigned>(unsigned)> source; // the lane that a lane reads
};

std::vector<Control> controls() {
  std::vector<Control> all;
  const auto in_row = [](unsigned l, int other) {
    return other >= 0 && other < 16 ? std::optional(l / 16 * 16 + static_cast<unsigned>(other))
                                    : std::nullopt;
  };
  for (const unsigned perm : {0x1bU, 0xe4U, 0x00U, 0xb1U, 0x4eU}) {
    std::string text = "quad_perm:[";
    for (unsigned n = 0; n < 4; ++n) text += std::to_string(perm >> (2 * n) & 3) + (n < 3 ? "," : "]");
    all.push_back({text, [perm](unsigned l) { return l / 4 * 4 + (perm >> (2 * (l % 4)) & 3); }});
  }
  for (unsigned n = 1; n < 16; ++n) {
    const int by = static_cast<int>(n);
    const std::string number = std::to_string(n);
    all.push_back(
        {"row_shl:" + number, [=](unsigned l) { return in_row(l, static_cast<int>(l % 16) + by); }});
    all.push_back(
        {"row_shr:" + number, [=](unsigned l) { return in_row(l, static_cast<int>(l % 16) - by); }});
    all.push_back({"row_ror:" + number,
                   [=](unsigned l) { return in_row(l, (static_cast<int>(l % 16) - by + 16) % 16); }});
  }
  for (unsigned n = 0; n < 16; ++n)
    all.push_back({"row_newbcast:" + std::to_string(n), [n](unsigned l) { return l / 16 * 16 + n; }});
  all.push_back({"wave_shl:1", [](unsigned l) { return l == 63 ? std::nullopt : std::optional(l + 1); }});
  all.push_back({"wave_shr:1", [](unsigned l) { return l == 0 ? std::nullopt : std::optional(l - 1); }});
  all.push_back({"wave_rol:1", [](unsigned l) { return (l + 1) % 64; }});
  all.push_back({"wave_ror:1", [](unsigned l) { return (l + 63) % 64; }});
  all.push_back({"row_mirror", [](unsigned l) { return l / 16 * 16 + 15 - l % 16; }});
  all.push_back({"row_half_mirror", [](unsigned l) { return l / 8 * 8 + 7 - l % 8; }});
  all.push_back(
      {"row_bcast:15", [](unsigned l) { return l < 16 ? std::nullopt : std::optional(l / 16 * 16 - 1); }});
  all.push_back({"row_bcast:31", [](unsigned l) { return l < 32 ? std::nullopt : std::optional(31U); }});
  return all;
}

struct Masks {
  unsigned rows, banks;
  bool bound_ctrl;
  uint64_t exec;
};

std::string dpp_suffix(const Control& c, const Masks& m) {
  return " " + c.text + " row_mask:" + std::to_string(m.rows) + " bank_mask:" + std::to_string(m.banks) +
         (m.bound_ctrl ? " bound_ctrl:0" : "");
}

// What the lane reads; none where it is not written.
std::optional<uint32_t> read_by(const Control& c, const Masks& m, unsigned l, const Row& from) {
  if ((m.exec >> l & 1) == 0 || (m.rows >> l / 16 & 1) == 0 || (m.banks >> l % 16 / 4 & 1) == 0)
    return std::nullopt;
  const auto source = c.source(l);
  if (source && (m.exec >> *source & 1) != 0) return from.lane[*source];
  return m.bound_ctrl ? std::optional(0U) : std::nullopt;
}

TEST(Dpp, EveryControlMaskAndBound) {
  const Masks masks[] = {{15, 15, false, all_lanes},          {15, 15, true, all_lanes},
                         {0xa, 0xc, false, all_lanes},        {0x5, 0x3, true, 0xfff0ffff0fff3c3c},
                         {15, 15, false, 0xaaaa5555f0f00ff0}, {15, 15, true, 0x8000000000000001}};
  for (const Control& c : controls())
    for (const Masks& m : masks) {
      const std::string text = "v_add_u32_dpp v2, v0, v1" + dpp_suffix(c, m);
      Snippet s = snippet("gfx942", text);
      for (unsigned l = 0; l < lanes; ++l)
        s.v(0, l) = 1000 + l, s.v(1, l) = 7 * l, s.v(2, l) = 0xdead0000 + l;
      s.wave().set_exec(m.exec);
      const Row from = s.wave().vectors[0];
      run(s);
      for (unsigned l = 0; l < lanes; ++l) {
        const auto read = read_by(c, m, l, from);
        EXPECT_EQ(s.v(2, l), read ? *read + 7 * l : 0xdead0000 + l)
            << text << " exec " << std::hex << m.exec << " lane " << l;
      }
    }
}

TEST(Dpp, SourceMayBeTheDestination) {
  Snippet s = snippet("gfx942", "v_add_f32_dpp v0, v0, v0 row_ror:4 row_mask:0xf bank_mask:0xf");
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = bits32(static_cast<float>(l));
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    EXPECT_EQ(f32(s.v(0, l)), static_cast<float>(l + l / 16 * 16 + (l + 12) % 16));
}

TEST(Dpp, SignModifiersAndWideMoves) {
  Snippet s = snippet("gfx942", "v_add_f32_dpp v2, -v0, |v1| quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"
                                "v_mov_b64_dpp v[4:5], v[0:1] row_newbcast:3 row_mask:0xf bank_mask:0xf");
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = bits32(static_cast<float>(l)), s.v(1, l) = bits32(-0.5F);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(f32(s.v(2, l)), 0.5F - static_cast<float>(l ^ 1));
    EXPECT_EQ(s.v64(4, l), s.v64(0, l / 16 * 16 + 3));
  }
}

// Lanes that DPP does not write have no carry either.
TEST(Dpp, CarriesOfWrittenLanesOnly) {
  Snippet s =
      snippet("gfx942", "v_add_co_u32_dpp v2, vcc, v0, v1 quad_perm:[0,1,2,3] row_mask:0x5 bank_mask:0xf");
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = 0xffffffff, s.v(1, l) = 1;
  s.wave().set_vcc(all_lanes);
  run(s);
  EXPECT_EQ(s.wave().vcc(), 0x0000ffff0000ffffU);
}

// --- SDWA

constexpr std::string_view selectors[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                          "WORD_0", "WORD_1", "DWORD"};

struct Field {
  unsigned shift, bits;
};
Field field(unsigned selector) {
  return selector < 4 ? Field{8 * selector, 8} : selector < 6 ? Field{16 * (selector - 4), 16} : Field{0, 32};
}

uint32_t selected(uint32_t v, unsigned selector, bool sign_extends) {
  const auto [shift, bits] = field(selector);
  const uint64_t part = v >> shift & ((uint64_t{1} << bits) - 1);
  const bool negative = sign_extends && (part >> (bits - 1) & 1) != 0;
  return static_cast<uint32_t>(negative ? part | ~uint64_t{0} << bits : part);
}

uint32_t placed(uint32_t result, uint32_t before, unsigned selector, std::string_view unused) {
  const auto [shift, bits] = field(selector);
  const uint64_t mask = ((uint64_t{1} << bits) - 1) << shift, part = uint64_t{result} << shift & mask;
  if (unused == "UNUSED_PRESERVE") return static_cast<uint32_t>(part | (before & ~mask));
  if (unused == "UNUSED_SEXT" && (result >> (bits - 1) & 1) != 0)
    return static_cast<uint32_t>(part | ~uint64_t{0} << (shift + bits));
  return static_cast<uint32_t>(part);
}

void check_sdwa(unsigned src0, unsigned src1, bool extend0, bool extend1, unsigned dst,
                std::string_view unused) {
  const std::string text =
      std::string("v_sub_u32_sdwa v2, ") + (extend0 ? "sext(v0)" : "v0") + (extend1 ? ", sext(v1)" : ", v1") +
      " dst_sel:" + std::string(selectors[dst]) + " dst_unused:" + std::string(unused) +
      " src0_sel:" + std::string(selectors[src0]) + " src1_sel:" + std::string(selectors[src1]);
  Snippet s = snippet("gfx942", text);
  std::mt19937 random(src0 * 100 + src1 * 10 + dst);
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned l = 0; l < lanes; ++l) s.v(row, l) = static_cast<uint32_t>(random());
  const Row before = s.wave().vectors[2];
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const uint32_t result = selected(s.v(0, l), src0, extend0) - selected(s.v(1, l), src1, extend1);
    EXPECT_EQ(s.v(2, l), placed(result, before.lane[l], dst, unused)) << text;
  }
}

TEST(Sdwa, EverySelector) {
  for (unsigned src0 = 0; src0 < 7; ++src0)
    for (unsigned src1 = 0; src1 < 7; ++src1)
      for (unsigned extend = 0; extend < 4; ++extend)
        check_sdwa(src0, src1, (extend & 1) != 0, (extend & 2) != 0, 6, "UNUSED_PAD");
}

TEST(Sdwa, EveryDestination) {
  for (unsigned dst = 0; dst < 7; ++dst)
    for (const std::string_view unused : {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"})
      check_sdwa(6, 6, false, false, dst, unused);
}

TEST(Sdwa, SignsOfFloats) {
  Snippet s = snippet(
      "gfx942",
      "v_add_f16_sdwa v2, -v0, |v1| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
      "src1_sel:WORD_0\n"
      "v_add_f32_sdwa v3, -|v4|, v5 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD\n"
      "v_mul_f32_sdwa v6, v4, v5 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD");
  s.v(0, 0) = 0x3c00'1111, s.v(1, 0) = 0x2222'c000, s.v(2, 0) = 0x5555'6666;
  s.v(4, 0) = bits32(-3), s.v(5, 0) = bits32(-0.5F);
  run(s);
  EXPECT_EQ(s.v(2, 0), 0x3c00'6666U); // -1 + 2
  EXPECT_EQ(f32(s.v(3, 0)), -3.5F);
  EXPECT_EQ(f32(s.v(6, 0)), 1);
}

TEST(Sdwa, SaturatesBeforeItPlaces) {
  Snippet s = snippet(
      "gfx942",
      "v_add_u16_sdwa v2, v0, v1 clamp dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_3");
  s.v(0, 0) = 0xffff'0000, s.v(1, 0) = 0x0500'0000;
  run(s);
  EXPECT_EQ(s.v(2, 0), 0xffff'0000U);
}

TEST(Sdwa, ComparisonsWriteTheirScalar) {
  Snippet s = snippet("gfx942", "v_cmp_lt_i32_sdwa s[6:7], sext(v0), v1 src0_sel:BYTE_1 src1_sel:WORD_1\n"
                                "v_cmp_gt_f16_sdwa vcc, -v0, |v1| src0_sel:WORD_1 src1_sel:WORD_0\n"
                                "v_cmpx_eq_u16_sdwa s[8:9], v2, v3 src0_sel:WORD_1 src1_sel:BYTE_0");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = (l % 2 == 0 ? 0xff00U : 0x7f00U) | (l % 4 < 2 ? 0xc0000000 : 0x3c000000);
    s.v(1, l) = 0x0003'bc00;
    s.v(2, l) = l << 16, s.v(3, l) = 0xffffff00 | (l % 8);
  }
  run(s);
  EXPECT_EQ(s.wave().pair(6), 0x5555555555555555U);
  EXPECT_EQ(s.wave().vcc(), 0x3333333333333333U); // 2 > 1
  EXPECT_EQ(s.wave().pair(8), 0xffU);
  EXPECT_EQ(s.wave().exec(), 0xffU);
}

TEST(Sdwa, CarriesAndScalars) {
  Snippet s =
      snippet("gfx942", "v_addc_co_u32_sdwa v2, vcc, v0, v1, vcc dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
                        "src0_sel:DWORD src1_sel:BYTE_3\n"
                        "v_mov_b32_sdwa v3, sext(s4) dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_2");
  s.v(0, 0) = 0xffffffff, s.v(1, 0) = 0, s.v(2, 0) = 0x12345678;
  s.wave().set_vcc(1);
  s.s(4) = 0x00900000;
  run(s);
  EXPECT_EQ(s.v(2, 0), 0x12340078U);
  EXPECT_EQ(s.wave().vcc(), 1U);
  EXPECT_EQ(s.v(3, 0), 0xff900000U);
}

} // namespace
} // namespace asmevo::emulator
