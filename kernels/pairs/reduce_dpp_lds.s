// The sum over a wave by DPP against a tree in LDS.
//
// slow: six rounds of write, wait, read, wait. fast: six additions with DPP. One wave a SIMD.
// Established: GPUOpen, "AMD GCN assembly: cross-lane operations"; an LDS access takes 47 to 52 cycles (mt4g), and a
// write has to be waited for before another lane reads it.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_mov_b32_e32 v3, v1
  v_lshlrev_b32_e32 v4, 2, v0
  .irp n, 0, 1, 2, 3, 4, 5
  v_xor_b32_e32 v[\n+10], 4 << \n, v4   // the partner of each round
  .endr
.endm
.macro use
    v_lshl_add_u32 v3, v0, 1, v2         // the next values to sum
  until_done
  store_value v3
.endm

kernel slow
  begin
  repeat
    v_mov_b32_e32 v2, v3
    .irp n, 10, 11, 12, 13, 14, 15
    ds_write_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v5, v\n
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v2, v2, v5
    .endr
  use
end_kernel slow

kernel fast
  begin
  repeat
    v_mov_b32_e32 v2, v3
    wave_sum v2
    s_nop 0
    v_readlane_b32 s10, v2, 63
    s_nop 3
    v_mov_b32_e32 v2, s10
  use
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
