// Four interleaved chains of f32 MFMA, each of which multiplies its last result, against the chains one after
// another.
//
// slow: each product waits until the last result may be read as a factor. fast: the other chains fill that time. One
// wave a SIMD.
// Established: AMD's matrix instruction calculator (8 passes) and LLVM's GCNHazardRecognizer: the result of an 8-pass
// f32 MFMA is a source A 10 wait states later, 18 passes after its issue at the latest, where independent ones follow
// every 8.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
  v_mov_b32_e32 v\n, 1.0
  .endr
  v_cvt_f32_u32_e32 v4, v0
  v_add_f32_e32 v8, 1.0, v4
  v_mov_b32_e32 v20, 0.25                // the mean of four rows
  .irp n, 24, 25, 26, 27
  v_mov_b32_e32 v\n, 1.0
  .endr
  s_nop 1
.endm
.macro finish
  s_nop 15
  v_add_f32_e32 v4, v4, v8
  v_add_f32_e32 v12, v12, v16
  v_add_f32_e32 v4, v4, v12
  store_value v4
.endm
.macro link first, last, wait
    v_mfma_f32_16x16x4_f32 v[\first:\last], v\first, v20, v[24:27]
    s_nop \wait
.endm

kernel slow
  begin
  s_mov_b32 s10, s8
  .irp first, 4, 8, 12, 16
  s_mov_b32 s8, s10
  repeat
    link \first, \first+3, 9
    link \first, \first+3, 9
  until_done
  .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 2
    v_mfma_f32_16x16x4_f32 v[4:7], v4, v20, v[24:27]
    v_mfma_f32_16x16x4_f32 v[8:11], v8, v20, v[24:27]
    v_mfma_f32_16x16x4_f32 v[12:15], v12, v20, v[24:27]
    v_mfma_f32_16x16x4_f32 v[16:19], v16, v20, v[24:27]
    s_nop 6                              // the three others count as one wait state each at least
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
