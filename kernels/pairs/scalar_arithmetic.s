// Arithmetic on values that all lanes share, in the scalar unit against in all lanes.
//
// slow: 16 VALU instructions a step. fast: 8 VALU and 8 SALU instructions, which issue for different waves at the
// same time. Eight waves a SIMD.
// Established: each SIMD issues one VALU instruction in 4 cycles, and the scalar unit serves other waves in the same
// cycles (CDNA3 white paper; GCN architecture).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  work_start
.endm

kernel slow
  begin
  v_mov_b32_e32 v3, 1
  v_mov_b32_e32 v4, 0x1234567
  repeat
    .rept 4
    work 1
    v_add_u32_e32 v3, v3, v4
    v_xor_b32_e32 v4, v3, v4
    v_lshlrev_b32_e32 v5, 3, v3
    v_or_b32_e32 v3, v5, v3
    .endr
  until_done
  work_end v3
  store_value v3
end_kernel slow

kernel fast
  begin
  s_mov_b32 s10, 1
  s_mov_b32 s11, 0x1234567
  repeat
    .rept 4
    work 1
    s_add_u32 s10, s10, s11
    s_xor_b32 s11, s10, s11
    s_lshl_b32 s12, s10, 3
    s_or_b32 s10, s12, s10
    .endr
  until_done
  v_mov_b32_e32 v3, s10
  work_end v3
  store_value v3
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
