// dword against dwordx4 loads, streaming from HBM.
//
// Each workgroup reads its own part of 608 MB with two loads in flight in each wave, one workgroup a compute unit.
// slow: 2 KB in flight, fast: 8 KB.
// Established: HBM latency of 866 to 900 cycles and 4.1 TB/s (mt4g; STREAM in the Azure AI benchmarking guide) need
// about 6 KB in flight a compute unit.
.include "gfx942_kernels.inc"

kernel slow
  region_start 4
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dword v4, v2, s[4:5]
    v_add_u32_e32 v2, 1024, v2
    global_load_dword v5, v2, s[4:5]
    v_add_u32_e32 v2, 1024, v2
    s_waitcnt vmcnt(0)
    .irp n, 4, 5
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel slow

kernel fast
  s_lshr_b32 s8, s8, 2                     // as many bytes
  region_start 16
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dwordx4 v[4:7], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    global_load_dwordx4 v[8:11], v2, s[4:5]
    v_add_u32_e32 v2, 4096, v2
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
