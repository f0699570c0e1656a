// LDS in two halves with one barrier a step against one buffer with two.
//
// In each step a work-item writes a number and reads that of another wave. slow: it may only write again when all
// have read. fast: it writes into the other half.
// Established: a barrier waits for the last of the workgroup's waves (CDNA3 ISA manual, S_BARRIER); AMD's kernels use
// LDS in two halves (FlyDSL kernel tuning guide, section 2).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_lshlrev_b32_e32 v2, 2, v0
  v_add_u32_e32 v3, 64, v0
  v_and_b32_e32 v3, 0xff, v3
  v_lshlrev_b32_e32 v3, 2, v3            // the same lane of the next wave
  v_mov_b32_e32 v5, v1
.endm
.macro exchange half
    ds_write_b32 v2, v5 offset:1024*\half
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v6, v3 offset:1024*\half
    s_waitcnt lgkmcnt(0)
    v_lshl_add_u32 v5, v5, 1, v6
.endm

kernel slow
  begin
  repeat
    exchange 0
    s_barrier
    exchange 0
    s_barrier
  until_done
  store_value v5
end_kernel slow

kernel fast
  begin
  repeat
    exchange 0
    exchange 1
  until_done
  store_value v5
end_kernel fast

kernels 256, slow, 32, 2048, fast, 32, 2048
