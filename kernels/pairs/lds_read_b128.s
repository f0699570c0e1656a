// One ds_read_b128 against four ds_read_b32, of 16 consecutive bytes a lane.
//
// slow: four times the instructions, and lanes 16 bytes apart share 8 banks. fast: the eight lanes that go at once
// use all 32 banks.
// Established: LDS reads reach 128 bytes a cycle and compute unit (mt4g); the MI300X workload optimization guide
// (ROCm docs) wants _b128 LDS accesses in most cases, for fewer instructions.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_lshlrev_b32_e32 v2, 4, v0
  v_mov_b32_e32 v4, v1
  v_mov_b32_e32 v5, v0
  v_mov_b32_e32 v6, 3
  v_mov_b32_e32 v7, v2
  ds_write_b128 v2, v[4:7]
  ds_write_b128 v2, v[4:7] offset:4096
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v3, 0
.endm
.macro finish
    s_waitcnt lgkmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
.endm

kernel slow
  begin
  repeat
    .irp n, 0, 1, 2, 3
    ds_read_b32 v[\n+4], v2 offset:4*\n
    ds_read_b32 v[\n+8], v2 offset:4096+4*\n
    .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    ds_read_b128 v[4:7], v2
    ds_read_b128 v[8:11], v2 offset:4096
  finish
end_kernel fast

kernels 256, slow, 32, 8192, fast, 32, 8192
