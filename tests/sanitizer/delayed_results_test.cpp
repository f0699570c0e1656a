// Runs in which what memory brings comes as late as it may: right kernels leave the same, missing waits show.
#include "sanitizer/delayed_results.h"
#include "sanitizer/sanitized.h"

namespace asmevo::sanitizer {
namespace {

// What is in the first words of the buffer after a run; it starts as 0, 1, 2, ...
std::vector<uint32_t> left_by(std::string_view body, bool delayed, const LaunchedAs& as,
                              DelayOptions options) {
  emulator::KernelOptions kernel;
  kernel.lds_bytes = as.lds_bytes;
  kernel.vgprs = 64;
  device::EmulatorOptions run;
  run.threads = as.threads;
  DelayedResults delay(*isa::Target::from_id(as.gpu), options);
  if (delayed) run.observer = delay.observers();
  emulator::Bench bench(std::string(prologue) + std::string(body) + "\n  s_endpgm\n", kernel, run);
  const uint64_t buffer = bench.buffer(1 << 16);
  std::vector<uint32_t> words(512);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = i;
  EXPECT_TRUE(
      bench.device->write(buffer, {reinterpret_cast<const uint8_t*>(words.data()), 4 * words.size()}));
  EXPECT_TRUE(bench.launch(as.groups, as.items, {buffer}).completed());
  return bench.words(buffer, words.size());
}

bool shows(std::string_view body, const LaunchedAs& as = {}, DelayOptions options = {}) {
  return left_by(body, false, as, options) != left_by(body, true, as, options);
}

const std::string store = "\n global_store_dword v1, v5, s[8:9] offset:1024";

TEST(DelayedResults, WhatIsWaitedForIsTheSame) {
  EXPECT_FALSE(
      shows("global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)\n v_add_u32_e32 v5, 1, v4" + store));
  EXPECT_FALSE(shows("global_load_dword v4, v1, s[8:9]\n global_load_dword v6, v1, s[8:9] offset:4\n"
                     "s_waitcnt vmcnt(1)\n v_add_u32_e32 v5, 1, v4" +
                     store));
  EXPECT_FALSE(
      shows("global_load_short_d16 v4, v1, s[8:9]\n global_load_short_d16_hi v4, v1, s[8:9] offset:4\n"
            "s_waitcnt vmcnt(0)\n v_mov_b32_e32 v5, v4" +
            store));
  EXPECT_FALSE(
      shows("v_mov_b32_e32 v4, 5\n s_mov_b64 s[10:11], exec\n s_mov_b64 exec, 0xff\n"
            "global_load_dword v4, v1, s[8:9]\n s_not_b64 exec, exec\n v_mov_b32_e32 v5, v4\n"
            "s_not_b64 exec, exec\n s_waitcnt vmcnt(0)\n v_mov_b32_e32 v5, v4\n s_mov_b64 exec, s[10:11]" +
            store));
  EXPECT_FALSE(shows("ds_write_b32 v1, v0\n ds_read_b32 v5, v1\n s_waitcnt lgkmcnt(0)" + store));
  EXPECT_FALSE(
      shows("v_mov_b32_e32 v5, 7\n global_store_dword v1, v5, s[8:9]\n global_load_dword v5, v1, s[8:9]\n"
            "s_waitcnt vmcnt(0)" +
            store));
  EXPECT_FALSE(shows("s_load_dword s4, s[8:9], 0x10\n s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v5, s4" + store));
}

TEST(DelayedResults, MissingWaitsShow) {
  EXPECT_TRUE(shows("global_load_dword v4, v1, s[8:9]\n v_add_u32_e32 v5, 1, v4" + store));
  EXPECT_TRUE(shows("global_load_dword v4, v1, s[8:9]\n global_load_dword v6, v1, s[8:9] offset:4\n"
                    "s_waitcnt vmcnt(1)\n v_add_u32_e32 v5, 1, v6" +
                    store));
  EXPECT_TRUE(shows("ds_write_b32 v1, v0\n ds_read_b32 v5, v1" + store));
  EXPECT_TRUE(shows("s_load_dword s4, s[8:9], 0x10\n v_mov_b32_e32 v5, s4" + store));
  // Overwritten, and then the load comes.
  EXPECT_TRUE(shows("global_load_dword v5, v1, s[8:9]\n v_mov_b32_e32 v5, 7\n s_waitcnt vmcnt(0)" + store));
  // LDS-DMA.
  const std::string dma = "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[8:9]\n";
  EXPECT_TRUE(shows(dma + "ds_read_b32 v5, v1\n s_waitcnt lgkmcnt(0)" + store));
  EXPECT_FALSE(shows(dma + "s_waitcnt vmcnt(0)\n ds_read_b32 v5, v1\n s_waitcnt lgkmcnt(0)" + store));
}

// Half a register comes late, the other half is kept.
TEST(DelayedResults, HalvesOfRegisters) {
  const std::string upper = "buffer_load_format_d16_hi_x v4, off, s[12:15], 0\n";
  const std::string resource = "s_mov_b32 s12, s8\n s_mov_b32 s13, s9\n s_movk_i32 s14, 0x1000\n"
                               "s_mov_b32 s15, 0x27fac\n v_mov_b32_e32 v4, 7\n"; // 32_FLOAT, x 0 0 1
  const std::string after = "s_waitcnt vmcnt(0)" + store;
  EXPECT_FALSE(shows(resource + upper + "v_and_b32_e32 v5, 0xffff, v4\n" + after));
  EXPECT_TRUE(shows(resource + upper + "v_lshrrev_b32_e32 v5, 16, v4\n" + after));
}

// What a wave itself does in memory it does in order, FLAT or not.
TEST(DelayedResults, AWaveSeesItsOwnFlatStores) {
  const std::string address = "v_mov_b32_e32 v7, s9\n v_add_co_u32_e32 v6, vcc, s8, v1\n"
                              "v_addc_co_u32_e32 v7, vcc, 0, v7, vcc\n v_mov_b32_e32 v8, 9\n";
  EXPECT_FALSE(shows(address +
                     "flat_store_dword v[6:7], v8\n global_load_dword v5, v1, s[8:9]\n s_waitcnt vmcnt(0)" +
                     store));
}

// FLAT counts in vmcnt and lgkmcnt.
TEST(DelayedResults, FlatNeedsBothWaits) {
  const std::string load = "v_mov_b32_e32 v7, s9\n v_add_co_u32_e32 v6, vcc, s8, v1\n"
                           "v_addc_co_u32_e32 v7, vcc, 0, v7, vcc\n flat_load_dword v5, v[6:7]\n";
  EXPECT_TRUE(shows(load + "s_waitcnt vmcnt(0)" + store));
  EXPECT_TRUE(shows(load + "s_waitcnt lgkmcnt(0)" + store));
  EXPECT_FALSE(shows(load + "s_waitcnt vmcnt(0) lgkmcnt(0)" + store));
  EXPECT_FALSE(shows(load + "s_waitcnt lgkmcnt(0)\n s_waitcnt vmcnt(0)" + store));
}

// What another wave reads behind a barrier must have been waited for before it.
TEST(DelayedResults, WritesThatOthersReadShowAtBarriers) {
  const std::string write = "v_xor_b32_e32 v2, 0x100, v1\n ds_write_b32 v1, v0\n";
  const std::string read = "s_barrier\n ds_read_b32 v5, v2\n s_waitcnt lgkmcnt(0)" + store;
  const LaunchedAs two{.items = 128};
  EXPECT_TRUE(shows(write + read, two));
  EXPECT_FALSE(shows(write + read, two, {.lds_writes = false}));
  EXPECT_FALSE(shows(write + "s_waitcnt lgkmcnt(0)\n" + read, two));
  const std::string global =
      "v_xor_b32_e32 v2, 0x100, v1\n v_add_u32_e32 v3, 9, v0\n global_store_dword v1, v3, s[8:9]\n";
  const std::string load = "s_barrier\n global_load_dword v5, v2, s[8:9]\n s_waitcnt vmcnt(0)" + store;
  EXPECT_TRUE(shows(global + load, two));
  EXPECT_FALSE(shows(global + "s_waitcnt vmcnt(0)\n" + load, two));
}

} // namespace
} // namespace asmevo::sanitizer
