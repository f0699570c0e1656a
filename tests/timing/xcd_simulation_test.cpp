// Small kernels whose times follow from the machine's parameters.
#include "emulator/assembled_kernel.h"
#include "timing/ensemble.h"

#include <gtest/gtest.h>

namespace asmevo::timing {
namespace {

using P = Parameter;

const Machine& machine() {
  static const Machine m = MachineModel::find("mi300a")->nominal();
  return m;
}

std::string times(unsigned count, const std::string& text) {
  std::string all;
  for (unsigned n = 0; n < count; ++n) all += text + "\n";
  return all;
}

struct Case {
  uint64_t groups = 1;
  uint32_t items = 64;
  unsigned vgprs = 64;
  uint64_t effort = 2'000'000;
  uint64_t buffer = 1 << 20;
};

// The instructions of a trace live as long as the module: what is timed is timed at once.
double cycles(const std::string& body, const Case& c = {}, const KernelTimeOptions& options = {}) {
  emulator::KernelOptions kernel;
  kernel.vgprs = c.vgprs;
  kernel.lds_bytes = 16384;
  emulator::Bench bench("s_load_dwordx2 s[8:9], s[0:1], 0x0\n v_lshlrev_b32_e32 v1, 2, v0\n"
                        "s_lshl_b32 s10, s2, 8\n v_add_u32_e32 v2, s10, v1\n s_waitcnt lgkmcnt(0)\n" +
                            body + "\n s_endpgm\n",
                        kernel);
  const uint64_t buffer = bench.buffer(c.buffer);
  device::LaunchArguments arguments;
  arguments.kernarg.resize(8);
  std::memcpy(arguments.kernarg.data(), &buffer, 8);
  const auto t = bench.device->trace(*bench.module, "k", {{c.groups * c.items, 1, 1}, {c.items, 1, 1}, 0},
                                     arguments, machine(), {.effort = c.effort, .threads = 1});
  EXPECT_TRUE(t) << t.error().message;
  return kernel_time(*t, machine(), options).cycles;
}

// What n more of something cost, in a loop so that the code is in its cache.
double each(const std::string& text, const Case& c = {}, unsigned n = 64) {
  const auto loop = [&](unsigned count) {
    return "s_mov_b32 s11, 16\nround:\n" + times(count, text) +
           "s_sub_u32 s11, s11, 1\n s_cmp_lg_u32 s11, 0\n s_cbranch_scc1 round\n";
  };
  return (cycles(loop(2 * n), c) - cycles(loop(n), c)) / (16.0 * n);
}

constexpr double a_little = 0.6; // code lines that are fetched in longer code

TEST(XcdSimulation, OneWaveIssuesEveryFourCycles) {
  EXPECT_NEAR(each("v_add_f32_e32 v3, v4, v5"), 4, a_little);
  EXPECT_NEAR(each("v_add_f32_e32 v3, v3, v5"), 4, a_little);
  EXPECT_NEAR(each("s_add_u32 s12, s13, s14"), 4, a_little);
  EXPECT_NEAR(each("v_exp_f32_e32 v3, v4"), 16, a_little);
  EXPECT_NEAR(each("s_nop 7"), 32, a_little);
}

// Eight waves on each SIMD: vector instructions of all take turns, scalar ones of others go beside them.
TEST(XcdSimulation, WavesShareUnits) {
  const Case full{.groups = 6 * 38 * 8, .items = 256};
  EXPECT_NEAR(each("v_add_f32_e32 v3, v4, v5", full, 32), 8 * 4, 3);
  EXPECT_NEAR(each("v_add_f32_e32 v3, v4, v5\n s_add_u32 s12, s13, s14", full, 32), 8 * 4, 4);
}

TEST(XcdSimulation, MatrixAndVectorInstructionsWorkBesideEachOther) {
  const std::string matrix = "v_mfma_f32_32x32x8_f16 v[16:31], v[32:33], v[34:35], v[16:31]\n";
  EXPECT_NEAR(each(matrix), 32, a_little);
  EXPECT_NEAR(each(matrix + times(6, "v_add_f32_e32 v3, v4, v5"), {}, 16), 32, 1);
  EXPECT_NEAR(each(matrix + times(20, "v_add_f32_e32 v3, v4, v5"), {}, 16), 21 * 4 + 4, 5);
}

TEST(XcdSimulation, AWaitTakesAsLongAsTheCacheThatAnswers) {
  // A published latency holds the wait's turn.
  const std::string load = "global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)\n";
  EXPECT_NEAR(each(load), machine()[P::l1_latency], 4);
  EXPECT_NEAR(each("global_load_dword v4, v1, s[8:9] sc1\n s_waitcnt vmcnt(0)\n"), machine()[P::l2_latency],
              5);
  EXPECT_NEAR(each("ds_read_b32 v4, v1\n s_waitcnt lgkmcnt(0)\n"), machine()[P::lds_latency], 3);
  // Two at once take hardly longer than one.
  EXPECT_NEAR(each("global_load_dword v4, v1, s[8:9]\n" + load), machine()[P::l1_latency] + 8, 4);
}

TEST(XcdSimulation, CountersLetYoungerLoadsGoOn) {
  const std::string four = times(4, "global_load_dword v4, v1, s[8:9]");
  const double all = each(four + "s_waitcnt vmcnt(0)\n", {}, 16),
               some = each(four + "s_waitcnt vmcnt(12)\n", {}, 16);
  EXPECT_LT(some, all / 2);
}

TEST(XcdSimulation, BankConflictsKeepLdsBusy) {
  const Case full{.groups = 6 * 38 * 4, .items = 256};
  const double plain = each("ds_read_b32 v4, v1", full, 32);
  // Lanes 128 bytes apart: all in one bank.
  const double conflict =
      each("v_lshlrev_b32_e32 v5, 5, v1\n v_and_b32_e32 v5, 0x3fff, v5\n ds_read_b32 v4, v5", full, 32);
  EXPECT_NEAR(plain, 2 * 16, 4); // 16 waves on a compute unit
  EXPECT_GT(conflict, 32 * 16);
}

// The slowest wave of a workgroup keeps the others at the barrier.
// One round of workgroups, all at the same place of the same loop: however the waves of a SIMD take turns,
// an instruction more is never a gain.
TEST(XcdSimulation, CheapInstructionsMoreAreNoGain) {
  const std::string loads =
      "global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(0)\n v_add_f32_e32 v5, v4, v5";
  const std::string lds = "ds_read_b32 v4, v1\n ds_read_b32 v6, v1 offset:4\n v_add_f32_e32 v8, v9, v10\n"
                          "s_waitcnt lgkmcnt(0)\n v_add_f32_e32 v5, v4, v6";
  const std::string mfma = "v_mfma_f32_32x32x8_f16 v[16:31], v[32:33], v[34:35], v[16:31]";
  for (const std::string& work :
       {times(4, "v_add_f32_e32 v3, v4, v5"), times(2, "v_exp_f32_e32 v3, v4"),
        times(3, "v_add_f32_e32 v3, v3, v5") + "s_add_u32 s12, s12, s13", mfma, loads, lds})
    for (const std::string& extra : {std::string("s_nop 0"), std::string("s_add_u32 s20, s20, s21")})
      for (const uint64_t waves_per_simd : {1, 2, 4}) {
        double before = 0;
        for (unsigned n = 0; n < 7; ++n) {
          const double now =
              cycles("s_movk_i32 s11, 24\nround:\n" + work + "\n" + times(n, extra) +
                         "s_sub_u32 s11, s11, 1\n s_cmp_lg_u32 s11, 0\n s_cbranch_scc1 round\n",
                     {.groups = waves_per_simd * 6 * 38, .items = 256});
          EXPECT_GE(now, before * 0.995) << work << " " << n << " of " << extra << ", " << waves_per_simd;
          before = now;
        }
      }
}

TEST(XcdSimulation, BarriersWaitForAll) {
  const std::string slow_first_wave =
      "v_cmp_gt_u32_e32 vcc, 64, v0\n s_cbranch_vccz go\n s_sleep 20\ngo:\n s_barrier\n";
  const Case four{.items = 256};
  const double with = cycles(slow_first_wave, four), without = cycles("s_barrier", four);
  EXPECT_NEAR(with - without, 20 * 64, 100);
}

TEST(XcdSimulation, OccupancyHidesLatency) {
  const std::string body =
      "s_mov_b32 s11, 64\nround:\n global_load_dword v4, v1, s[8:9] sc1\n s_waitcnt vmcnt(0)\n"
      "s_sub_u32 s11, s11, 1\n s_cmp_lg_u32 s11, 0\n s_cbranch_scc1 round\n";
  const double many = cycles(body, {.groups = 6 * 38 * 8, .items = 256, .vgprs = 64});
  const double few = cycles(body, {.groups = 6 * 38 * 8, .items = 256, .vgprs = 256});
  EXPECT_GT(few, 1.5 * many);
}

TEST(XcdSimulation, SameInputsGiveTheSameTime) {
  const std::string body = times(4, "global_load_dword v4, v2, s[8:9]") + "s_waitcnt vmcnt(0)\n";
  const Case c{.groups = 1000, .items = 256};
  const double once = cycles(body, c);
  EXPECT_EQ(cycles(body, c), once);
  KernelTimeOptions late;
  late.seed = 5;
  EXPECT_EQ(cycles(body, c, late), cycles(body, c, late));
  EXPECT_NE(cycles(body, c, late), once);
}

// Of what is extrapolated: much less effort must come to nearly the same.
TEST(KernelTime, ASampleStandsForTheWhole) {
  const std::string body =
      "s_mov_b32 s11, 40\nround:\n global_load_dword v4, v2, s[8:9]\n s_waitcnt vmcnt(0)\n" +
      times(20, "v_fma_f32 v5, v4, v5, v6") +
      "s_sub_u32 s11, s11, 1\n s_cmp_lg_u32 s11, 0\n s_cbranch_scc1 round\n"
      "global_store_dword v2, v5, s[8:9]\n";
  Case c{.groups = 20'000, .items = 256, .effort = uint64_t{1} << 40, .buffer = 1 << 25};
  const double whole = cycles(body, c);
  for (const uint64_t effort : {10'000'000U, 3'000'000U, 1'000'000U, 200'000U}) {
    c.effort = effort;
    EXPECT_NEAR(cycles(body, c) / whole, 1, 0.1) << effort;
  }
}

} // namespace
} // namespace asmevo::timing
