// dword against dwordx4 loads, streaming from L2.
//
// Both read the same bytes with two loads in flight in each wave, one workgroup a compute unit. slow: 2 KB a compute
// unit and latency, fast: 8 KB with a quarter of the instructions.
// Established: L2 latency and bandwidth (mt4g); 16-byte loads are what AMD's tuning guides ask for (MI300X workload
// optimization guide, ISA assembly analysis; FlyDSL kernel tuning guide).
.include "gfx942_kernels.inc"

kernel slow
  ring_start 4
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dword v4, v2, s[4:5]
    ring_next 1024
    global_load_dword v5, v2, s[4:5]
    ring_next 1024
    s_waitcnt vmcnt(0)
    .irp n, 4, 5
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
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  add_to_total v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
