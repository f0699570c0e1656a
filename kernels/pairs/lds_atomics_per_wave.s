// One LDS atomic addition of the wave's sum against one of each lane, to the same dword.
// Established: lanes that name the same LDS dword in an atomic take turns (CDNA3 ISA manual: an atomic unit a bank);
// LLVM's AMDGPUAtomicOptimizer does this rewrite for LDS, too.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  ds_write_b32 v2, v3                    // all waves write the same zero
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_add_u32_e32 v3, 1, v0
.endm
.macro finish
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  store_value v3
.endm

kernel slow
  begin
  repeat
    ds_add_u32 v2, v3
    v_add_u32_e32 v3, 1, v3
  until_done
  finish
end_kernel slow

kernel fast
  begin
  s_mov_b64 s[12:13], exec
  s_bfm_b64 s[14:15], 1, 63              // the last lane
  repeat
    v_mov_b32_e32 v4, v3
    wave_sum v4
    s_mov_b64 exec, s[14:15]
    ds_add_u32 v2, v4
    s_mov_b64 exec, s[12:13]
    v_add_u32_e32 v3, 1, v3
  until_done
  finish
end_kernel fast

kernels 256, slow, 32, 512, fast, 32, 512
