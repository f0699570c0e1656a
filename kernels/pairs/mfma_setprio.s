// s_setprio around MFMA where two waves of a SIMD take turns with MFMA and VALU work.
//
// Half of the waves run one phase behind the other half, kept in step by barriers: while one issues 4 MFMA, which
// need 4 of 32 issue slots, the other has 32 multiply-adds. slow: the older wave's multiply-adds go first, so that in
// every second phase the MFMAs come after them. fast: MFMA has priority.
// Established: triton-lang/triton PRs 5018 and 5696: ping-pong scheduling, with s_setprio 1 around the dot, made the
// default on gfx942; the HipKittens paper (arXiv 2511.08083) schedules CDNA3 and CDNA4 kernels so; LLVM's
// AMDGPUSetWavePriority pass exists because older waves go first otherwise. That s_setprio alone decides is not
// measured in public: the fast one must at least not be slower. 1.2 and more is to be expected here.
.include "gfx942_kernels.inc"

.macro phases priority
  work_item v1, 9
  work_start
  v_mov_b32_e32 v2, 0x3c003c00           // ones
  v_mov_b32_e32 v3, v2
  .irp n, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
  v_mov_b32_e32 v\n, 0
  v_mov_b32_e32 v[\n+16], 0
  .endr
  v_lshrrev_b32_e32 v4, 8, v0            // 0 for the older four waves, 1 for the others
  s_nop 0
  v_readfirstlane_b32 s10, v4
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 2f
  s_barrier                              // one phase behind
2:
  repeat
    work 8
    s_barrier
    .if \priority
    s_setprio 1
    .endif
    v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[2:3], v[32:47]
    v_mfma_f32_32x32x8_f16 v[48:63], v[2:3], v[2:3], v[48:63]
    v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[2:3], v[32:47]
    v_mfma_f32_32x32x8_f16 v[48:63], v[2:3], v[2:3], v[48:63]
    .if \priority
    s_setprio 0
    .endif
    s_barrier
  until_done
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 2f
  s_barrier
2:
  s_nop 15
  v_add_f32_e32 v32, v32, v48
  work_end v32
  store_value v32
.endm

kernel slow
  phases 0
end_kernel slow

kernel fast
  phases 1
end_kernel fast

kernels 512, slow, 64, 65536, fast, 64, 65536
