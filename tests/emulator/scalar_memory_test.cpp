#include "memory_snippet.h"

namespace asmevo::emulator {
namespace {

TEST(ScalarMemory, OffsetsOfAllForms) {
  Snippet s = snippet("gfx942", "s_load_dword s20, s[2:3], 0x10\n"
                                "s_load_dword s21, s[2:3], s8\n"
                                "s_load_dword s22, s[2:3], s8 offset:0x20\n"
                                "s_load_dword s23, s[4:5], -0x10\n"
                                "s_load_dwordx2 s[24:25], s[2:3], m0\n"
                                "s_load_dwordx16 s[32:47], s[2:3], 0x40");
  map_pattern(s, 4096);
  set_s64(s, 2, memory_at);
  set_s64(s, 4, memory_at + 0x100);
  s.s(8) = 0x80;
  s.wave().scalars[slot::m0] = 0x204;
  run(s);
  EXPECT_EQ(s.s(20), pattern_as<uint32_t>(0x10));
  EXPECT_EQ(s.s(21), pattern_as<uint32_t>(0x80));
  EXPECT_EQ(s.s(22), pattern_as<uint32_t>(0xa0));
  EXPECT_EQ(s.s(23), pattern_as<uint32_t>(0xf0));
  EXPECT_EQ(s.s(24), pattern_as<uint32_t>(0x204));
  EXPECT_EQ(s.s(25), pattern_as<uint32_t>(0x208));
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(s.s(32 + i), pattern_as<uint32_t>(0x40 + 4 * i));
}

TEST(ScalarMemory, TheTwoLowestBitsCountAsZero) {
  Snippet s = snippet("gfx942", "s_load_dword s20, s[2:3], s8 offset:0x13");
  map_pattern(s, 4096);
  set_s64(s, 2, memory_at + 2);
  s.s(8) = 0x23;
  run(s);
  EXPECT_EQ(s.s(20), pattern_as<uint32_t>(0x30));
}

TEST(ScalarMemory, ALoadMayReplaceItsBase) {
  Snippet s = snippet("gfx942", "s_load_dwordx4 s[0:3], s[2:3], 0x8");
  map_pattern(s, 4096);
  set_s64(s, 2, memory_at);
  run(s);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(s.s(i), pattern_as<uint32_t>(8 + 4 * i));
}

TEST(ScalarMemory, Stores) {
  Snippet s = snippet("gfx942", "s_store_dword s20, s[2:3], 0x10\n"
                                "s_store_dwordx2 s[20:21], s[2:3], s8\n"
                                "s_store_dwordx4 s[20:23], s[2:3], 0x40\n"
                                "s_dcache_wb");
  map_zeros(s, 4096);
  set_s64(s, 2, memory_at);
  s.s(8) = 0x20;
  for (unsigned i = 0; i < 4; ++i) s.s(20 + i) = 0x1000 + i;
  run(s);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 0x10), 0x1000U);
  EXPECT_EQ(in_memory<uint64_t>(s, memory_at + 0x20), 0x0000'1001'0000'1000U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 0x4c), 0x1003U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 0x14), 0U);
}

TEST(ScalarMemory, BufferLoadsStopAtTheLastRecord) {
  Snippet s = snippet("gfx942", "s_buffer_load_dwordx4 s[20:23], s[4:7], 0x8\n"
                                "s_buffer_load_dwordx4 s[24:27], s[8:11], 0x14\n"
                                "s_buffer_load_dword s28, s[4:7], s12\n"
                                "s_buffer_store_dwordx2 s[30:31], s[4:7], 0x10");
  map_pattern(s, 4096);
  Resource{.records = 20}.put(s, 4);
  Resource{.stride = 8, .records = 3}.put(s, 8); // 24 bytes
  s.s(12) = 0x100;
  s.s(28) = 99;
  s.s(30) = 0xaaaa5555;
  s.s(31) = 0xbbbb6666;
  run(s);
  EXPECT_EQ(s.s(20), pattern_as<uint32_t>(8));
  EXPECT_EQ(s.s(22), pattern_as<uint32_t>(16));
  EXPECT_EQ(s.s(23), 0U);
  EXPECT_EQ(s.s(24), pattern_as<uint32_t>(20));
  EXPECT_EQ(s.s(25), 0U);
  EXPECT_EQ(s.s(28), 0U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 16), 0xaaaa5555U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 20), pattern_as<uint32_t>(20));
}

TEST(ScalarMemory, Atomics) {
  Snippet s = snippet("gfx942", "s_atomic_inc s20, s[2:3], 0x0 glc\n"
                                "s_atomic_dec s21, s[2:3], 0x4 glc\n"
                                "s_atomic_add_x2 s[22:23], s[2:3], 0x8 glc\n"
                                "s_atomic_cmpswap s[24:25], s[2:3], 0x10 glc\n"
                                "s_atomic_cmpswap s[26:27], s[2:3], 0x14\n"
                                "s_atomic_umax s28, s[2:3], 0x18\n"
                                "s_buffer_atomic_swap s29, s[4:7], 0x1c glc\n"
                                "s_buffer_atomic_or s30, s[4:7], 0x40 glc");
  map_zeros(s, 4096);
  set_s64(s, 2, memory_at);
  Resource{.records = 0x20}.put(s, 4);
  const uint32_t words[] = {5, 0, 0xffffffff, 1, 77, 78, 3, 0x1234};
  for (unsigned i = 0; i < 8; ++i) put_memory(s, memory_at + 4 * i, words[i]);
  s.s(20) = 5;       // at the limit: wraps to 0
  s.s(21) = 9;       // from 0: becomes the limit
  set_s64(s, 22, 1); // carries into the upper dword
  s.s(24) = 500, s.s(25) = 77;
  s.s(26) = 600, s.s(27) = 99; // comparand differs
  s.s(28) = 10;
  s.s(29) = 0xabcd;
  s.s(30) = 1; // out of range
  run(s);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at), 0U);
  EXPECT_EQ(s.s(20), 5U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 4), 9U);
  EXPECT_EQ(s.s(21), 0U);
  EXPECT_EQ(in_memory<uint64_t>(s, memory_at + 8), 0x2'0000'0000U);
  EXPECT_EQ(s.wave().pair(22), 0x1'ffff'ffffU);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 16), 500U);
  EXPECT_EQ(s.s(24), 77U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 20), 78U);
  EXPECT_EQ(s.s(26), 600U) << "nothing returned without glc";
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 24), 10U);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 28), 0xabcdU);
  EXPECT_EQ(s.s(29), 0x1234U);
  EXPECT_EQ(s.s(30), 0U);
}

TEST(ScalarMemory, ScratchCountsTheRegisterInWaves) {
  Snippet s = snippet("gfx90a", "s_scratch_load_dword s20, s[2:3], s8\n"
                                "s_scratch_store_dword s20, s[2:3], 0x10");
  map_pattern(s, 4096);
  set_s64(s, 2, memory_at);
  s.s(8) = 8;
  run(s);
  EXPECT_EQ(s.s(20), pattern_as<uint32_t>(8 * 64));
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 0x10), s.s(20));
}

TEST(ScalarMemory, TheClockStartsWhereTheDispatchSaysAndGoesOn) {
  Snippet s = snippet("gfx942", "s_memtime s[20:21]\ns_nop 0\ns_memtime s[22:23]\ns_memrealtime s[24:25]\n"
                                "s_dcache_inv\ns_dcache_inv_vol\ns_dcache_wb_vol");
  s.dispatch().start_clock = uint64_t{5} << 32;
  run(s);
  EXPECT_EQ(s.wave().pair(20), uint64_t{5} << 32);
  EXPECT_GT(s.wave().pair(22), s.wave().pair(20));
  EXPECT_GT(s.wave().pair(24), s.wave().pair(22));
}

TEST(ScalarMemory, FaultsStopAtTheInstruction) {
  Snippet s = snippet("gfx942", "s_nop 0\ns_load_dwordx4 s[20:23], s[2:3], 0x8");
  map_pattern(s, 16);
  set_s64(s, 2, memory_at);
  s.s(20) = 42;
  s.run();
  const Fault& f = s.wave().fault;
  EXPECT_EQ(f.kind, FaultKind::Memory);
  EXPECT_EQ(f.pc, Snippet::code_address + 4);
  EXPECT_EQ(s.wave().pc, f.pc);
  EXPECT_EQ(f.lane, -1);
  EXPECT_EQ(f.address, memory_at + 8);
  EXPECT_EQ(f.bytes, 16U);
  EXPECT_FALSE(f.write);
  EXPECT_EQ(f.text, "s_load_dwordx4");
  EXPECT_EQ(s.s(20), 42U);
}

TEST(ScalarMemory, StoresToGuardsAndMisalignedAtomics) {
  Snippet s = snippet("gfx942", "s_store_dword s20, s[2:3], 0x0");
  ASSERT_TRUE(s.memory().map({"guard", memory_at, 64, RegionAccess::Guard}).has_value());
  set_s64(s, 2, memory_at);
  s.run();
  EXPECT_EQ(s.wave().fault.kind, FaultKind::Guard);
  EXPECT_TRUE(s.wave().fault.write);

  Snippet t = snippet("gfx942", "s_atomic_add_x2 s[20:21], s[2:3], 0x4");
  map_zeros(t, 64);
  set_s64(t, 2, memory_at);
  t.run();
  EXPECT_EQ(t.wave().fault.kind, FaultKind::Misaligned);
}

TEST(ScalarMemory, TellsTheObserver) {
  Snippet s = snippet("gfx942", "s_load_dwordx8 s[16:23], s[2:3], 0x20");
  map_pattern(s, 4096);
  set_s64(s, 2, memory_at);
  Recorder r;
  s.wave().observer = &r;
  run(s);
  ASSERT_EQ(r.events.size(), 1U);
  EXPECT_EQ(r.events[0].space, isa::MemoryKind::Scalar);
  EXPECT_EQ(r.events[0].bytes, 32U);
  EXPECT_EQ(r.events[0].addresses[0], memory_at + 0x20);
  EXPECT_TRUE(r.events[0].load && !r.events[0].store);
}

} // namespace
} // namespace asmevo::emulator
