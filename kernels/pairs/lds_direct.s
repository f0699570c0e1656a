// Loads straight into LDS against loads into registers that are then written to LDS.
//
// Each wave moves 1 KB from L2 to LDS and reads it back, one wave a SIMD. slow: load, wait, ds_write, wait, ds_read.
// fast: global_load_lds_dword, wait, ds_read.
// Established: the load writes LDS itself and saves the wave the ds_write and its wait of about 50 cycles (CDNA3 ISA
// manual; ds_write cost). ROCm's Triton guide reports 697 to 1113 TFLOPS for a GEMM on MI300X from direct-to-LDS
// loads, more than can be expected of dwords here.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  ring_start 4
  v_mov_b32_e32 v3, 0
  v_lshlrev_b32_e32 v4, 2, v0            // 256 bytes a wave, in each of four parts of LDS
  s_nop 0
  v_readfirstlane_b32 s12, v4
  s_mov_b32 m0, s12
.endm
.macro take
    .irp n, 0, 1, 2, 3
    ds_read_b32 v[\n+8], v4 offset:1024*\n
    .endr
    s_waitcnt lgkmcnt(0)
    .irp n, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
.endm

kernel slow
  begin
  repeat
    .irp n, 0, 1, 2, 3
    global_load_dword v[\n+8], v2, s[4:5] offset:1024*\n
    .endr
    ring_next 4096
    s_waitcnt vmcnt(0)
    .irp n, 0, 1, 2, 3
    ds_write_b32 v4, v[\n+8] offset:1024*\n
    .endr
    s_waitcnt lgkmcnt(0)
  take
end_kernel slow

kernel fast
  begin
  repeat
    .irp n, 0, 1, 2, 3
    global_load_lds_dword v2, s[4:5] offset:1024*\n // for both addresses
    .endr
    ring_next 4096
    s_waitcnt vmcnt(0)
  take
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
