// A side of a branch that no lane takes, skipped by s_cbranch_execz against run with EXEC = 0.
// Established: instructions issue whatever EXEC says; S_CBRANCH_EXECZ is there to skip those that no lane wants
// (CDNA3 ISA manual).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_cvt_f32_u32_e32 v4, v0
  v_mov_b32_e32 v5, 0.5
  v_mov_b32_e32 v6, 1.0
.endm
.macro rare
    .rept 32
    v_fma_f32 v4, v4, -v5, v6
    .endr
.endm
.macro common
    .rept 16
    v_fma_f32 v4, v4, v5, v6
    .endr
.endm

kernel slow
  begin
  repeat
    common
    v_cmp_lt_u32_e32 vcc, 1000, v0
    s_and_saveexec_b64 s[14:15], vcc
    rare
    s_mov_b64 exec, s[14:15]
  until_done
  store_value v4
end_kernel slow

kernel fast
  begin
  repeat
    common
    v_cmp_lt_u32_e32 vcc, 1000, v0
    s_and_saveexec_b64 s[14:15], vcc
    s_cbranch_execz 2f
    rare
2:
    s_mov_b64 exec, s[14:15]
  until_done
  store_value v4
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
