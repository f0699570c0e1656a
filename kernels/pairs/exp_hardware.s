// exp by v_exp_f32 against exp as a library without it would compute it.
//
// slow: reduction by multiples of ln 2 in two parts, a polynomial of degree 6, v_ldexp_f32: 13 instructions. fast: a
// product and v_exp_f32. Equal to 1e-5.
// Established: v_exp_f32 takes 16 cycles a wave, other VALU instructions 4 (LLVM's SISchedule.td; thread trace of a
// gfx950 published with tinygrad).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_subrev_u32_e32 v2, 128, v0
  v_cvt_f32_i32_e32 v2, v2
  v_mul_f32_e32 v2, 0x3d000000, v2       // -4 to 4, in steps of 1/32
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v4, 0
  s_mov_b32 s16, 0x3fb8aa3b              // log2 e
  s_mov_b32 s17, 0xbf317200              // -ln 2, its first bits
  s_mov_b32 s18, 0xb5bfbe8e              // and the rest
  s_mov_b32 s19, 0x3ab60b61              // 1/720
  v_mov_b32_e32 v20, 0x3c088889          // 1/120
  v_mov_b32_e32 v21, 0x3d2aaaab          // 1/24
  v_mov_b32_e32 v22, 0x3e2aaaab          // 1/6
  v_mov_b32_e32 v23, 0.5
  v_mov_b32_e32 v24, 1.0
.endm
.macro exp_library sum, x, n, r, p
    v_mul_f32_e32 \n, s16, \x
    v_rndne_f32_e32 \n, \n
    v_fma_f32 \r, \n, s17, \x
    v_fma_f32 \r, \n, s18, \r
    v_fma_f32 \p, \r, s19, v20
    v_fma_f32 \p, \p, \r, v21
    v_fma_f32 \p, \p, \r, v22
    v_fma_f32 \p, \p, \r, v23
    v_fma_f32 \p, \p, \r, v24
    v_fma_f32 \p, \p, \r, v24
    v_cvt_i32_f32_e32 \n, \n
    v_ldexp_f32 \p, \p, \n
    v_add_f32_e32 \sum, \sum, \p
.endm
.macro finish
  v_add_f32_e32 v3, v3, v4
  store_value v3
.endm

kernel slow
  begin
  repeat
    exp_library v3, v2, v8, v9, v10
    exp_library v4, v2, v11, v12, v13
  until_done
  finish
end_kernel slow

kernel fast
  begin
  repeat
    v_mul_f32_e32 v8, s16, v2
    v_mul_f32_e32 v9, s16, v2
    v_exp_f32_e32 v8, v8
    v_exp_f32_e32 v9, v9
    s_nop 0
    v_add_f32_e32 v3, v3, v8
    v_add_f32_e32 v4, v4, v9
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
