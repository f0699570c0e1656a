// Elements of two kinds sorted by wave against mixed in each wave. The same code.
//
// Odd and even elements take different sides of a branch of 64 instructions each. slow: neighbours in a wave differ,
// both sides run. fast: two waves take the even, two the odd elements.
// Established: a wave runs both sides of a branch on which its lanes differ (HIP performance guidelines, ROCm docs;
// CDNA3 ISA manual, EXEC).
.include "gfx942_kernels.inc"

// v2: the work-item's element in the workgroup.
.macro sides
  s_lshl_b32 s10, s2, 8
  v_add_u32_e32 v1, s10, v2
  v_and_b32_e32 v3, 1, v2
  v_cvt_f32_u32_e32 v4, v2
  v_mov_b32_e32 v5, 0.5
  v_mov_b32_e32 v6, 1.0
  v_cmp_eq_u32_e64 s[12:13], 1, v3
  repeat
    s_and_saveexec_b64 s[14:15], s[12:13]
    s_cbranch_execz 2f
    .rept 64
    v_fma_f32 v4, v4, v5, v6
    .endr
2:
    s_andn2_b64 exec, s[14:15], exec
    s_cbranch_execz 3f
    .rept 64
    v_fma_f32 v4, v4, -v5, v6
    .endr
3:
    s_mov_b64 exec, s[14:15]
  until_done
  store_value v4
.endm

kernel slow
  v_mov_b32_e32 v2, v0
  sides
end_kernel slow

kernel fast
  v_and_b32_e32 v2, 127, v0
  v_lshrrev_b32_e32 v3, 7, v0
  v_lshl_or_b32 v2, v2, 1, v3
  sides
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
