// Eight workgroups a compute unit against one, for a loop that waits for L2. The same code.
//
// slow: a workgroup allocates all of LDS. fast: an eighth of it.
// Established: 64 KiB of LDS a compute unit (AMD data sheet; LLVM AMDGPUUsage); HIP performance guidelines (ROCm
// docs) on occupancy. Little's law with L2's 266 to 288 cycles (mt4g).
.include "gfx942_kernels.inc"

.macro stream
  work_item v1
  ring_start 4
  v_mov_b32_e32 v3, 0
  repeat
    global_load_dword v4, v2, s[4:5]
    ring_next 1024
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

kernels 256, slow, 32, 65536, fast, 32, 8192
