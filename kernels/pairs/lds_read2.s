// ds_read2_b32 against two ds_read_b32.
//
// A single wave a compute unit reads 16 dwords a lane and waits: 16 instructions against 8.
// Established: a wave issues one instruction in 4 cycles, which is 64 bytes a cycle with dwords of one wave where LDS
// gives 128 (mt4g); LLVM's SILoadStoreOptimizer merges pairs of ds_read_b32 for that reason.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1, 6
  v_lshlrev_b32_e32 v2, 2, v0
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  v_add_u32_e32 v4, \n, v1
  ds_write_b32 v2, v4 offset:256*\n
  .endr
  v_add_u32_e32 v20, 1024, v2
  v_add_u32_e32 v21, 2048, v2
  v_add_u32_e32 v22, 3072, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v3, 0
.endm
.macro finish
    s_waitcnt lgkmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
.endm

kernel slow
  begin
  repeat
    .irp n, 0, 1, 2, 3
    ds_read_b32 v[\n+4], v2 offset:256*\n
    ds_read_b32 v[\n+8], v20 offset:256*\n
    ds_read_b32 v[\n+12], v21 offset:256*\n
    ds_read_b32 v[\n+16], v22 offset:256*\n
    .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    ds_read2_b32 v[4:5], v2 offset0:0 offset1:64
    ds_read2_b32 v[6:7], v2 offset0:128 offset1:192
    ds_read2_b32 v[8:9], v20 offset0:0 offset1:64
    ds_read2_b32 v[10:11], v20 offset0:128 offset1:192
    ds_read2_b32 v[12:13], v21 offset0:0 offset1:64
    ds_read2_b32 v[14:15], v21 offset0:128 offset1:192
    ds_read2_b32 v[16:17], v22 offset0:0 offset1:64
    ds_read2_b32 v[18:19], v22 offset0:128 offset1:192
  finish
end_kernel fast

kernels 64, slow, 32, 65536, fast, 32, 65536
