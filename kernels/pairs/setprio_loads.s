// s_setprio 3 up to a wave's load.
//
// Two waves a SIMD: one works, the next one starts. slow: the older wave's multiply-adds go before the younger's
// address and load, whose latency is then nobody's cover. fast: the load goes first, and HBM is waited for while the
// other wave works.
// Established: LLVM's AMDGPUSetWavePriority pass raises the priority until the last load for that reason: younger
// waves get to issue theirs. No measurement of it is public: the fast one must at least not be slower. Up to 1.2 is
// to be expected here.
.include "gfx942_kernels.inc"

.macro wave priority
  .if \priority
  s_setprio 3
  .endif
  work_item v1
  v_lshlrev_b32_e32 v2, 2, v1
  work_start
  global_load_dword v3, v2, s[4:5]
  .if \priority
  s_setprio 0
  .endif
  s_waitcnt vmcnt(0)
  repeat
    work 32
    v_add_u32_e32 v3, 1, v3
  until_done
  work_end v3
  store_value v3
.endm

kernel slow
  wave 0
end_kernel slow

kernel fast
  wave 1
end_kernel fast

kernels 256, slow, 32, 32768, fast, 32, 32768
