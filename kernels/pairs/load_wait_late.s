// The wait for a load after, not before, the work that does not need it.
//
// slow: load, wait, 64 multiply-adds, use. fast: load, 64 multiply-adds, wait, use. One wave a SIMD (the LDS of one
// workgroup fills the compute unit), loads from L2: 256 of its nearly 300 cycles are covered in the fast one.
// Established: an L2 hit takes 266 to 288 cycles (mt4g on MI300A and MI300X). That loads are to be issued early and
// waited for late is the prefetch rule of ROCm's FlyDSL kernel tuning guide and section 4.4 (S_WAITCNT) of the CDNA3
// ISA manual.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  ring_start 4
  v_mov_b32_e32 v3, 0
  work_start
.endm

kernel slow
  begin
  repeat
    global_load_dword v4, v2, s[4:5]
    ring_next 1024
    s_waitcnt vmcnt(0)
    work 16
    v_add_u32_e32 v3, v3, v4
  until_done
  work_end v3
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    global_load_dword v4, v2, s[4:5]
    ring_next 1024
    work 16
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v3, v3, v4
  until_done
  work_end v3
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
