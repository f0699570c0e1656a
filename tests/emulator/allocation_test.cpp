// Instructions allocate nothing: what a run allocates does not depend on how many there are.
#include "count_allocations.h"
#include "emulator/assembled_kernel.h"

namespace asmevo::emulator {
namespace {

// One of each kind of instruction, so many times round.
uint64_t allocations_of(unsigned rounds) {
  const std::string body = fmt::format(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v20, s0
    s_mov_b32 s10, {}
    s_waitcnt lgkmcnt(0)
  round:
    v_add_f32_e32 v2, v1, v2
    v_fma_f32 v3, |v1|, -v2, v3 clamp
    v_mov_b32_dpp v4, v1 row_shr:1 row_mask:0xf bank_mask:0xf
    v_add_f32_sdwa v5, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
    v_exp_f32_e32 v6, v1
    v_fma_f64 v[6:7], v[2:3], v[4:5], v[6:7]
    v_pk_fma_f16 v7, v1, v2, v3
    v_cmp_lt_f32_e32 vcc, v1, v2
    v_cndmask_b32_e32 v7, v1, v2, vcc
    v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], v[8:11]
    v_mfma_f32_32x32x8_bf16 v[32:47], v[2:3], v[4:5], v[32:47]
    ds_write_b32 v1, v2
    ds_read_b128 v[12:15], v1
    ds_add_u32 v1, v0
    ds_bpermute_b32 v16, v1, v2
    global_load_dwordx4 v[12:15], v1, s[8:9]
    global_store_dword v1, v2, s[8:9]
    global_atomic_add v1, v0, s[8:9]
    s_load_dwordx4 s[12:15], s[8:9], 0x10
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier
    s_and_saveexec_b64 s[16:17], vcc
    v_mov_b32_e32 v17, 1
    s_mov_b64 exec, s[16:17]
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 round
    s_endpgm
  )",
                                       rounds);
  device::EmulatorOptions options;
  options.threads = 1;
  KernelOptions kernel;
  kernel.vgprs = 64;
  kernel.lds_bytes = 4096;
  Bench bench(body, kernel, options);
  const uint64_t buffer = bench.buffer(1 << 16);
  bench.launch(1, 128, {buffer}); // makes the instructions ready
  const uint64_t before = test::allocations;
  EXPECT_TRUE(bench.launch(1, 128, {buffer}).completed());
  return test::allocations - before;
}

TEST(Allocation, DoesNotDependOnTheNumberOfInstructions) {
  const uint64_t few = allocations_of(2);
  EXPECT_GT(few, 0U); // a launch does allocate
  EXPECT_EQ(allocations_of(500), few);
}

} // namespace
} // namespace asmevo::emulator
