// Results of MFMA read after all four have been issued against each at once.
//
// slow: MFMA, 7 wait states, addition; four times. fast: four MFMA, one wait, four additions. One wave a SIMD.
// Established: LLVM's GCNHazardRecognizer: a VALU instruction may read the result of a 4-pass MFMA 7 wait states
// later; independent MFMAs follow every 4 passes (AMD's matrix instruction calculator).
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
  v_mov_b32_e32 v3, 0
  s_nop 1
.endm

kernel slow
  begin
  repeat
    .irp first, 4, 8, 12, 16
    v_mfma_f32_16x16x16_f16 v[\first:\first+3], v[20:21], v[22:23], 0
    s_nop 6
    v_add_f32_e32 v3, v3, v\first
    .endr
  until_done
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    .irp first, 4, 8, 12, 16
    v_mfma_f32_16x16x16_f16 v[\first:\first+3], v[20:21], v[22:23], 0
    .endr
    s_nop 3                              // the other three count, too
    v_add_f32_e32 v3, v3, v4
    v_add_f32_e32 v3, v3, v8
    v_add_f32_e32 v3, v3, v12
    s_nop 0
    v_add_f32_e32 v3, v3, v16
  until_done
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
