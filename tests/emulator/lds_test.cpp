#include "memory_snippet.h"

namespace asmevo::emulator {
namespace {

void set_offsets(Snippet& s, unsigned row, uint32_t first, uint32_t step) {
  for (unsigned l = 0; l < lanes; ++l) s.v(row, l) = first + l * step;
}

TEST(Lds, ReadsOfEveryWidth) {
  Snippet s = snippet("gfx942", "ds_read_u8 v2, v0 offset:1\n"
                                "ds_read_i8 v3, v0 offset:1\n"
                                "ds_read_u16 v4, v0 offset:3\n"
                                "ds_read_i16 v5, v0 offset:3\n"
                                "ds_read_b32 v6, v0\n"
                                "ds_read_b64 v[8:9], v0 offset:8\n"
                                "ds_read_b96 v[10:12], v1 offset:4\n"
                                "ds_read_b128 v[14:17], v1\n"
                                "ds_read_u8_d16 v18, v0\n"
                                "ds_read_i8_d16_hi v19, v0\n"
                                "ds_read_u16_d16_hi v20, v0 offset:2");
  fill_lds(s);
  set_offsets(s, 0, 0, 4);
  set_offsets(s, 1, 16, 20);
  for (unsigned l = 0; l < lanes; ++l) s.v(18, l) = s.v(19, l) = s.v(20, l) = 0xabcd1234;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t a = 4 * l, b = 16 + 20 * l;
    EXPECT_EQ(s.v(2, l), pattern(a + 1));
    EXPECT_EQ(s.v(3, l), static_cast<uint32_t>(static_cast<int8_t>(pattern(a + 1))));
    EXPECT_EQ(s.v(4, l), pattern_as<uint16_t>(a + 3));
    EXPECT_EQ(s.v(5, l), static_cast<uint32_t>(pattern_as<int16_t>(a + 3)));
    EXPECT_EQ(s.v(6, l), pattern_as<uint32_t>(a));
    EXPECT_EQ(s.v64(8, l), pattern_as<uint64_t>(a + 8));
    for (unsigned d = 0; d < 3; ++d) EXPECT_EQ(s.v(10 + d, l), pattern_as<uint32_t>(b + 4 + 4 * d));
    for (unsigned d = 0; d < 4; ++d) EXPECT_EQ(s.v(14 + d, l), pattern_as<uint32_t>(b + 4 * d));
    EXPECT_EQ(s.v(18, l), 0xabcd0000U | pattern(a));
    EXPECT_EQ(s.v(19, l), static_cast<uint32_t>(static_cast<int8_t>(pattern(a))) << 16 | 0x1234U);
    EXPECT_EQ(s.v(20, l), uint32_t{pattern_as<uint16_t>(a + 2)} << 16 | 0x1234U);
  }
}

TEST(Lds, ContiguousWideReadsAndWrites) {
  Snippet s = snippet("gfx942", "ds_read_b128 v[4:7], v0\nds_write_b128 v0, v[4:7] offset:4096\n"
                                "ds_read_b96 v[8:10], v1\nds_write_b96 v1, v[8:10] offset:8192");
  fill_lds(s);
  set_offsets(s, 0, 0, 16);
  set_offsets(s, 1, 0, 12);
  run(s);
  for (unsigned i = 0; i < 1024; ++i) EXPECT_EQ(s.lds()[4096 + i], pattern(i));
  for (unsigned i = 0; i < 768; ++i) EXPECT_EQ(s.lds()[8192 + i], pattern(i));
}

TEST(Lds, OnlyActiveLanesReadAndWrite) {
  Snippet s = snippet("gfx942", "ds_read_b32 v2, v0\nds_write_b32 v0, v1 offset:1024");
  fill_lds(s);
  set_offsets(s, 0, 0, 4);
  for (unsigned l = 0; l < lanes; ++l) s.v(1, l) = l, s.v(2, l) = 7;
  s.wave().set_exec(0xf0f0f0f0'00ff00ff);
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const bool on = (s.wave().exec() >> l & 1) != 0;
    EXPECT_EQ(s.v(2, l), on ? pattern_as<uint32_t>(4 * l) : 7U);
    EXPECT_EQ(in_lds<uint32_t>(s, 1024 + 4 * l), on ? l : pattern_as<uint32_t>(1024 + 4 * l));
  }
}

TEST(Lds, OutOfRangeReadsZeroAndWritesNothing) {
  Snippet s = snippet("gfx942", "ds_read_b64 v[2:3], v0\nds_write_b64 v0, v[4:5]\nds_add_rtn_u32 v6, v1, v4");
  s.wave().lds_bytes = 256;
  fill_lds(s);
  set_offsets(s, 0, 4, 8);          // lane 31 reaches byte 260
  set_offsets(s, 1, 0xfffffffc, 4); // lane 0 is beyond, lane 1 wraps to 0
  for (unsigned l = 0; l < lanes; ++l) s.v(4, l) = 1, s.v(5, l) = 2, s.v(6, l) = 99;
  run(s);
  EXPECT_EQ(s.v64(2, 30), pattern_as<uint64_t>(244));
  EXPECT_EQ(s.v64(2, 31), 0U);
  EXPECT_EQ(s.v64(2, 63), 0U);
  EXPECT_EQ(in_lds<uint32_t>(s, 252), pattern_as<uint32_t>(252)) << "a write partly outside does nothing";
  EXPECT_EQ(in_lds<uint64_t>(s, 260), pattern_as<uint64_t>(260));
  EXPECT_EQ(s.v(6, 0), 0U);
  EXPECT_EQ(s.v(6, 1), pattern_as<uint32_t>(0));
}

TEST(Lds, TwoAddresses) {
  Snippet s =
      snippet("gfx942", "ds_read2_b32 v[0:1], v0 offset0:3 offset1:255\n"
                        "ds_read2_b64 v[4:7], v2 offset0:1 offset1:2\n"
                        "ds_read2st64_b32 v[8:9], v2 offset1:2\n"
                        "ds_read2st64_b64 v[10:13], v2 offset0:1 offset1:3\n"
                        "ds_write2_b32 v3, v8, v9 offset0:0 offset1:1\n"
                        "ds_write2st64_b64 v3, v[4:5], v[6:7] offset0:2 offset1:4\n"
                        "ds_wrxchg2_rtn_b32 v[14:15], v2, v16, v17 offset0:0 offset1:7\n"
                        "ds_wrxchg2st64_rtn_b64 v[18:21], v2, v[16:17], v[22:23] offset0:8 offset1:9");
  fill_lds(s);
  set_offsets(s, 0, 0, 4);
  set_offsets(s, 2, 0, 8);
  set_offsets(s, 3, 0x8000, 8);
  for (unsigned l = 0; l < lanes; ++l) s.v(16, l) = 0x100 + l, s.v(17, l) = 0x200 + l, s.v(22, l) = 0x300 + l;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(s.v(0, l), pattern_as<uint32_t>(4 * l + 12)) << "the address is read before it is replaced";
    EXPECT_EQ(s.v(1, l), pattern_as<uint32_t>(4 * l + 1020));
    EXPECT_EQ(s.v64(4, l), pattern_as<uint64_t>(8 * l + 8));
    EXPECT_EQ(s.v64(6, l), pattern_as<uint64_t>(8 * l + 16));
    EXPECT_EQ(s.v(9, l), pattern_as<uint32_t>(8 * l + 512));
    EXPECT_EQ(s.v64(12, l), pattern_as<uint64_t>(8 * l + 1536));
    EXPECT_EQ(in_lds<uint32_t>(s, 0x8000 + 8 * l), pattern_as<uint32_t>(8 * l));
    EXPECT_EQ(in_lds<uint32_t>(s, 0x8004 + 8 * l), pattern_as<uint32_t>(8 * l + 512));
    EXPECT_EQ(in_lds<uint64_t>(s, 0x8000 + 8 * l + 1024), pattern_as<uint64_t>(8 * l + 8));
    EXPECT_EQ(in_lds<uint64_t>(s, 0x8000 + 8 * l + 2048), pattern_as<uint64_t>(8 * l + 16));
    EXPECT_EQ(s.v64(18, l), pattern_as<uint64_t>(8 * l + 4096));
    EXPECT_EQ(s.v64(20, l), pattern_as<uint64_t>(8 * l + 4608));
    EXPECT_EQ(in_lds<uint32_t>(s, 4608 + 8 * l), 0x300 + l);
  }
  // Lane l exchanges its dwords 0 and 7; lane l + 3 meets dword 7 of lane l after it as its dword 1... none:
  // offsets 28 + 8 l are odd dwords, 8 l even ones.
  EXPECT_EQ(s.v(14, 5), pattern_as<uint32_t>(40));
  EXPECT_EQ(s.v(15, 5), pattern_as<uint32_t>(68));
  EXPECT_EQ(in_lds<uint32_t>(s, 40), 0x105U);
  EXPECT_EQ(in_lds<uint32_t>(s, 68), 0x205U);
}

TEST(Lds, AddressByLaneNumber) {
  Snippet s = snippet("gfx942", "ds_read_addtid_b32 v2 offset:8\nds_write_addtid_b32 v2 offset:4096");
  fill_lds(s);
  s.wave().scalars[slot::m0] = 0x70040; // 16 bits count
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(s.v(2, l), pattern_as<uint32_t>(0x48 + 4 * l));
    EXPECT_EQ(in_lds<uint32_t>(s, 0x1040 + 4 * l), s.v(2, l));
  }
}

TEST(Lds, AppendAndConsume) {
  Snippet s = snippet("gfx942", "ds_append v2 offset:16\nds_append v3 offset:16\nds_consume v4 offset:16");
  put_lds<uint32_t>(s, 0x50, 100);
  s.wave().scalars[slot::m0] = 0x40;
  s.wave().set_exec(0xff00);
  s.v(2, 0) = 55;
  run(s);
  EXPECT_EQ(s.v(2, 8), 100U);
  EXPECT_EQ(s.v(2, 15), 100U);
  EXPECT_EQ(s.v(2, 0), 55U) << "inactive";
  EXPECT_EQ(s.v(3, 9), 108U);
  EXPECT_EQ(s.v(4, 9), 116U);
  EXPECT_EQ(in_lds<uint32_t>(s, 0x50), 108U);
}

TEST(Lds, PermutesMoveByByteAddress) {
  Snippet s = snippet("gfx942", "ds_permute_b32 v2, v0, v1 offset:4\nds_bpermute_b32 v3, v0, v1 offset:8");
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = l < 32 ? 4 * (l / 2) : 4 * 40 + 0x100; // pairs collide; the others all push to lane 41
    s.v(1, l) = 1000 + l;
  }
  s.wave().set_exec(~uint64_t{1 << 3});
  s.v(2, 3) = 5;
  run(s);
  EXPECT_EQ(s.v(2, 1), 1001U) << "the higher lane wins";
  EXPECT_EQ(s.v(2, 2), 1002U) << "lane 3 is not active";
  EXPECT_EQ(s.v(2, 41), 1063U);
  EXPECT_EQ(s.v(2, 50), 0U);
  EXPECT_EQ(s.v(2, 3), 5U);
  EXPECT_EQ(s.v(3, 10), 1000U + 7);
  EXPECT_EQ(s.v(3, 2), 0U) << "from lane 3";
  EXPECT_EQ(s.v(3, 40), 1042U);
}

// The tables of the ISA manual's DS_SWIZZLE_B32 (source lanes, there counted from 1).
TEST(Lds, SwizzleFft) {
  constexpr unsigned all[] = {0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                              1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31};
  constexpr unsigned halves[] = {0,  8,  4,  12, 2,  10, 6,  14, 1,  9,  5,  13, 3,  11, 7,  15,
                                 16, 24, 20, 28, 18, 26, 22, 30, 17, 25, 21, 29, 19, 27, 23, 31};
  Snippet s = snippet("gfx942", "ds_swizzle_b32 v2, v0 offset:0xe000\nds_swizzle_b32 v3, v0 offset:0xe010\n"
                                "ds_swizzle_b32 v4, v0 offset:0xe01f");
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(s.v(2, l), all[l % 32] + l / 32 * 32);
    EXPECT_EQ(s.v(3, l), halves[l % 32] + l / 32 * 32);
    EXPECT_EQ(s.v(4, l), l);
  }
}

TEST(Lds, SwizzleRotationsMasksAndQuads) {
  Snippet s = snippet("gfx942", "ds_swizzle_b32 v2, v0 offset:0xc060\n" // left by 3
                                "ds_swizzle_b32 v3, v0 offset:0xc478\n" // right by 3 within 8
                                "ds_swizzle_b32 v4, v0 offset:0x801b\n" // quads reversed
                                "ds_swizzle_b32 v5, v0 offset:0x041f\n" // xor 1
                                "ds_swizzle_b32 v6, v0 offset:0x00d8"); // lanes 6 of each 8
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = 100 + l;
  s.wave().set_exec(all_lanes & ~(uint64_t{1} << 20));
  run(s);
  const auto at = [&](unsigned l) { return l == 20 ? 0 : 100 + l; };
  for (unsigned l = 0; l < lanes; ++l) {
    if (l == 20) continue;
    EXPECT_EQ(s.v(2, l), at((l & 32) | ((l + 3) & 31)));
    EXPECT_EQ(s.v(3, l), at((l & ~7U) | ((l - 3) & 7)));
    EXPECT_EQ(s.v(4, l), at(l ^ 3));
    EXPECT_EQ(s.v(5, l), at(l ^ 1));
    EXPECT_EQ(s.v(6, l), at((l & ~7U) | 6));
  }
}

// A matrix in LDS, row k (of `row_bytes`) holding 16 elements m: after the read, lane m of each 16 has
// elements k = 0... of column m. The groups of 16 lanes read matrices of their own.
void read_rows(Snippet& s, unsigned bits, unsigned lanes_a_row) {
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned i = l % 16, bytes = 16 / lanes_a_row * bits / 8;
    s.v(0, l) = l / 16 * 1024 + i / lanes_a_row * 32 + i % lanes_a_row * bytes;
  }
}
uint32_t matrix_element(unsigned group, unsigned k, unsigned m, unsigned bits) {
  const uint64_t bit = (group * 1024 + k * 32) * 8 + m * bits;
  uint32_t two;
  const uint8_t bytes[4] = {pattern(bit / 8), pattern(bit / 8 + 1), pattern(bit / 8 + 2), 0};
  std::memcpy(&two, bytes, 4);
  return two >> bit % 8 & ((1U << bits) - 1);
}

TEST(Lds, TransposingReads) {
  struct Case {
    unsigned bits, dwords;
    const char* text;
  };
  for (const Case& c :
       {Case{16, 2, "ds_read_b64_tr_b16 v[2:3], v0"}, Case{8, 2, "ds_read_b64_tr_b8 v[2:3], v0"},
        Case{4, 2, "ds_read_b64_tr_b4 v[2:3], v0"}, Case{6, 3, "ds_read_b96_tr_b6 v[2:4], v0"}}) {
    Snippet s = snippet("gfx950", c.text);
    fill_lds(s);
    const unsigned n = c.dwords * 32 / c.bits;
    read_rows(s, c.bits, 16 / n);
    run(s);
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned k = 0; k < n; ++k) {
        const unsigned bit = k * c.bits;
        uint64_t two = s.v(2 + bit / 32, l);
        if (bit / 32 + 1 < c.dwords) two |= uint64_t{s.v(3 + bit / 32, l)} << 32;
        EXPECT_EQ(two >> bit % 32 & ((1U << c.bits) - 1), matrix_element(l / 16, k, l % 16, c.bits))
            << c.text << " lane " << l << " element " << k;
      }
  }
}

TEST(Lds, GlobalWaveSync) {
  Snippet s = snippet(
      "gfx942", "ds_gws_init v2 offset:1 gds\nds_gws_barrier v2 offset:1 gds\nds_gws_sema_v offset:3 gds\n"
                "ds_gws_sema_p offset:3 gds\nds_gws_sema_br v4 offset:5 gds\nds_gws_sema_p offset:5 gds\n"
                "ds_gws_sema_p offset:5 gds\nds_nop");
  s.wave().scalars[slot::m0] = 0;
  s.v(4, 0) = 2;
  run(s); // a barrier of one wave
  GlobalWaveSync& sync = s.memory().wave_sync();
  uint64_t a = 0, b = 0, c = 0;
  EXPECT_FALSE(sync.take(5, a));
  sync.give(5, 1);
  EXPECT_TRUE(sync.take(5, a));
  EXPECT_FALSE(sync.take(5, a));
  sync.release(5);
  EXPECT_TRUE(sync.take(5, a));
  a = 0;
  EXPECT_FALSE(sync.barrier(9, 3, a));
  EXPECT_FALSE(sync.barrier(9, 3, b));
  EXPECT_FALSE(sync.barrier(9, 3, a)) << "asking again is not arriving again";
  EXPECT_TRUE(sync.barrier(9, 3, c));
  EXPECT_FALSE(sync.barrier(9, 3, c)) << "the next round";
  EXPECT_TRUE(sync.barrier(9, 3, a));
  EXPECT_TRUE(sync.barrier(9, 3, b));
}

TEST(Lds, AWaveWaitsAtAGlobalBarrierUntilTheOthersCome) {
  Snippet s = snippet("gfx942", "ds_gws_barrier v2 gds");
  s.wave().scalars[slot::m0] = 7 << 16;
  for (unsigned l = 0; l < lanes; ++l) s.v(2, l) = 1; // two waves
  s.run(50);
  EXPECT_EQ(s.wave().fault.text, "limit");
  uint64_t other = 0;
  EXPECT_TRUE(s.memory().wave_sync().barrier(7, 2, other));
}

TEST(Lds, TellsTheObserver) {
  Snippet s = snippet("gfx942", "ds_write2_b32 v0, v1, v2 offset0:1 offset1:5\nds_add_u32 v0, v1 offset:8");
  set_offsets(s, 0, 64, 4);
  Recorder r;
  s.wave().observer = &r;
  s.wave().set_exec(0xff);
  run(s);
  ASSERT_EQ(r.events.size(), 3U);
  EXPECT_EQ(r.events[0].space, isa::MemoryKind::Lds);
  EXPECT_EQ(r.events[0].addresses[1], 72U);
  EXPECT_EQ(r.events[1].addresses[1], 88U);
  EXPECT_EQ(r.events[0].lane_mask, 0xffU);
  EXPECT_TRUE(r.events[0].store && !r.events[0].load);
  EXPECT_TRUE(r.events[2].atomic && r.events[2].load && r.events[2].store);
}

TEST(Lds, AtomicsMustBeAligned) {
  Snippet s = snippet("gfx942", "ds_add_u64 v0, v[2:3]");
  set_offsets(s, 0, 0, 8);
  s.v(0, 5) = 44;
  s.v(0, 9) = 1;
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Misaligned);
  EXPECT_EQ(s.wave().fault.lane, 5);
  EXPECT_EQ(s.wave().fault.address, 44U);
}

TEST(Lds, GlobalDataShareIsNotThere) {
  constexpr uint32_t words[] = {0xd86d0000, 0x02000000}; // ds_read_b32 v2, v0 with the GDS bit
  auto s = Snippet::from_words(*isa::Target::from_id("gfx90a"), words);
  ASSERT_TRUE(s.has_value());
  s->run();
  EXPECT_TRUE(s->wave().fault.kind == FaultKind::Unimplemented || s->wave().fault.kind == FaultKind::Illegal);
}

} // namespace
} // namespace asmevo::emulator
