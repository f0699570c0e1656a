// One atomic addition of the wave's sum against one of each lane, to the workgroup's counter.
//
// slow: 64 additions to one address. fast: a DPP reduction, then one.
// Established: LLVM's AMDGPUAtomicOptimizer does this rewrite for its speed (reviews.llvm.org/D51969).
.include "gfx942_kernels.inc"

.macro begin
  v_add_u32_e32 v3, 1, v0
  s_lshl_b32 s10, s2, 2
  v_mov_b32_e32 v2, s10
.endm

kernel slow
  begin
  repeat
    global_atomic_add v2, v3, s[6:7]
    v_add_u32_e32 v3, 1, v3
  until_done
end_kernel slow

kernel fast
  begin
  s_mov_b64 s[12:13], exec
  s_bfm_b64 s[14:15], 1, 63              // the last lane
  repeat
    v_mov_b32_e32 v4, v3
    wave_sum v4
    s_mov_b64 exec, s[14:15]
    global_atomic_add v2, v4, s[6:7]
    s_mov_b64 exec, s[12:13]
    v_add_u32_e32 v3, 1, v3
  until_done
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
