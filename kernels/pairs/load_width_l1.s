// dword against dwordx4 loads that hit L1.
//
// All workgroups walk round the same 16 KB, with eight waves a SIMD. slow: four times the instructions, of 256 bytes
// each. fast: 1024 bytes each.
// Established: L1 reads reach 128 bytes a cycle and compute unit (mt4g on MI300A) and a compute unit issues a global
// load every 4 cycles or slower (thread traces there), which is 64 bytes a cycle with dwords. How far the dword form
// falls behind is not published: a cautious bet.
.include "gfx942_kernels.inc"

kernel slow
  ring_start 4
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dword v4, v2, s[4:5]
    ring_next 1024
    global_load_dword v5, v2, s[4:5]
    ring_next 1024
    global_load_dword v6, v2, s[4:5]
    ring_next 1024
    global_load_dword v7, v2, s[4:5]
    ring_next 1024
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel slow

kernel fast
  s_lshr_b32 s8, s8, 2                     // as many bytes
  ring_start 16
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dwordx4 v[4:7], v2, s[4:5]
    ring_next 4096
    global_load_dwordx4 v[8:11], v2, s[4:5]
    ring_next 4096
    global_load_dwordx4 v[12:15], v2, s[4:5]
    ring_next 4096
    global_load_dwordx4 v[16:19], v2, s[4:5]
    ring_next 4096
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel fast

kernels 256, slow, 32, 0, fast, 32, 0
