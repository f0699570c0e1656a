// Eight loads, then one wait, against a wait after each.
//
// slow: eight times load and wait. fast: eight loads, then the waits. One wave a SIMD, loads from L2.
// Established: an L2 hit takes 266 to 288 cycles and loads issue every 4 cycles or so (mt4g). Little's law; the HIP
// performance guidelines (ROCm docs) and AMD lab notes ask for independent loads to hide latency.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  ring_start 4
  v_mov_b32_e32 v3, 0
.endm

kernel slow
  begin
  repeat
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    global_load_dword v\n, v2, s[4:5]
    ring_next 1024
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    global_load_dword v\n, v2, s[4:5]
    ring_next 1024
    .endr
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
