// The numbers of a summary against what can be worked out by hand.
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using testing::lines;
using testing::ModelledKernel;
using testing::repeated;

constexpr uint64_t mib = 1 << 20;

const LevelUse& level(const KernelSummary& s, MemoryLevel l) {
  return s.levels[static_cast<size_t>(l)];
}

// b = a: each work-item a dword, from the first half of the buffer to the second.
std::string copy(uint64_t half) {
  return fmt::format("s_lshl_b32 s12, s2, 8\n v_add_u32_e32 v2, s12, v1\n global_load_dword v3, v2, s[8:9]\n"
                     "v_add_u32_e32 v2, 0x{:x}, v2\n s_waitcnt vmcnt(0)\n global_store_dword v2, v3, s[8:9]",
                     half);
}

TEST(KernelSummary, BytesOfTheWholeDevice) {
  constexpr uint64_t half = 1024 * mib; // far more than the Infinity Cache
  const ModelledKernel k(copy(half), {.groups = half / 256, .buffer = 2 * half});
  const KernelSummary s = k.summary();
  const auto bytes = static_cast<double>(half);
  for (const MemoryLevel l : {MemoryLevel::L1, MemoryLevel::L2, MemoryLevel::InfinityCache}) {
    EXPECT_NEAR(level(s, l).read, bytes, 0.03 * bytes) << name(l);
    EXPECT_NEAR(level(s, l).written, bytes, 0.03 * bytes) << name(l);
  }
  EXPECT_GT(level(s, MemoryLevel::Hbm).read, 0.8 * bytes);
  EXPECT_LE(level(s, MemoryLevel::Hbm).read, 1.03 * bytes);
  EXPECT_EQ(level(s, MemoryLevel::Lds).bytes(), 0);
  EXPECT_LT(*level(s, MemoryLevel::L2).hit_rate, 0.05);
}

TEST(KernelSummary, HitRates) {
  const ModelledKernel k(repeated(50, "global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)"));
  EXPECT_GT(*level(k.summary(), MemoryLevel::L1).hit_rate, 0.97);
  const ModelledKernel past(repeated(50, "global_load_dword v3, v1, s[8:9] sc1\ns_waitcnt vmcnt(0)"));
  EXPECT_EQ(*level(past.summary(), MemoryLevel::L1).hit_rate, 0);
  EXPECT_FALSE(level(ModelledKernel("v_mov_b32 v2, v1").summary(), MemoryLevel::L1).hit_rate);
}

// A wave alone: two lines, each in its place for as long as it is on its way.
TEST(KernelSummary, MissesInFlight) {
  const ModelledKernel k(repeated(50, "global_load_dword v3, v1, s[8:9] sc1\ns_waitcnt vmcnt(0)"));
  const KernelSummary s = k.summary();
  const double latency = k.machine[timing::Parameter::l2_latency];
  EXPECT_DOUBLE_EQ(s.miss_places.places, k.machine[timing::Parameter::l1_misses]);
  EXPECT_EQ(s.miss_places.wait, 0);
  EXPECT_GT(s.miss_places.taken, 0.5 * latency);
  EXPECT_LT(s.miss_places.taken, 1.2 * latency);
  const double cycles = s.cycles * k.machine[timing::Parameter::cus_per_xcd] * s.miss_places.places;
  EXPECT_NEAR(s.miss_places.share, 100 * s.miss_places.taken / cycles, 0.02 * s.miss_places.share);
  EXPECT_EQ(ModelledKernel("v_mov_b32 v2, v1").summary().miss_places.share, 0);
}

TEST(KernelSummary, Coalescing) {
  const ModelledKernel row("global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)");
  EXPECT_DOUBLE_EQ(row.summary().coalescing.lines, 2); // 64 dwords, 128 bytes a line
  EXPECT_DOUBLE_EQ(row.summary().coalescing.excess(), 1);
  const ModelledKernel column("v_lshlrev_b32_e32 v2, 8, v0\nglobal_load_dword v3, v2, s[8:9]\n"
                              "s_waitcnt vmcnt(0)");
  EXPECT_DOUBLE_EQ(column.summary().coalescing.lines, 64);
  EXPECT_DOUBLE_EQ(column.summary().coalescing.least_lines, 2);
}

TEST(KernelSummary, LdsConflicts) {
  const auto reads = [](unsigned shift) {
    return repeated(20, fmt::format("v_lshlrev_b32_e32 v2, {}, v0\nds_read_b32 v3, v2\n", shift) +
                            "s_waitcnt lgkmcnt(0)");
  };
  const ModelledKernel rows(reads(2), {.lds = 8192}), columns(reads(7), {.lds = 8192});
  EXPECT_LT(rows.summary().lds_conflict_share(), 0.01);
  EXPECT_GT(columns.summary().lds_conflict_share(), 0.9); // every lane wants the same bank
  EXPECT_NEAR(level(rows.summary(), MemoryLevel::Lds).read, 20 * 256, 1);
  EXPECT_EQ(level(rows.summary(), MemoryLevel::Lds).written, 0);
  EXPECT_NEAR(rows.summary().lds_bank_cycles, 20 * 2, 1e-6); // 64 dwords of 32 banks
}

// Two accesses of one instruction, and two cycles for each, with no conflict.
TEST(KernelSummary, LdsAccessesInPairs) {
  const ModelledKernel k("ds_write2_b32 v1, v0, v0 offset0:0 offset1:64\ns_waitcnt lgkmcnt(0)",
                         {.lds = 8192});
  const KernelSummary s = k.summary();
  EXPECT_NEAR(s.lds_accesses, 2, 1e-9);
  EXPECT_NEAR(level(s, MemoryLevel::Lds).written, 64 * 8, 1e-6);
  EXPECT_NEAR(s.lds_bank_cycles, 4, 1e-6);
  EXPECT_NEAR(s.lds_conflict_cycles, 0, 1e-6);
}

TEST(KernelSummary, MixAndPipes) {
  const ModelledKernel k(repeated(100, lines(10, "v_fma_f32 v#, v1, v1, v1")),
                         {.groups = 8 * 38, .items = 256});
  const KernelSummary s = k.summary();
  ASSERT_FALSE(s.mix.empty());
  EXPECT_EQ(s.mix.front().first, "VALU");
  double sum = 0;
  for (const auto& [kind, count] : s.mix) sum += count;
  EXPECT_NEAR(sum, s.instructions, 1e-6 * sum);
  double of_pipes = 0;
  for (const PipeUse& p : s.pipes) of_pipes += p.instructions;
  EXPECT_NEAR(of_pipes, s.instructions, 1e-6 * sum);
  EXPECT_NEAR(s.mix.front().second, 38 * 4 * 1001.0, 1); // 38 workgroups an XCD, four waves each
  for (const PipeUse& p : s.pipes) {
    EXPECT_GE(p.share, 0);
    EXPECT_LE(p.share, 1);
  }
  const double flops = 8 * 38 * 4 * 1000 * 128.0;
  EXPECT_NEAR(s.vector_flops, flops, 1e-6 * flops);
  EXPECT_EQ(s.matrix_flops, 0);
}

TEST(KernelSummary, WavesAndWhatLimitsThem) {
  const std::string loop = repeated(200, "v_exp_f32_e32 v2, v2");
  const KernelSummary few = ModelledKernel(loop, {.groups = 8}).summary();
  EXPECT_LT(few.waves, 0.02); // one wave on an XCD of 152 SIMDs
  EXPECT_DOUBLE_EQ(few.occupancy.waves_per_simd, 8);
  const KernelSummary wide = ModelledKernel(loop, {.groups = 8 * 38 * 8, .vgprs = 200}).summary();
  EXPECT_DOUBLE_EQ(wide.occupancy.waves_per_simd, 2);
  EXPECT_THAT(wide.occupancy.limiters, ::testing::Contains("VGPRs"));
  EXPECT_GT(wide.waves, 1);
  EXPECT_LE(wide.waves, 2);
}

TEST(KernelSummary, StallsAreTheProfiles) {
  const ModelledKernel k(repeated(20, "global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)"),
                         {.groups = 64});
  const KernelSummary s = k.summary();
  EXPECT_NEAR(s.wave_cycles(), k.profile.total(), 1e-6 * s.wave_cycles());
  EXPECT_GT(s.stall_share(timing::Stall::Waitcnt), 0.5);
  EXPECT_EQ(s.stall_share(timing::Stall::BarrierWait), 0);
}

TEST(Roofline, NamesTheLowestRoof) {
  constexpr uint64_t half = 1024 * mib;
  const std::string add = copy(half).replace(copy(half).find("s_waitcnt vmcnt(0)\n"), 19,
                                             "s_waitcnt vmcnt(0)\nv_add_f32_e32 v3, v3, v3\n");
  const Roofline stream = roofline(ModelledKernel(add, {.groups = half / 256, .buffer = 2 * half}).summary());
  EXPECT_EQ(stream.roof, "HBM");
  EXPECT_NEAR(stream.intensity[static_cast<size_t>(MemoryLevel::L2)], 1.0 / 8, 0.01); // a FLOP for 8 bytes
  EXPECT_GT(stream.reached(), 0.25);
  EXPECT_LE(stream.reached(), 1);

  const Roofline valu =
      roofline(ModelledKernel(repeated(200, lines(16, "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]")),
                              {.groups = 8 * 38 * 2, .items = 256})
                   .summary());
  EXPECT_EQ(valu.roof, "VALU");
  EXPECT_NEAR(valu.peak, 163.4e12, 0.1e12); // the data sheet's, packed FP32
  EXPECT_GT(valu.reached(), 0.7);
  EXPECT_LE(valu.reached(), 1);

  EXPECT_TRUE(roofline(ModelledKernel("v_mov_b32 v2, v1").summary()).roof.empty());
}

// Writes are faster than reads here: a kernel that does both reaches no more than all there is.
TEST(Roofline, ReadingAndWritingApart) {
  constexpr uint64_t half = 512 * mib;
  const std::string body =
      fmt::format("s_lshl_b32 s12, s2, 8\n v_add_u32_e32 v2, s12, v1\n global_load_dword v3, v2, s[8:9]\n"
                  "v_add_u32_e32 v2, 0x{:x}, v2\n s_waitcnt vmcnt(0)\n v_add_f32 v3, v3, v3\n"
                  "global_store_dword v2, v3, s[8:9]\n v_add_u32_e32 v2, 0x{:x}, v2\n"
                  "global_store_dword v2, v3, s[8:9]",
                  half, half);
  const KernelSummary s = ModelledKernel(body, {.groups = half / 256, .buffer = 3 * half}).summary();
  const Roofline r = roofline(s);
  EXPECT_EQ(r.roof, "HBM");
  EXPECT_LE(r.reached(), 1);
  EXPECT_NEAR(r.reached(), s.levels[static_cast<size_t>(MemoryLevel::Hbm)].share, 1e-9);
}

TEST(Roofline, MatrixPeakIsTheDataSheets) {
  const ModelledKernel k(repeated(100, lines(4, "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31]")),
                         {.groups = 8 * 38, .items = 256, .vgprs = 64});
  const KernelSummary s = k.summary();
  const Roofline r = roofline(s);
  EXPECT_EQ(r.peak_unit, "matrix");
  EXPECT_NEAR(r.peak / (s.clock_mhz * 1e6) * 2100e6, 1307.4e12, 1e12);
}

} // namespace
} // namespace asmevo::profile
