#include "memory_snippet.h"

#include <cmath>

namespace asmevo::emulator {
namespace {

TEST(Buffer, RawAddresses) {
  Snippet s = snippet("gfx942", "buffer_load_dword v4, off, s[4:7], 0 offset:16\n"
                                "buffer_load_dword v5, off, s[4:7], s8 offset:16\n"
                                "buffer_load_dword v6, v0, s[4:7], s8 offen offset:16\n"
                                "buffer_load_dwordx4 v[8:11], v0, s[4:7], 4 offen\n"
                                "buffer_load_sshort v12, v0, s[4:7], 0 offen offset:1\n"
                                "buffer_load_ubyte_d16_hi v13, v0, s[4:7], 0 offen");
  map_pattern(s, 0x1000);
  Resource{.records = 0x800}.put(s, 4);
  s.s(8) = 0x100;
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = 20 * l, s.v(13, l) = 0x12345678;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned a = 20 * l;
    EXPECT_EQ(s.v(4, l), pattern_as<uint32_t>(16));
    EXPECT_EQ(s.v(5, l), pattern_as<uint32_t>(0x110));
    EXPECT_EQ(s.v(6, l), pattern_as<uint32_t>(0x110 + a));
    for (unsigned d = 0; d < 4; ++d) EXPECT_EQ(s.v(8 + d, l), pattern_as<uint32_t>(4 + a + 4 * d));
    EXPECT_EQ(s.v(12, l), static_cast<uint32_t>(pattern_as<int16_t>(a + 1)));
    EXPECT_EQ(s.v(13, l), uint32_t{pattern(a)} << 16 | 0x5678U);
  }
}

// What is checked is the offset with SOFFSET, dword by dword; a dword must end in range.
TEST(Buffer, RawRangeIsCheckedByDword) {
  Snippet s = snippet("gfx942", "buffer_load_dwordx4 v[4:7], v0, s[4:7], s8 offen\n"
                                "buffer_store_dwordx3 v[10:12], v0, s[12:15], 0 offen offset:1024\n"
                                "buffer_load_dword v8, v1, s[4:7], 0 offen offset:4");
  map_pattern(s, 0x1000);
  Resource{.records = 0x200 + 42}.put(s, 4);
  Resource{.records = 1064}.put(s, 12);
  s.s(8) = 0x200;
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = l < 12 ? 4 * l : 0xffffff00 + l;
    s.v(1, l) = 0xfffffffc; // with the immediate it comes to 0
    for (unsigned d = 0; d < 3; ++d) s.v(10 + d, l) = 0x1000 * l + d;
  }
  s.wave().set_exec(all_lanes & ~uint64_t{0xf}); // so that no two write one dword: lanes 4, 7, 10 stay below
  s.wave().set_exec(1U << 4 | 1U << 7 | 1U << 9 | 1U << 11 | 1U << 30);
  for (unsigned d = 4; d < 9; ++d)
    for (unsigned l = 0; l < lanes; ++l) s.v(d, l) = 1;
  run(s);
  for (const unsigned l : {4U, 7U, 9U, 11U, 30U}) {
    for (unsigned d = 0; d < 4; ++d)
      EXPECT_EQ(s.v(4 + d, l), l < 12 && 4 * l + 4 * d < 40 ? pattern_as<uint32_t>(0x200 + 4 * l + 4 * d) : 0)
          << l << " " << d;
    EXPECT_EQ(s.v(8, l), pattern_as<uint32_t>(0));
  }
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 1024 + 28), 0x7000U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 1024 + 32), 0x7001U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 1024 + 36), 0x9000U)
      << "lane 9's first dword, after lane 7's third";
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 1024 + 40), pattern_as<uint32_t>(1064));
}

TEST(Buffer, AnEmptyResourceTouchesNothing) {
  Snippet s =
      snippet("gfx942",
              "buffer_load_dwordx2 v[4:5], v0, s[4:7], 0 offen\nbuffer_store_dword v0, v0, s[4:7], 0 offen\n"
              "buffer_atomic_add v6, v0, s[4:7], 0 offen sc0");
  for (unsigned l = 0; l < lanes; ++l) s.v(4, l) = s.v(6, l) = 9;
  run(s);
  EXPECT_EQ(s.v(4, 3), 0U);
  EXPECT_EQ(s.v(6, 3), 0U) << "the old value of what is not there";
}

TEST(Buffer, StructuredAddressesAndRange) {
  Snippet s = snippet("gfx942", "buffer_load_dword v4, v0, s[4:7], 0 idxen offset:4\n"
                                "buffer_load_dwordx2 v[6:7], v[0:1], s[4:7], s8 idxen offen offset:8\n"
                                "buffer_load_dword v8, v1, s[4:7], 0 offen");
  map_pattern(s, 0x2000);
  Resource{.stride = 24, .records = 50}.put(s, 4);
  s.s(8) = 12;
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l, s.v(1, l) = 4 * (l % 3);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned b = 4 * (l % 3);
    EXPECT_EQ(s.v(4, l), l < 50 ? pattern_as<uint32_t>(24 * l + 4) : 0);
    EXPECT_EQ(s.v64(6, l), l < 50 ? pattern_as<uint64_t>(12 + 24 * l + b + 8) : 0);
    EXPECT_EQ(s.v(8, l), pattern_as<uint32_t>(b)) << "without an index the records are bytes";
  }
}

// The private segment buffer of gfx90a: element 4, 64 indices, the lane as index.
TEST(Buffer, SwizzledByLane) {
  Snippet s = snippet("gfx90a", "buffer_store_dword v4, off, s[0:3], s8 offset:12\n"
                                "buffer_store_short v4, v0, s[0:3], s8 offen offset:2\n"
                                "buffer_load_dword v5, v0, s[0:3], s8 offen");
  map_zeros(s, 0x8000);
  Resource{.records = 0xffffffff, .swizzle = true, .add_lane = true, .index_stride = 3, .data_format = 0}.put(
      s, 0);
  s.s(8) = 0x1000;
  for (unsigned l = 0; l < lanes; ++l) s.v(4, l) = 0x10001 * (l + 1), s.v(0, l) = 4 * (l % 4) + 16;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 0x1000 + 3 * 256 + 4 * l), 0x10001 * (l + 1));
    EXPECT_EQ(s.v(5, l), (l + 1) << 16);
    EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 0x1000 + (4 + l % 4) * 256 + 4 * l), (l + 1) << 16);
  }
}

// Structures of 16 bytes by 8: the dwords of 8 indices side by side.
TEST(Buffer, SwizzledStructures) {
  Snippet s = snippet("gfx942", "buffer_load_dword v4, v[0:1], s[4:7], 0 idxen offen");
  map_pattern(s, 0x1000);
  Resource{.stride = 16, .records = 64, .swizzle = true, .index_stride = 0}.put(s, 4);
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l, s.v(1, l) = 4 * (l % 4);
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    EXPECT_EQ(s.v(4, l), pattern_as<uint32_t>((l / 8 * 16 + 4 * (l % 4)) * 8 + l % 8 * 4));
}

TEST(Buffer, StrideBitsFromTheDataFormat) {
  Snippet s = snippet("gfx942", "buffer_load_dword v4, v0, s[4:7], 0 idxen");
  map_pattern(s, 0x20000);
  Resource{.stride = 4, .records = 100, .add_lane = true, .data_format = 1}.put(s, 4); // stride 0x4004
  s.v(0, 0) = 3;
  s.v(0, 1) = 2;
  s.wave().set_exec(3);
  run(s);
  EXPECT_EQ(s.v(4, 0), pattern_as<uint32_t>(3 * 0x4004));
  EXPECT_EQ(s.v(4, 1), pattern_as<uint32_t>(3 * 0x4004));
}

TEST(Buffer, LoadsToLds) {
  Snippet s = snippet("gfx950", "buffer_load_dword v0, s[4:7], 0 offen offset:4 lds\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "buffer_load_dwordx4 v0, s[4:7], 0 offen lds\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "buffer_load_dwordx3 v0, s[4:7], 0 offen lds\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "buffer_load_sbyte v0, s[4:7], 0 offen lds");
  map_pattern(s, 0x2000);
  Resource{.records = 24 * 60}.put(s, 4);
  fill_lds(s);
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = 24 * l;
  s.wave().scalars[slot::m0] = 0x1'0200;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned a = 24 * l;
    EXPECT_EQ(in_lds<uint32_t>(s, 0x10204 + 4 * l), l < 60 ? pattern_as<uint32_t>(a + 4) : 0);
    for (unsigned d = 0; d < 4; ++d) {
      EXPECT_EQ(in_lds<uint32_t>(s, 0x10600 + 16 * l + 4 * d), l < 60 ? pattern_as<uint32_t>(a + 4 * d) : 0);
      const unsigned at = 0x10a00 + 16 * l + 4 * d;
      // The fourth dword of each slot is skipped.
      const uint32_t want = d == 3 ? pattern_as<uint32_t>(at) : l < 60 ? pattern_as<uint32_t>(a + 4 * d) : 0;
      EXPECT_EQ(in_lds<uint32_t>(s, at), want) << l << " " << d;
    }
    EXPECT_EQ(in_lds<uint32_t>(s, 0x10e00 + 4 * l),
              l < 60 ? static_cast<uint32_t>(static_cast<int8_t>(pattern(a))) : 0);
  }
  Snippet t = snippet("gfx942", "buffer_load_dword off, s[4:7], 0 lds");
  map_pattern(t, 0x100);
  Resource{}.put(t, 4);
  t.wave().scalars[slot::m0] = 0x1'0200; // 16 bits count
  run(t);
  EXPECT_EQ(in_lds<uint32_t>(t, 0x204), pattern_as<uint32_t>(0));
}

TEST(Buffer, StoresFromLds) {
  Snippet s = snippet("gfx90a", "buffer_store_lds_dword s[4:7], s8 offset:4 lds");
  map_zeros(s, 0x1000);
  fill_lds(s);
  Resource{.stride = 4, .records = 0x1000, .add_lane = true, .data_format = 0}.put(s, 4);
  s.s(8) = 0;
  s.wave().scalars[slot::m0] = 0x80;
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 4 + 4 * l), pattern_as<uint32_t>(0x84 + 4 * l));
}

TEST(Buffer, CacheControlDoesNothing) {
  Snippet a = snippet("gfx90a", "buffer_wbinvl1\nbuffer_wbinvl1_vol\nbuffer_wbl2\nbuffer_invl2");
  run(a);
  Snippet b = snippet("gfx942", "buffer_wbl2 sc1\nbuffer_inv sc1");
  run(b);
}

TEST(Buffer, FaultsInRange) {
  Snippet s = snippet("gfx942", "buffer_store_dwordx2 v[4:5], v0, s[4:7], 0 offen");
  map_zeros(s, 64);
  Resource{.records = 1000}.put(s, 4);
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l == 12 ? 60 : l == 3 ? 2000 : 0;
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Memory);
  EXPECT_EQ(s.wave().fault.lane, 12);
  EXPECT_EQ(s.wave().fault.address, memory_at + 60);
  EXPECT_TRUE(s.wave().fault.write);
}

// --- formats

struct FormatCase {
  unsigned data, number;
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> registers; // of a load of four components
};

uint32_t f(float value) {
  return float_bits(value);
}

const std::vector<FormatCase>& format_cases() {
  static const std::vector<FormatCase> cases = {
      {1, 0, {0xff}, {f(1), 0, 0, 0}},
      {1, 0, {51}, {f(0.2F), 0, 0, 0}},
      {1, 1, {0x81}, {f(-1), 0, 0, 0}},
      {1, 4, {0x80}, {0x80, 0, 0, 0}},
      {1, 5, {0x80}, {0xffffff80, 0, 0, 0}},
      {2, 7, {0x00, 0x3e}, {f(1.5F), 0, 0, 0}},
      {2, 3, {0xfe, 0xff}, {f(-2), 0, 0, 0}},
      {3, 2, {7, 200}, {f(7), f(200), 0, 0}},
      {4, 7, {0x01, 0x00, 0xa0, 0x7f}, {0x7fa00001, 0, 0, 0}}, // 32 bits: a NaN as it is
      {4, 0, {1, 2, 3, 4}, {0x04030201, 0, 0, 0}},
      {5, 5, {0xff, 0xff, 1, 0}, {0xffffffff, 1, 0, 0}},
      // 11, 11, 10 bits of float from the lowest: 1.0 = exponent 15; 0.5; 2.0
      {6, 7, {0xc0, 0x03, 0x1c, 0x80}, {f(1), f(0.5F), f(2), 0}},
      {9, 4, {0xff, 0x03, 0x00, 0xc0}, {0x3ff, 0, 0, 3}},
      {8, 4, {0x03, 0x00, 0x00, 0xff}, {3, 0, 0, 0x3fc}},
      {10, 0, {0, 255, 0, 255}, {0, f(1), 0, f(1)}},
      {11, 4, {1, 0, 0, 0, 2, 0, 0, 0}, {1, 2, 0, 0}},
      {12, 7, {0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b}, {f(1), f(-2), f(0x1p-24F), f(65504)}},
      {13, 7, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}, {1, 2, 3, 0}},
      {14, 5, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}, {1, 2, 3, 4}},
  };
  return cases;
}

TEST(Buffer, FormattedLoadsAndStores) {
  for (const FormatCase& c : format_cases()) {
    const std::string name = "dfmt " + std::to_string(c.data) + " nfmt " + std::to_string(c.number);
    Snippet s = snippet("gfx942", "buffer_load_format_xyzw v[4:7], v0, s[4:7], 0 offen\n"
                                  "buffer_store_format_xyzw v[4:7], v0, s[4:7], 0 offen offset:64");
    map_zeros(s, 256);
    Resource{.data_format = c.data, .num_format = c.number}.put(s, 4);
    ASSERT_TRUE(s.memory().write(memory_at, c.bytes).has_value());
    s.wave().set_exec(1);
    run(s);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(s.v(4 + i, 0), c.registers[i]) << name << " component " << i;
    for (unsigned i = 0; i < c.bytes.size(); ++i)
      EXPECT_EQ(in_memory<uint8_t>(s, memory_at + 64 + i), c.bytes[i]) << name << " byte " << i;
    EXPECT_EQ(in_memory<uint8_t>(s, memory_at + 64 + c.bytes.size()), 0);
  }
}

TEST(Buffer, TypedInstructionsBringTheirFormat) {
  Snippet s = snippet("gfx942", "tbuffer_load_format_xy v[4:5], v0, s[4:7], 0 "
                                "format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offen\n"
                                "tbuffer_load_format_x v6, v0, s[4:7], 0 "
                                "format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UINT] offen offset:1\n"
                                "tbuffer_store_format_xyz v[4:6], v0, s[4:7], 0 "
                                "format:[BUF_DATA_FORMAT_32_32_32,BUF_NUM_FORMAT_FLOAT] offen offset:64");
  map_zeros(s, 256);
  Resource{.data_format = 10, .num_format = 0, .select = 0}.put(s, 4); // of no matter
  put_memory<uint32_t>(s, memory_at, 0x4000'3c00);
  s.wave().set_exec(1);
  run(s);
  EXPECT_EQ(s.v(4, 0), f(1));
  EXPECT_EQ(s.v(5, 0), f(2));
  EXPECT_EQ(s.v(6, 0), 0x3cU);
  EXPECT_EQ(in_memory<float>(s, memory_at + 68), 2);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 72), 0x3cU);
}

TEST(Buffer, ChannelSelects) {
  Snippet s = snippet("gfx942", "buffer_load_format_xyzw v[4:7], v0, s[4:7], 0 offen\n"
                                "buffer_load_format_xyzw v[8:11], v0, s[8:11], 0 offen");
  map_zeros(s, 64);
  Resource{.data_format = 10, .num_format = 4, .select = 0b001'000'100'110}.put(s, 4); // z, x, 0, 1
  Resource{.data_format = 10, .num_format = 0, .select = 0b001'101'101'101}.put(s, 8);
  put_memory<uint32_t>(s, memory_at, 0x04ff0201);
  s.wave().set_exec(1);
  run(s);
  EXPECT_EQ(s.v(4, 0), 0xffU);
  EXPECT_EQ(s.v(5, 0), 1U);
  EXPECT_EQ(s.v(6, 0), 0U);
  EXPECT_EQ(s.v(7, 0), 1U);
  EXPECT_EQ(s.v(11, 0), f(1));
  EXPECT_EQ(s.v(8, 0), f(2.0F / 255));
}

TEST(Buffer, HalfRegisters) {
  Snippet s = snippet("gfx942", "buffer_load_format_d16_xyzw v[4:5], v0, s[4:7], 0 offen\n"
                                "buffer_load_format_d16_x v6, v0, s[4:7], 0 offen\n"
                                "buffer_load_format_d16_hi_x v7, v0, s[4:7], 0 offen\n"
                                "buffer_load_format_d16_xy v8, v0, s[8:11], 0 offen\n"
                                "buffer_store_format_d16_xyz v[4:5], v0, s[4:7], 0 offen offset:64\n"
                                "buffer_store_format_d16_hi_x v8, v0, s[8:11], 0 offen offset:80");
  map_zeros(s, 256);
  Resource{.data_format = 10, .num_format = 0}.put(s, 4);
  Resource{.data_format = 3, .num_format = 5}.put(s, 8);
  put_memory<uint32_t>(s, memory_at, 0xff00ff80);
  s.v(6, 0) = s.v(7, 0) = 0xaaaabbbb;
  s.wave().set_exec(1);
  run(s);
  const auto half = [](float value) {
    return uint32_t{std::bit_cast<uint16_t>(static_cast<_Float16>(value))};
  };
  EXPECT_EQ(s.v(4, 0), half(128.0F / 255) | half(1) << 16);
  EXPECT_EQ(s.v(5, 0), half(0) | half(1) << 16);
  EXPECT_EQ(s.v(6, 0), 0xaaaa0000 | half(128.0F / 255));
  EXPECT_EQ(s.v(7, 0), 0x0000bbbb | half(128.0F / 255) << 16);
  EXPECT_EQ(s.v(8, 0), 0xffffff80U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 64), 0x0000ff80U) << "three given, the fourth is 0";
  EXPECT_EQ(in_memory<uint16_t>(s, memory_at + 80), 0x00ffU);
}

TEST(Buffer, StoresClampToTheFormat) {
  struct Case {
    unsigned data, number;
    uint32_t value, stored;
  };
  const Case cases[] = {{1, 0, f(2), 255},
                        {1, 0, f(-1), 0},
                        {1, 0, f(NAN), 0},
                        {1, 0, f(0.5F), 128},
                        {1, 1, f(-5), 0x81},
                        {1, 1, f(1), 0x7f},
                        {1, 2, f(300), 255},
                        {1, 2, f(3.9F), 3},
                        {1, 3, f(-300), 0x80},
                        {1, 4, 1000, 255},
                        {1, 5, 1000, 127},
                        {1, 5, 0xfffffc00, 0x80},
                        {2, 7, f(1e6F), 0x7c00},
                        {2, 7, f(0x1.002p0F), 0x3c00},
                        {2, 7, f(0x1.006p0F), 0x3c02},
                        {6, 7, f(-1), 0},
                        {6, 7, f(1), 15 << 6},
                        {6, 7, f(0x1p-20F), 1},
                        {6, 7, f(1e9F), 31 << 6},
                        {6, 7, f(0x1.03p0F), (15 << 6) | 1},
                        {6, 7, f(0x1.fep0F), 16 << 6}};
  for (const Case& c : cases) {
    Snippet s = snippet("gfx942", "buffer_store_format_x v4, v0, s[4:7], 0 offen");
    map_zeros(s, 64);
    Resource{.data_format = c.data, .num_format = c.number}.put(s, 4);
    s.v(4, 0) = c.value;
    s.wave().set_exec(1);
    run(s);
    EXPECT_EQ(in_memory<uint32_t>(s, memory_at), c.stored)
        << "dfmt " << c.data << " nfmt " << c.number << " of " << as_float(c.value) << std::hex << " "
        << c.value;
  }
}

TEST(Buffer, FormattedAccessesAreInRangeAsAWhole) {
  Snippet s = snippet("gfx942", "buffer_load_format_xyzw v[4:7], v0, s[4:7], 0 offen\n"
                                "buffer_store_format_xyzw v[8:11], v0, s[4:7], 0 offen");
  map_zeros(s, 256);
  Resource{.records = 20, .data_format = 14, .num_format = 7}.put(s, 4);
  for (unsigned l = 0; l < 2; ++l) s.v(0, l) = 8 * l, s.v(4, l) = 5, s.v(8, l) = 6;
  put_memory<uint32_t>(s, memory_at + 8, 77);
  s.wave().set_exec(3);
  run(s);
  EXPECT_EQ(s.v(6, 0), 77U);
  EXPECT_EQ(s.v(4, 1), 0U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at), 6U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 8), 0U) << "lane 0's; lane 1 wrote nothing";
}

} // namespace
} // namespace asmevo::emulator
