// Eight waves a SIMD against one, for a loop that waits for HBM. The same code.
//
// slow: 264 registers are allocated, one wave. fast: 32, eight waves. Each wave has one load in flight.
// Established: 512 registers a lane and SIMD, 8 waves a SIMD (LLVM AMDGPUUsage; AMD lab notes, "Register pressure in
// AMD CDNA2 GPUs"). Little's law with HBM's 866 to 900 cycles (mt4g).
.include "gfx942_kernels.inc"

.macro stream
  work_item v1
  region_start 4
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dword v4, v2, s[4:5]
    v_add_u32_e32 v2, 1024, v2
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v3, v3, v4
  until_done
  store_value v3
.endm

kernel slow
  stream
end_kernel slow

kernel fast
  stream
end_kernel fast

kernels 256, slow, 264, 0, fast, 32, 0
