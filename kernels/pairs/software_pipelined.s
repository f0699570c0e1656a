// The next tile loaded before the work on this one against after it.
//
// slow: two loads, wait, work. fast: the loads for the next step, then the work. 1 KB a load and wave from L2, 96
// multiply-adds a tile, one wave a SIMD.
// Established: prefetching the next tile before the work on this one is the rule of the FlyDSL kernel tuning guide
// and of AMD's MI300X workload guide (num_stages); an L2 hit takes 266 to 288 cycles (mt4g).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  ring_start 16
  v_mov_b32_e32 v3, 0
  work_start
.endm
.macro load first
    global_load_dwordx4 v[\first:\first+3], v2, s[4:5]
    ring_next 4096
    global_load_dwordx4 v[\first+4:\first+7], v2, s[4:5]
    ring_next 4096
.endm
.macro compute first
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    v_add_u32_e32 v3, v3, v[\first+\n]
    .endr
    work 24
.endm
.macro finish
  work_end v3
  store_value v3
.endm

kernel slow
  begin
  repeat
    .rept 2
    load 4
    s_waitcnt vmcnt(0)
    compute 4
    .endr
  until_done
  finish
end_kernel slow

kernel fast
  begin
  load 4
  repeat
    load 12
    s_waitcnt vmcnt(2)
    compute 4
    load 4
    s_waitcnt vmcnt(2)
    compute 12
  until_done
  s_waitcnt vmcnt(0)
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
