// One kernel for each thing that can hold a kernel back.
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using ::testing::HasSubstr;
using testing::Launch;
using testing::lines;
using testing::ModelledKernel;
using testing::repeated;

constexpr uint64_t full = 8 * 38; // workgroups that give each compute unit one

Limiter of(const std::string& body, const Launch& launch) {
  return limiter(ModelledKernel(body, launch).summary());
}

TEST(Limiter, HbmOfAStream) {
  constexpr uint64_t half = uint64_t{1} << 30;
  const Limiter l = of("s_lshl_b32 s12, s2, 10\n v_lshlrev_b32_e32 v1, 4, v0\n v_add_u32_e32 v2, s12, v1\n"
                       "global_load_dwordx4 v[4:7], v2, s[8:9]\n v_add_u32_e32 v2, 0x40000000, v2\n"
                       "s_waitcnt vmcnt(0)\n global_store_dwordx4 v2, v[4:7], s[8:9]",
                       {.groups = half / 1024, .buffer = 2 * half});
  EXPECT_EQ(l.bound, Bound::Hbm) << l.sentence;
  EXPECT_THAT(l.sentence, HasSubstr("HBM"));
}

TEST(Limiter, MatrixUnit) {
  const Limiter l = of(repeated(300, lines(4, "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31]")),
                       {.groups = full, .items = 256, .vgprs = 64});
  EXPECT_EQ(l.bound, Bound::Matrix) << l.sentence;
}

TEST(Limiter, Valu) {
  const Limiter l =
      of(repeated(300, lines(8, "v_fma_f32 v2, v2, v1, v1")), {.groups = 4 * full, .items = 256});
  EXPECT_EQ(l.bound, Bound::Valu) << l.sentence;
}

// Few workgroups: the compute units that have one are busy all the same.
TEST(Limiter, UnitsOfComputeUnitsInUse) {
  const Limiter l = of(repeated(2000, lines(8, "v_fma_f32 v2, v2, v1, v1")), {.groups = 16, .items = 1024});
  EXPECT_EQ(l.bound, Bound::Valu) << l.sentence;
  EXPECT_GT(l.share, 0.6);
  EXPECT_THAT(l.sentence, HasSubstr("16 workgroups are too few"));
}

TEST(Limiter, SaluIssue) {
  const Limiter l = of(repeated(300, lines(16, "s_add_u32 s30, s30, 1")), {.groups = 2 * full, .items = 512});
  EXPECT_EQ(l.bound, Bound::Salu) << l.sentence;
}

TEST(Limiter, Lds) {
  const Limiter l = of(repeated(100, "v_lshlrev_b32_e32 v2, 7, v0\n" + lines(8, "ds_read_b32 v#, v2") +
                                         "s_waitcnt lgkmcnt(0)"),
                       {.groups = 2 * full, .items = 256, .lds = 32768});
  EXPECT_EQ(l.bound, Bound::Lds) << l.sentence;
}

TEST(Limiter, FirstCache) {
  const Limiter l = of("v_lshlrev_b32_e32 v2, 7, v0\n" +
                           repeated(100, lines(8, "global_load_dword v#, v2, s[8:9]") + "s_waitcnt vmcnt(0)"),
                       {.groups = 2 * full, .items = 256});
  EXPECT_EQ(l.bound, Bound::L1) << l.sentence;
}

// Eight compute units of an XCD stream: nothing behind them is busy, but no compute unit can wait for more.
constexpr uint64_t stream_bytes = uint64_t{1} << 30;
std::string stream(unsigned turns) {
  return "v_lshlrev_b32_e32 v2, 6, v0\n s_lshl_b32 s12, s2, 22\n v_add_u32_e32 v2, s12, v2\n" +
         repeated(turns, "global_load_dwordx4 v[4:7], v2, s[8:9]\n v_add_u32_e32 v2, 0x10000, v2\n"
                         "s_waitcnt vmcnt(0)");
}

TEST(Limiter, LinesThatAComputeUnitCanWaitFor) {
  const ModelledKernel k(stream(60), {.groups = 64, .items = 1024, .buffer = stream_bytes, .l1_misses = 66});
  const KernelSummary s = k.summary();
  const Limiter l = limiter(s);
  EXPECT_EQ(l.bound, Bound::L1Misses) << l.sentence;
  EXPECT_THAT(l.sentence, HasSubstr("of the 66 lines that a compute unit can wait for"));
  EXPECT_GT(s.miss_places.wait, s.miss_places.taken) << "1024 lines a turn, and 66 places";
  EXPECT_EQ(busiest_unit(s).first, Bound::L1Misses);
  for (const HotWindow& w : k.windows({.busiest_unit = busiest_unit(s).second})) EXPECT_LT(w.gain, 0.2);
}

// Of the places as much is taken whether all is simulated or some.
TEST(Limiter, MissesInFlightOfASample) {
  const auto taken = [](uint64_t effort) {
    const ModelledKernel k(
        stream(30), {.groups = 64, .items = 1024, .buffer = stream_bytes, .effort = effort, .l1_misses = 66});
    return std::pair(k.summary().miss_places,
                     k.kernel_time().simulated_share * k.traces.launches[0].trace.sample.share);
  };
  const auto [all, whole] = taken(1'000'000);
  const auto [some, part] = taken(3000);
  ASSERT_EQ(whole, 1);
  ASSERT_LT(part, 0.7);
  EXPECT_NEAR(some.share, all.share, 0.1 * all.share);
  EXPECT_NEAR(some.taken, all.taken, 0.2 * all.taken);
}

// Where HBM is busy, lines wait for it: there is no point in waiting for more at once.
TEST(Limiter, HbmAndNotTheLinesThatWaitForIt) {
  KernelSummary s;
  s.used_cus = 1, s.miss_places = {.places = 66, .share = 0.98};
  s.levels[static_cast<size_t>(MemoryLevel::Hbm)].share = 0.7;
  EXPECT_EQ(limiter(s).bound, Bound::Hbm);
  EXPECT_EQ(busiest_unit(s).first, Bound::L1Misses);
  s.levels[static_cast<size_t>(MemoryLevel::Hbm)].share = 0.5;
  EXPECT_EQ(limiter(s).bound, Bound::L1Misses);
  s.miss_places.share = 0.55, s.stalled[static_cast<size_t>(timing::Stall::Waitcnt)] = 1;
  EXPECT_EQ(limiter(s).bound, Bound::Latency);
  EXPECT_THAT(limiter(s).sentence, HasSubstr("55 % of the L1 misses that can be in flight are"));
}

TEST(Limiter, DispatchOfEmptyWorkgroups) {
  const Limiter l = of("", {.groups = 20'000'000});
  EXPECT_EQ(l.bound, Bound::Dispatch) << l.sentence;
}

TEST(Limiter, LaunchFloor) {
  const Limiter l = of("", {.groups = 8});
  EXPECT_EQ(l.bound, Bound::LaunchFloor) << l.sentence;
  EXPECT_GT(l.share, 0.5);
}

// One wave of each workgroup works, the others wait for it.
TEST(Limiter, Barrier) {
  const Limiter l =
      of(repeated(300, "v_readfirstlane_b32 s30, v0\ns_cmp_lg_u32 s30, 0\ns_cbranch_scc1 others\n" +
                           lines(32, "v_exp_f32_e32 v2, v2") + "others:\ns_barrier"),
         {.groups = full, .items = 1024});
  EXPECT_EQ(l.bound, Bound::Barrier) << l.sentence;
}

// A wave a SIMD that waits for each load, from a large enough buffer that the launch's floor is small.
TEST(Limiter, LatencyNamesWhatIsWaitedForAndWhy) {
  const std::string loads = repeated(400, "global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)");
  const Limiter few = of(loads, {.groups = full, .items = 256});
  EXPECT_EQ(few.bound, Bound::Latency) << few.sentence;
  EXPECT_THAT(few.sentence, HasSubstr("WAITCNT"));
  EXPECT_THAT(few.sentence, HasSubstr("too few workgroups"));
  const Limiter wide = of(loads, {.groups = 16 * full, .items = 256, .vgprs = 500});
  EXPECT_EQ(wide.bound, Bound::Latency) << wide.sentence;
  EXPECT_THAT(wide.sentence, HasSubstr("occupancy 1 of 8 (limited by VGPRs)"));
}

// All waves of a compute unit go through a matrix phase and an LDS phase together.
TEST(Limiter, ContentionNamesTheUnit) {
  const std::string body = lines(6, "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31]") +
                           "s_barrier\n" + lines(2, "ds_read_b32 v#, v40") +
                           "s_waitcnt lgkmcnt(0)\ns_barrier";
  const Limiter l = of("v_lshlrev_b32_e32 v40, 6, v0\n" + repeated(200, body),
                       {.groups = full, .items = 1024, .vgprs = 64, .lds = 65536});
  EXPECT_EQ(l.bound, Bound::Contention) << l.sentence;
  EXPECT_THAT(l.sentence, HasSubstr("most for "));
}

TEST(Limiter, LatencyOfArithmetic) {
  const Limiter l = of(repeated(400, lines(4, "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[2:3], v[4:5], v[16:19]\n"
                                              "v_mov_b32 v2, v16")),
                       {.groups = full, .items = 256});
  EXPECT_EQ(l.bound, Bound::Latency) << l.sentence;
  EXPECT_THAT(l.sentence, HasSubstr("ALU_DEPENDENCY"));
}

} // namespace
} // namespace asmevo::profile
