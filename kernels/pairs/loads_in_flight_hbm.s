// Four wide loads from HBM in flight against one.
//
// Each workgroup reads its own part of a buffer larger than the Infinity Cache, one workgroup a compute unit. slow: 4
// KB in flight, and none while the result is used. fast: 16 KB.
// Established: HBM takes 866 to 900 cycles (mt4g); at 4.1 TB/s (STREAM on MI300X, Azure AI benchmarking guide) about
// 6 KB a compute unit must be in flight all the time.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  region_start 16
  v_mov_b32_e32 v3, 0
.endm
.macro add_up n
  v_add_u32_e32 v3, v3, v\n
.endm

kernel slow
  begin
  repeat
    .rept 4
    global_load_dwordx4 v[4:7], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7
    add_up \n
    .endr
    .endr
  until_done
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    global_load_dwordx4 v[4:7], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    global_load_dwordx4 v[8:11], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    global_load_dwordx4 v[12:15], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    global_load_dwordx4 v[16:19], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    add_up \n
    .endr
  until_done
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
