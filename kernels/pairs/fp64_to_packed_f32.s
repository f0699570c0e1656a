// fp32 in pairs against fp64.
//
// slow: v_fma_f64. fast: v_pk_fma_f32, two numbers each. Eight chains of whole numbers, exact in both.
// Established: 81.7 TFLOP/s of vector fp64 against 163.4 of vector fp32 on MI300X (AMD data sheet); the latter with
// packed instructions.
.include "gfx942_kernels.inc"

kernel slow
  work_item v1
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0xbff00000           // -1
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0x3ff00000           // 1
  .irp n, 8, 10, 12, 14, 16, 18, 20, 22
  v_cvt_f64_u32_e32 v[\n:\n+1], v0
  .endr
  repeat
    .rept 4
    .irp n, 8, 10, 12, 14, 16, 18, 20, 22
    v_fma_f64 v[\n:\n+1], v[\n:\n+1], v[2:3], v[4:5]
    .endr
    .endr
    v_add_f64 v[8:9], v[8:9], v[4:5]
  until_done
  .irp n, 10, 12, 14, 16, 18, 20, 22
  v_add_f64 v[8:9], v[8:9], v[\n:\n+1]
  .endr
  v_cvt_f32_f64_e32 v8, v[8:9]
  store_value v8
end_kernel slow

kernel fast
  work_item v1
  v_mov_b32_e32 v2, -1.0
  v_mov_b32_e32 v3, -1.0
  v_mov_b32_e32 v4, 1.0
  v_mov_b32_e32 v5, 1.0
  .irp n, 8, 9, 10, 11, 12, 13, 14, 15
  v_cvt_f32_u32_e32 v\n, v0
  .endr
  repeat
    .rept 4
    .irp n, 8, 10, 12, 14
    v_pk_fma_f32 v[\n:\n+1], v[\n:\n+1], v[2:3], v[4:5]
    .endr
    .endr
    v_add_f32_e32 v8, v8, v4
  until_done
  .irp n, 9, 10, 11, 12, 13, 14, 15
  v_add_f32_e32 v8, v8, v\n
  .endr
  store_value v8
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
