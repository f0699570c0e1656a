// Four independent chains of 4x4x4 MFMA against one.
//
// slow: each product waits for the accumulator of the one before, two wait states each. fast: four accumulators in
// turn, which are added at the end. One wave a SIMD; whole numbers, so that the order of the sums does not matter.
// Established: AMD's matrix instruction calculator (2 passes) and LLVM's GCNHazardRecognizer: a 2-pass result is a
// source of the next only two wait states later, even as the same accumulator.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_and_b32_e32 v2, 3, v0
  v_add_u32_e32 v2, 1, v2
  v_cvt_f16_u16_e32 v2, v2
  v_pack_b32_f16 v20, v2, v2
  v_mov_b32_e32 v21, v20
  v_mov_b32_e32 v22, 0x3c003c00          // ones
  v_mov_b32_e32 v23, v22
  .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
  v_mov_b32_e32 v\n, 0
  .endr
  s_nop 1
.endm
.macro finish
  s_nop 7
  v_add_f32_e32 v4, v4, v8
  v_add_f32_e32 v12, v12, v16
  v_add_f32_e32 v4, v4, v12
  store_value v4
.endm

kernel slow
  begin
  repeat
    .rept 8
    v_mfma_f32_4x4x4_16b_f16 v[4:7], v[20:21], v[22:23], v[4:7]
    s_nop 1
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 2
    v_mfma_f32_4x4x4_16b_f16 v[4:7], v[20:21], v[22:23], v[4:7]
    v_mfma_f32_4x4x4_16b_f16 v[8:11], v[20:21], v[22:23], v[8:11]
    v_mfma_f32_4x4x4_16b_f16 v[12:15], v[20:21], v[22:23], v[12:15]
    v_mfma_f32_4x4x4_16b_f16 v[16:19], v[20:21], v[22:23], v[16:19]
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
