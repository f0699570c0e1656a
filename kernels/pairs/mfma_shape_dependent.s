// A 32x32 tile with 32x32x8 MFMA against four 16x16 tiles with dependent 16x16x16 MFMA.
//
// slow: four products into each tile, one behind another. fast: eight products into one tile. All factors are the
// same, so that only the number of products decides the result: 64 into each element.
// Established: both have the same peak rate (AMD's matrix instruction calculator), so that only what a dependent
// accumulator costs decides; it is paid half as often here. No published measurement on CDNA3 says how much that is,
// and with none the two are equal: the fast one must at least not be slower.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v20, 0x3c003c00          // ones
  v_mov_b32_e32 v21, v20
  v_mov_b32_e32 v22, 0x40004000          // twos
  v_mov_b32_e32 v23, v22
  .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
  v_mov_b32_e32 v\n, 0
  .endr
  s_nop 1
.endm
.macro finish
  s_nop 15
  s_nop 1
  v_add_f32_e32 v4, v4, v8
  v_add_f32_e32 v12, v12, v16
  v_add_f32_e32 v4, v4, v12
  store_value v4
.endm

kernel slow
  begin
  repeat
    .irp first, 4, 8, 12, 16
    .rept 4
    v_mfma_f32_16x16x16_f16 v[\first:\first+3], v[20:21], v[22:23], v[\first:\first+3]
    .endr
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    .rept 8
    v_mfma_f32_32x32x8_f16 v[4:19], v[20:21], v[22:23], v[4:19]
    .endr
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
