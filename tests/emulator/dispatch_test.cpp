// Waves of a workgroup and workgroups of a grid together: barriers, order, waiting for each other, faults,
// hangs.
#include "assembled_kernel.h"

#include <gmock/gmock.h>

#include <numeric>

namespace asmevo::emulator {
namespace {

using testing::HasSubstr;
using Kind = device::LaunchOutcome::Kind;

device::EmulatorOptions with(unsigned threads, uint64_t seed = 0) {
  device::EmulatorOptions o;
  o.threads = threads;
  o.seed = seed;
  return o;
}

// Every wave adds its lanes' work-item numbers to LDS, waits for the others and stores the sum.
constexpr std::string_view sum_over_barrier = R"(
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_mov_b32_e32 v1, 0
  ds_add_u32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v2, v1
  s_lshl_b32 s10, s2, 10
  v_lshlrev_b32_e32 v3, 2, v0
  v_add_u32_e32 v3, s10, v3
  s_waitcnt lgkmcnt(0)
  global_store_dword v3, v2, s[8:9]
  s_endpgm
)";

TEST(dispatch, barrier_waits_for_all_waves_under_every_schedule) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (const unsigned threads : {1U, 2U}) {
      KernelOptions o;
      o.lds_bytes = 4;
      Bench bench(sum_over_barrier, o, with(threads, seed));
      const uint64_t out = bench.buffer(8 * 1024);
      const device::LaunchOutcome outcome = bench.launch(8, 256, {out});
      ASSERT_TRUE(outcome.completed()) << outcome.text;
      EXPECT_EQ(outcome.instructions, 8U * 4 * 12);
      for (const uint32_t w : bench.words(out, 8 * 256)) ASSERT_EQ(w, 255U * 256 / 2);
    }
}

// A second number is written over the first without a barrier between: waves that run on alone read it too
// early.
TEST(dispatch, waves_abreast_do_not_overtake_each_other_by_much) {
  constexpr std::string_view overwrite = R"(
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v2, 0x100, v1
  v_add_u32_e32 v3, 0x1000, v0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  s_nop 0
  s_nop 0
  s_nop 0
  ds_write_b32 v1, v3
  s_waitcnt lgkmcnt(0)
  s_barrier
  global_store_dword v1, v4, s[8:9]
  s_endpgm
)";
  for (const uint64_t seed : {waves_abreast, uint64_t{0}}) {
    KernelOptions o;
    o.lds_bytes = 1024;
    Bench bench(overwrite, o, with(1, seed));
    const uint64_t out = bench.buffer(1024);
    const device::LaunchOutcome outcome = bench.launch(1, 256, {out});
    ASSERT_TRUE(outcome.completed()) << outcome.text;
    const auto words = bench.words(out, 256);
    size_t early = 0;
    for (uint32_t i = 0; i < 256; ++i) early += words[i] == (i ^ 64) + 0x1000;
    EXPECT_EQ(early, seed == waves_abreast ? 0 : 128);
  }
}

TEST(dispatch, waves_that_ended_do_not_hold_the_barrier) {
  // Waves 1 to 3 end at once.
  Bench bench(R"(
    v_readfirstlane_b32 s8, v0
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 done
    s_barrier
  done:
    s_endpgm
  )");
  EXPECT_TRUE(bench.launch(1, 256, {0}).completed());
}

// Workgroup i waits for a flag that workgroup i + step sets.
std::string chain(int step) {
  return fmt::format(R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, 1
    s_add_i32 s12, s2, {}
    s_waitcnt lgkmcnt(0)
    s_cmp_ge_u32 s12, s10
    s_cbranch_scc1 set
    s_lshl_b32 s12, s12, 2
    v_mov_b32_e32 v1, s12
  wait:
    global_load_dword v3, v1, s[8:9] sc1
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s13, v3
    s_cmp_eq_u32 s13, 0
    s_cbranch_scc1 wait
  set:
    s_lshl_b32 s12, s2, 2
    v_mov_b32_e32 v1, s12
    global_store_dword v1, v2, s[8:9] sc1
    s_endpgm
  )",
                     step);
}

TEST(dispatch, workgroups_that_wait_for_earlier_and_for_later_ones_get_on) {
  for (const int step : {-1, 1})
    for (const unsigned threads : {1U, 2U}) {
      KernelOptions o;
      o.kernarg_bytes = 16;
      Bench bench(chain(step), o, with(threads));
      const uint64_t flags = bench.buffer(64 * 4);
      const device::LaunchOutcome outcome = bench.launch(64, 1, {flags, 64});
      ASSERT_TRUE(outcome.completed()) << outcome.text;
      for (const uint32_t w : bench.words(flags, 64)) EXPECT_EQ(w, 1U);
    }
}

// Every workgroup counts itself and waits until all have: as many as MI300X has compute units.
TEST(dispatch, workgroups_start_in_the_order_asked_for) {
  // Each leaves its number where its turn is.
  const std::string turns = R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, 1
    v_mov_b32_e32 v4, s2
    s_waitcnt lgkmcnt(0)
    global_atomic_add v3, v1, v2, s[8:9] sc0
    s_waitcnt vmcnt(0)
    v_lshlrev_b32_e32 v3, 2, v3
    global_store_dword v3, v4, s[10:11]
    s_endpgm
  )";
  constexpr uint32_t count = 100;
  const auto order_of = [&](GroupOrder order, uint64_t seed) {
    device::EmulatorOptions options = with(1);
    options.order = order;
    options.seed = seed;
    KernelOptions o;
    o.kernarg_bytes = 16;
    Bench bench(turns, o, options);
    const uint64_t turn = bench.buffer(4), out = bench.buffer(count * 4);
    EXPECT_TRUE(bench.launch(count, 1, {turn, out}).completed());
    return bench.words(out, count);
  };
  std::vector<uint32_t> ascending(count);
  std::iota(ascending.begin(), ascending.end(), 0U);
  EXPECT_EQ(order_of(GroupOrder::Ascending, 1), ascending);
  EXPECT_EQ(order_of(GroupOrder::Descending, 1), std::vector(ascending.rbegin(), ascending.rend()));
  const auto one = order_of(GroupOrder::Random, 1), other = order_of(GroupOrder::Random, 2);
  EXPECT_NE(one, other);
  EXPECT_THAT(one, ::testing::UnorderedElementsAreArray(ascending));
  EXPECT_THAT(other, ::testing::UnorderedElementsAreArray(ascending));
}

TEST(dispatch, workgroups_that_wait_get_on_in_every_order) {
  for (const int step : {-1, 1})
    for (const GroupOrder order : {GroupOrder::Descending, GroupOrder::Random}) {
      device::EmulatorOptions options = with(1);
      options.order = order;
      KernelOptions o;
      o.kernarg_bytes = 16;
      Bench bench(chain(step), o, options);
      const uint64_t flags = bench.buffer(64 * 4);
      const device::LaunchOutcome outcome = bench.launch(64, 1, {flags, 64});
      EXPECT_TRUE(outcome.completed()) << outcome.text;
    }
}

TEST(dispatch, a_barrier_over_the_whole_grid_opens) {
  KernelOptions o;
  o.kernarg_bytes = 16;
  Bench bench(R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, 1
    s_waitcnt lgkmcnt(0)
    global_atomic_add v1, v2, s[8:9]
  wait:
    s_sleep 1
    global_load_dword v3, v1, s[8:9] sc1
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s13, v3
    s_cmp_lt_u32 s13, s10
    s_cbranch_scc1 wait
    s_endpgm
  )",
              o, with(2));
  const uint64_t counter = bench.buffer(4);
  const device::LaunchOutcome outcome = bench.launch(304, 1, {counter, 304});
  ASSERT_TRUE(outcome.completed()) << outcome.text;
  EXPECT_EQ(bench.words(counter, 1)[0], 304U);
}

// A region may begin anywhere; an aligned atomic is one access all the same.
TEST(dispatch, atomics_at_the_end_of_a_page_counted_from_an_odd_start) {
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, 1
    s_waitcnt lgkmcnt(0)
    global_atomic_add v1, v2, s[8:9]
    s_endpgm
  )",
              {}, with(2));
  const uint64_t start = 0x7000'1000'0002;
  ASSERT_TRUE(bench.device->allocate("odd", 8192, start));
  ASSERT_TRUE(bench.launch(16, 64, {start + 4094}).completed());
  EXPECT_EQ(bench.words(start + 4094, 1)[0], 16U * 64);
}

TEST(dispatch, a_hang_leaves_memory_as_it_was_at_the_limit) {
  device::EmulatorOptions options = with(1);
  options.most_instructions = 3;
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v1, s[8:9]
    s_endpgm
  )",
              {}, options);
  const uint64_t out = bench.buffer(4);
  ASSERT_TRUE(bench.device->write(out, std::vector<uint8_t>(4, 0xee)));
  const device::LaunchOutcome outcome = bench.launch(1, 1, {out});
  EXPECT_EQ(outcome.kind, Kind::Hang);
  EXPECT_THAT(outcome.text, HasSubstr("3 instructions"));
  EXPECT_THAT(outcome.text, HasSubstr("it is at pc"));
  EXPECT_EQ(bench.words(out, 1)[0], 0xeeeeeeeeU);
}

TEST(dispatch, scratch_of_another_workgroup_is_not_seen) {
  // Each lane adds 1 to a scratch dword and stores it: always 1.
  KernelOptions o;
  o.scratch_bytes = 16;
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    scratch_load_dword v1, off, off offset:4
    s_lshl_b32 s10, s2, 8
    v_lshlrev_b32_e32 v2, 2, v0
    v_add_u32_e32 v2, s10, v2
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_u32_e32 v1, 1, v1
    scratch_store_dword off, v1, off offset:4
    global_store_dword v2, v1, s[8:9]
    s_endpgm
  )",
              o, with(2));
  const uint64_t out = bench.buffer(64 * 256);
  ASSERT_TRUE(bench.launch(64, 64, {out}).completed());
  for (const uint32_t w : bench.words(out, 64 * 64)) ASSERT_EQ(w, 1U);
}

TEST(dispatch, a_loop_without_end_is_a_hang_and_named) {
  device::EmulatorOptions options = with(1);
  options.most_instructions = 10000;
  Bench bench("s_nop 0\nloop:\ns_nop 1\ns_nop 2\ns_branch loop\n", {}, options);
  const device::LaunchOutcome outcome = bench.launch(1, 64, {0});
  EXPECT_EQ(outcome.kind, Kind::Hang);
  const uint64_t entry = bench.module->object().find_kernel("k")->entry;
  EXPECT_EQ(outcome.pc, entry + 4);
  EXPECT_THAT(outcome.text, HasSubstr(fmt::format("from pc {:#x} to {:#x}", entry + 4, entry + 12)));
}

TEST(dispatch, the_time_limit_stops_a_run) {
  device::EmulatorOptions options = with(1);
  options.most_seconds = 0.05;
  Bench bench("loop:\ns_branch loop\n", {}, options);
  EXPECT_EQ(bench.launch(4, 64, {0}).kind, Kind::TimeLimit);
}

TEST(dispatch, the_lowest_workgroup_that_faults_is_reported) {
  // Workgroups from 5 on write at 16.
  for (const unsigned threads : {1U, 2U}) {
    Bench bench(R"(
      s_cmp_lt_u32 s2, 5
      s_cbranch_scc1 done
      v_mov_b32_e32 v2, 16
      v_mov_b32_e32 v3, 0
      global_store_dword v[2:3], v0, off
    done:
      s_endpgm
    )",
                {}, with(threads));
    const device::LaunchOutcome outcome = bench.launch(64, 64, {0});
    EXPECT_EQ(outcome.kind, Kind::Fault);
    EXPECT_EQ(outcome.address, 16U);
    EXPECT_EQ(outcome.lane, 0);
    EXPECT_EQ(outcome.pc, bench.module->object().find_kernel("k")->entry + 16);
    EXPECT_THAT(outcome.text, HasSubstr("workgroup 5, wave 0, lane 0"));
    EXPECT_THAT(outcome.text, HasSubstr("global_store_dword writes 4 bytes"));
  }
}

TEST(dispatch, what_cannot_run_is_named) {
  Bench data(".long 0xffffffff");
  EXPECT_THAT(data.launch(1, 64, {0}).text, HasSubstr("is no instruction at pc"));
  Bench end("s_nop 0");
  EXPECT_THAT(end.launch(1, 64, {0}).text, HasSubstr("the program counter left the code"));
  Bench trap("s_trap 2");
  EXPECT_THAT(trap.launch(1, 64, {0}).text, HasSubstr("trap: s_trap 2"));
  Bench beyond("v_mov_b32_e32 v100, v0\ns_endpgm");
  EXPECT_THAT(beyond.launch(1, 64, {0}).text, HasSubstr("uses a vector register beyond the 32"));
}

TEST(dispatch, only_the_workgroups_asked_for) {
  device::EmulatorOptions options = with(1);
  options.workgroups = {3, 60};
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_lshl_b32 s10, s2, 2
    v_mov_b32_e32 v1, s10
    v_mov_b32_e32 v2, 1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[8:9]
    s_endpgm
  )",
              {}, options);
  const uint64_t out = bench.buffer(256);
  ASSERT_TRUE(bench.launch(64, 1, {out}).completed());
  const std::vector<uint32_t> got = bench.words(out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i == 3 || i == 60 ? 1U : 0U) << i;
  bench.device->options().workgroups = {64};
  EXPECT_FALSE(bench.try_launch({{64, 1, 1}, {1, 1, 1}, 0}, {out}));
}

TEST(dispatch, a_grid_of_more_than_four_billion_workgroups) {
  device::EmulatorOptions options = with(1);
  constexpr uint64_t side = 3'000'000'000;
  options.workgroups = {side * 2 + 7}; // x 7, y 2
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, s2
    v_mov_b32_e32 v3, s3
    s_waitcnt lgkmcnt(0)
    global_store_dwordx2 v1, v[2:3], s[8:9]
    s_endpgm
  )",
              {}, options);
  const uint64_t out = bench.buffer(8);
  ASSERT_TRUE(bench.launch({{side, side, 1}, {1, 1, 1}, 0}, {out}).completed());
  EXPECT_THAT(bench.words(out, 2), testing::ElementsAre(7U, 2U));
}

// --- the modes that change what vector instructions do

TEST(dispatch, vgpr_indexing_moves_the_operands_it_names) {
  // v24 = v[8 + 2], then v[23 + 2] = v6.
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32_e32 v10, 77
    v_mov_b32_e32 v6, 11
    v_mov_b32_e32 v26, 0
    s_mov_b32 s12, 2
    s_set_gpr_idx_on s12, gpr_idx(SRC0)
    v_mov_b32_e32 v24, v8
    s_set_gpr_idx_off
    s_set_gpr_idx_on s12, gpr_idx(DST)
    v_mov_b32_e32 v23, v6
    s_set_gpr_idx_off
    v_mov_b32_e32 v26, v23
    v_mov_b32_e32 v1, 0
    s_waitcnt lgkmcnt(0)
    global_store_dwordx3 v1, v[24:26], s[8:9]
    s_endpgm
  )");
  const uint64_t out = bench.buffer(12);
  ASSERT_TRUE(bench.launch(1, 1, {out}).completed());
  EXPECT_THAT(bench.words(out, 3), testing::ElementsAre(77U, 11U, 0U));
}

TEST(dispatch, vskip_leaves_vector_instructions_out) {
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, 1
    s_mov_b32 s10, 4
    s_setvskip s10, 2
    v_mov_b32_e32 v2, 2
    s_add_u32 s10, s10, 1
    s_setvskip s10, 1
    v_add_u32_e32 v2, s10, v2
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[8:9]
    s_endpgm
  )");
  const uint64_t out = bench.buffer(4);
  ASSERT_TRUE(bench.launch(1, 1, {out}).completed());
  EXPECT_EQ(bench.words(out, 1)[0], 6U);
}

TEST(dispatch, hardware_registers) {
  // MODE's denormal bits off, read back; SH_MEM_BASES; a setreg of a field leaves the rest.
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    s_getreg_b32 s10, hwreg(HW_REG_MODE, 0, 10)
    s_getreg_b32 s11, hwreg(HW_REG_SH_MEM_BASES, 16, 16)
    v_mov_b32_e32 v1, 0
    v_mov_b32_e32 v2, s10
    v_mov_b32_e32 v3, s11
    v_mov_b32_e32 v5, 1
    v_add_f32_e32 v4, v5, v5
    s_waitcnt lgkmcnt(0)
    global_store_dwordx3 v1, v[2:4], s[8:9]
    s_endpgm
  )");
  const uint64_t out = bench.buffer(12);
  ASSERT_TRUE(bench.launch(1, 1, {out}).completed());
  // v4: denormals count as zero from now on.
  EXPECT_THAT(bench.words(out, 3), testing::ElementsAre(0x3c0U, 1U, 0U));
}

} // namespace
} // namespace asmevo::emulator
