#include "memory_snippet.h"

namespace asmevo::emulator {
namespace {

TEST(Flat, GlobalAddressForms) {
  Snippet s = snippet("gfx942", "global_load_dword v4, v[0:1], off offset:-4096\n"
                                "global_load_dword v5, v[0:1], off offset:4095\n"
                                "global_load_dword v6, v2, s[2:3]\n"
                                "global_load_dword v7, v2, s[2:3] offset:-8\n"
                                "flat_load_dword v8, v[0:1] offset:4095");
  map_pattern(s, 0x4000);
  set_addresses(s, 0, memory_at + 0x2000, 4);
  set_s64(s, 2, memory_at + 0x100 - 0x8000'0000); // the offset is unsigned
  for (unsigned l = 0; l < lanes; ++l) s.v(2, l) = 0x8000'0000 + 8 * l;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(s.v(4, l), pattern_as<uint32_t>(0x1000 + 4 * l));
    EXPECT_EQ(s.v(5, l), pattern_as<uint32_t>(0x2fff + 4 * l));
    EXPECT_EQ(s.v(6, l), pattern_as<uint32_t>(0x100 + 8 * l));
    EXPECT_EQ(s.v(7, l), pattern_as<uint32_t>(0xf8 + 8 * l));
    EXPECT_EQ(s.v(8, l), s.v(5, l));
  }
}

// Every width in a row over a page boundary, one by one in odd places, backwards, and all lanes at one.
TEST(Flat, LoadsOfEveryWidthFromAnywhere) {
  struct Case {
    const char* name;
    unsigned bytes, dwords;
  };
  constexpr Case cases[] = {{"dword", 4, 1}, {"dwordx2", 8, 2}, {"dwordx3", 12, 3}, {"dwordx4", 16, 4}};
  for (const Case& c : cases)
    for (const auto& [start, step] : {std::pair<uint64_t, int64_t>{0, c.bytes},
                                      {page_bytes - 200, c.bytes},
                                      {1, 37},
                                      {page_bytes - 5, 64},
                                      {0x2000, -52},
                                      {0x1ffe, 0}}) {
      Snippet s = snippet("gfx942", std::string("global_load_") + c.name +
                                        " v[4:" + std::to_string(3 + c.dwords) + "], v[0:1], off");
      if (c.dwords == 1) s = snippet("gfx942", "global_load_dword v4, v[0:1], off");
      map_pattern(s, 0x4000);
      set_addresses(s, 0, memory_at + start, step);
      run(s);
      for (unsigned l = 0; l < lanes; ++l)
        for (unsigned d = 0; d < c.dwords; ++d)
          EXPECT_EQ(s.v(4 + d, l), pattern_as<uint32_t>(start + static_cast<uint64_t>(l * step) + 4 * d))
              << c.name << " from " << start << " by " << step << " lane " << l;
    }
}

TEST(Flat, NarrowLoadsAndStores) {
  Snippet s =
      snippet("gfx942", "global_load_ubyte v4, v0, s[2:3]\nglobal_load_sbyte v5, v0, s[2:3]\n"
                        "global_load_ushort v6, v0, s[2:3]\nglobal_load_sshort v7, v0, s[2:3]\n"
                        "global_load_ubyte_d16 v8, v0, s[2:3]\nglobal_load_sbyte_d16_hi v9, v0, s[2:3]\n"
                        "global_load_short_d16_hi v10, v0, s[2:3]\n"
                        "global_store_byte v0, v11, s[2:3] offset:1024\n"
                        "global_store_byte_d16_hi v0, v11, s[2:3] offset:1025\n"
                        "global_store_short v0, v11, s[2:3] offset:2048\n"
                        "global_store_short_d16_hi v0, v11, s[2:3] offset:2050");
  map_pattern(s, 0x4000);
  set_s64(s, 2, memory_at);
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = 5 * l;
    s.v(8, l) = s.v(9, l) = s.v(10, l) = 0xabcd1234;
    s.v(11, l) = 0x01020304 + l * 0x01010101;
  }
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned a = 5 * l;
    const uint32_t data = 0x01020304 + l * 0x01010101;
    EXPECT_EQ(s.v(4, l), pattern(a));
    EXPECT_EQ(s.v(5, l), static_cast<uint32_t>(static_cast<int8_t>(pattern(a))));
    EXPECT_EQ(s.v(6, l), pattern_as<uint16_t>(a));
    EXPECT_EQ(s.v(7, l), static_cast<uint32_t>(pattern_as<int16_t>(a)));
    EXPECT_EQ(s.v(8, l), 0xabcd0000U | pattern(a));
    EXPECT_EQ(s.v(9, l), static_cast<uint32_t>(static_cast<int8_t>(pattern(a))) << 16 | 0x1234U);
    EXPECT_EQ(s.v(10, l), uint32_t{pattern_as<uint16_t>(a)} << 16 | 0x1234U);
    EXPECT_EQ(in_memory<uint8_t>(s, memory_at + 1024 + a), static_cast<uint8_t>(data));
    EXPECT_EQ(in_memory<uint8_t>(s, memory_at + 1025 + a), static_cast<uint8_t>(data >> 16));
    EXPECT_EQ(in_memory<uint8_t>(s, memory_at + 1026 + a), pattern(1026 + a));
    EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 2048 + a), data);
  }
}

TEST(Flat, StoresOverPagesAndRegions) {
  Snippet s = snippet("gfx942", "global_store_dwordx4 v[0:1], v[4:7], off");
  map_zeros(s, page_bytes + 5);
  ASSERT_TRUE(s.memory().map({"next", memory_at + page_bytes + 5, page_bytes}).has_value());
  set_addresses(s, 0, memory_at + page_bytes - 500, 16);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned d = 0; d < 4; ++d) s.v(4 + d, l) = 1000 * l + d;
  s.wave().set_exec(all_lanes & ~uint64_t{2});
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned d = 0; d < 4; ++d)
      EXPECT_EQ(in_memory<uint32_t>(s, memory_at + page_bytes - 500 + 16 * l + 4 * d),
                l == 1 ? 0 : 1000 * l + d);
}

TEST(Flat, FaultsNameTheLowestLane) {
  Snippet s = snippet("gfx942", "s_nop 0\nglobal_load_dwordx2 v[4:5], v[0:1], off");
  map_pattern(s, 0x1000);
  set_addresses(s, 0, memory_at, 8);
  s.set_v64(0, 9, memory_at + 0x1000 - 4); // half outside
  s.set_v64(0, 5, 0x10);
  s.wave().set_exec(all_lanes & ~uint64_t{1 << 5});
  for (unsigned l = 0; l < lanes; ++l) s.v(4, l) = 3;
  s.run();
  const Fault& f = s.wave().fault;
  EXPECT_EQ(f.kind, FaultKind::Memory);
  EXPECT_EQ(f.lane, 9);
  EXPECT_EQ(f.address, memory_at + 0xffc);
  EXPECT_EQ(f.bytes, 8U);
  EXPECT_FALSE(f.write);
  EXPECT_EQ(f.pc, Snippet::code_address + 4);
  EXPECT_EQ(s.wave().pc, f.pc);
  EXPECT_EQ(f.text, "global_load_dwordx2");
  EXPECT_EQ(s.v(4, 0), 3U);
}

TEST(Flat, FaultingStoresWriteNothing) {
  Snippet s = snippet("gfx942", "global_store_dword v[0:1], v4, off");
  map_zeros(s, 64);
  ASSERT_TRUE(s.memory().map({"guard", memory_at + 64, 64, RegionAccess::Guard}).has_value());
  ASSERT_TRUE(s.memory().map({"constant", memory_at + 256, 64, RegionAccess::ReadOnly}).has_value());
  set_addresses(s, 0, memory_at, 4);
  for (unsigned l = 0; l < lanes; ++l) s.v(4, l) = 1;
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Guard);
  EXPECT_EQ(s.wave().fault.lane, 16);
  EXPECT_TRUE(s.wave().fault.write);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at), 0U);

  Snippet t = snippet("gfx942", "global_store_dword v[0:1], v4, off");
  ASSERT_TRUE(t.memory().map({"constant", memory_at, 256, RegionAccess::ReadOnly}).has_value());
  set_addresses(t, 0, memory_at, 4);
  t.run();
  EXPECT_EQ(t.wave().fault.kind, FaultKind::Memory);
  EXPECT_EQ(t.wave().fault.lane, 0);
}

TEST(Flat, AtomicsMustBeAligned) {
  Snippet s = snippet("gfx942", "global_atomic_add_x2 v[0:1], v[4:5], off");
  map_zeros(s, 0x1000);
  set_addresses(s, 0, memory_at, 8);
  s.set_v64(0, 7, memory_at + 60);
  s.set_v64(0, 3, memory_at + 0x1000); // beyond
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Memory);
  EXPECT_EQ(s.wave().fault.lane, 3);
  s.set_v64(0, 3, memory_at);
  Snippet t = snippet("gfx942", "global_atomic_add_x2 v[0:1], v[4:5], off");
  map_zeros(t, 0x1000);
  set_addresses(t, 0, memory_at, 8);
  t.set_v64(0, 7, memory_at + 60);
  t.run();
  EXPECT_EQ(t.wave().fault.kind, FaultKind::Misaligned);
  EXPECT_EQ(t.wave().fault.lane, 7);
}

// Lanes 0 mod 3 to memory, 1 mod 3 to LDS, 2 mod 3 to scratch.
uint64_t mixed_address(Snippet& s, unsigned lane) {
  const DispatchContext& d = s.dispatch();
  switch (lane % 3) {
  case 0: return memory_at + 8 * lane;
  case 1: return (uint64_t{d.shared_aperture_hi} << 32) + 8 * lane;
  default: return (uint64_t{d.private_aperture_hi} << 32) + 8 * (lane % 5);
  }
}

void flat_goes_three_ways(const char* gpu) {
  Snippet s =
      snippet(gpu, "flat_load_dwordx2 v[4:5], v[0:1] offset:8\nflat_store_dwordx2 v[0:1], v[6:7] offset:16\n"
                   "flat_atomic_add v8, v[0:1], v2 " +
                       std::string(gpu == std::string_view("gfx90a") ? "glc" : "sc0"));
  map_pattern(s, 0x1000);
  fill_lds(s);
  s.add_scratch(64);
  const uint64_t scratch = s.dispatch().target.architected_flat_scratch() ? s.wave().scratch_base
                                                                          : s.wave().pair(slot::flat_scratch);
  const auto scratch_at = [&](unsigned lane, unsigned byte) { return scratch + (byte / 4 * 64 + lane) * 4; };
  for (unsigned l = 0; l < lanes; ++l) {
    for (unsigned b = 0; b < 64; b += 4) put_memory<uint32_t>(s, scratch_at(l, b), l * 100 + b);
    s.set_v64(0, l, mixed_address(s, l));
    s.set_v64(6, l, 0x1'0000'0002 * l);
    s.v(2, l) = 1;
  }
  Recorder r;
  s.wave().observer = &r;
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    if (l % 3 == 2) {
      const unsigned b = 8 * (l % 5);
      EXPECT_EQ(s.v(4, l), l * 100 + b + 8);
      EXPECT_EQ(s.v(5, l), l * 100 + b + 12);
      EXPECT_EQ(in_memory<uint32_t>(s, scratch_at(l, b + 16)), 2 * l);
      EXPECT_EQ(in_memory<uint32_t>(s, scratch_at(l, b + 20)), l);
      EXPECT_EQ(s.v(8, l), l * 100 + b);
      EXPECT_EQ(in_memory<uint32_t>(s, scratch_at(l, b)), l * 100 + b + 1);
      continue;
    }
    EXPECT_EQ(s.v64(4, l), pattern_as<uint64_t>(8 * l + 8));
    EXPECT_EQ(l % 3 == 0 ? in_memory<uint64_t>(s, memory_at + 8 * l + 16) : in_lds<uint64_t>(s, 8 * l + 16),
              0x1'0000'0002U * l);
  }
  ASSERT_EQ(r.events.size(), 9U);
  EXPECT_EQ(r.events[0].space, isa::MemoryKind::Global);
  EXPECT_EQ(r.events[1].space, isa::MemoryKind::Lds);
  EXPECT_EQ(r.events[2].space, isa::MemoryKind::Scratch);
  EXPECT_EQ(r.events[0].lane_mask | r.events[1].lane_mask | r.events[2].lane_mask, all_lanes);
  EXPECT_EQ(r.events[1].addresses[1], 16U);
}

TEST(Flat, ApertureOfEachLane) {
  flat_goes_three_ways("gfx942");
  flat_goes_three_ways("gfx90a");
}

TEST(Flat, ScratchForms) {
  Snippet s = snippet("gfx942", "scratch_store_dwordx4 off, v[4:7], off offset:16\n"
                                "scratch_load_dword v8, off, s4 offset:4\n"
                                "scratch_load_dwordx2 v[10:11], v0, off offset:-4\n"
                                "scratch_load_dword v12, v0, s4\n"
                                "scratch_load_ushort v13, off, off offset:23\n"
                                "scratch_store_byte v0, v5, s5\n"
                                "scratch_load_dwordx3 v[14:16], off, off offset:18\n"
                                "scratch_store_dwordx2 off, v[14:15], off offset:41");
  s.add_scratch(64);
  s.s(4) = 16;
  s.s(5) = 30;
  for (unsigned l = 0; l < lanes; ++l) {
    s.v(0, l) = l % 2 == 0 ? 20 : 8;
    for (unsigned d = 0; d < 4; ++d) s.v(4 + d, l) = 0x01020304 * (d + 1) + 0x40 * l;
  }
  run(s);
  const auto byte_at = [&](unsigned lane, unsigned b) {
    return in_memory<uint8_t>(s, s.wave().scratch_base + (b / 4 * 64 + lane) * 4 + b % 4);
  };
  for (unsigned l = 0; l < lanes; ++l) {
    EXPECT_EQ(s.v(8, l), s.v(5, l));
    if (l % 2 == 0) {
      EXPECT_EQ(s.v(10, l), s.v(4, l));
      EXPECT_EQ(s.v(11, l), s.v(5, l));
      EXPECT_EQ(s.v(12, l), 0U);
    } else {
      EXPECT_EQ(s.v(10, l), 0U);
      EXPECT_EQ(s.v(12, l), s.v(6, l));
    }
    EXPECT_EQ(s.v(13, l), (s.v(5, l) >> 24) | (s.v(6, l) & 0xff) << 8);
    EXPECT_EQ(s.v(14, l), s.v(4, l) >> 16 | s.v(5, l) << 16);
    EXPECT_EQ(s.v(15, l), s.v(5, l) >> 16 | s.v(6, l) << 16);
    EXPECT_EQ(byte_at(l, 30 + s.v(0, l)), l % 2 == 0 ? byte_at(l, 50) : (s.v(5, l) & 0xff));
    for (unsigned b = 0; b < 8; ++b)
      EXPECT_EQ(byte_at(l, 41 + b), static_cast<uint8_t>(s.v64(14, l) >> (8 * b))) << l << " " << b;
  }
}

TEST(Flat, ScratchEndsWhereTheDispatchSays) {
  Snippet s = snippet("gfx942", "scratch_load_dwordx2 v[4:5], v0, off");
  s.add_scratch(64);
  for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l == 40 ? 60 : 56;
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Memory);
  EXPECT_EQ(s.wave().fault.lane, 40);
}

TEST(Flat, LoadsToLds) {
  Snippet s = snippet("gfx950", "global_load_lds_dword v[0:1], off offset:8\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "global_load_lds_dwordx4 v[0:1], off\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "global_load_lds_dwordx3 v[0:1], off\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "global_load_lds_sbyte v[0:1], off\n"
                                "s_add_u32 m0, m0, 0x400\n"
                                "global_load_lds_ushort v[0:1], off");
  map_pattern(s, 0x2000);
  set_addresses(s, 0, memory_at, 24);
  s.wave().scalars[slot::m0] = 0x1'0202; // beyond 64 KiB; whole dwords
  s.wave().set_exec(all_lanes & ~uint64_t{4});
  run(s);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned a = 24 * l;
    if (l == 2) {
      EXPECT_EQ(in_lds<uint32_t>(s, 0x10208 + 4 * l), 0U);
      EXPECT_EQ(in_lds<uint64_t>(s, 0x10600 + 16 * l), 0U);
      continue;
    }
    EXPECT_EQ(in_lds<uint32_t>(s, 0x10208 + 4 * l), pattern_as<uint32_t>(a + 8));
    for (unsigned d = 0; d < 4; ++d) {
      EXPECT_EQ(in_lds<uint32_t>(s, 0x10600 + 16 * l + 4 * d), pattern_as<uint32_t>(a + 4 * d));
      EXPECT_EQ(in_lds<uint32_t>(s, 0x10a00 + 16 * l + 4 * d), d == 3 ? 0 : pattern_as<uint32_t>(a + 4 * d));
    }
    EXPECT_EQ(in_lds<uint32_t>(s, 0x10e00 + 4 * l), static_cast<uint32_t>(static_cast<int8_t>(pattern(a))));
    EXPECT_EQ(in_lds<uint32_t>(s, 0x11200 + 4 * l), pattern_as<uint16_t>(a));
  }
}

TEST(Flat, LoadsToLdsOnGfx90aAndFromScratch) {
  Snippet s = snippet("gfx90a", "global_load_dword v[0:1], off lds");
  map_pattern(s, 0x1000);
  set_addresses(s, 0, memory_at, 8);
  s.wave().scalars[slot::m0] = 0x100;
  run(s);
  for (unsigned l = 0; l < lanes; ++l)
    EXPECT_EQ(in_lds<uint32_t>(s, 0x100 + 4 * l), pattern_as<uint32_t>(8 * l));

  Snippet t =
      snippet("gfx942", "scratch_store_dword off, v4, off offset:8\nscratch_load_lds_dword off, s4 offset:4");
  t.add_scratch(64);
  t.s(4) = 4;
  t.wave().scalars[slot::m0] = 0x40;
  for (unsigned l = 0; l < lanes; ++l) t.v(4, l) = 77 + l;
  run(t);
  for (unsigned l = 0; l < lanes; ++l) EXPECT_EQ(in_lds<uint32_t>(t, 0x44 + 4 * l), 77 + l);
}

TEST(Flat, LanesWithoutRoomInLdsDoNotRead) {
  Snippet s = snippet("gfx942", "global_load_lds_dword v[0:1], off");
  map_pattern(s, 16);
  set_addresses(s, 0, memory_at, 4); // lane 4 and up read outside
  s.wave().lds_bytes = 0x110;
  s.wave().scalars[slot::m0] = 0x100;
  run(s);
  EXPECT_EQ(in_lds<uint32_t>(s, 0x10c), pattern_as<uint32_t>(12));
  EXPECT_EQ(in_lds<uint32_t>(s, 0x110), 0U);
}

TEST(Flat, NoActiveLanesDoNothing) {
  Snippet s = snippet("gfx942", "global_load_dword v4, v[0:1], off\nglobal_store_dword v[0:1], v4, off\n"
                                "flat_atomic_add v[0:1], v4\nglobal_load_lds_dword v[0:1], off");
  s.wave().set_exec(0);
  run(s);
}

} // namespace
} // namespace asmevo::emulator
