// The wait for a scalar load after, not before, the work that does not need it.
//
// slow: s_load, wait, 12 multiply-adds, use. fast: s_load, 12 multiply-adds, wait, use. One wave a SIMD; the 4 KB
// that are read stay in the scalar cache.
// Established: a scalar load that hits takes 48 cycles (mt4g on all of MI210 to MI350P).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  s_mov_b32 s12, 0                       // place in the table
  v_mov_b32_e32 v3, 0
  work_start
.endm
.macro next
  s_add_u32 s12, s12, 64
  s_and_b32 s12, s12, 0xfff
.endm

kernel slow
  begin
  repeat
    s_load_dword s13, s[4:5], s12
    next
    s_waitcnt lgkmcnt(0)
    work 3
    v_add_u32_e32 v3, s13, v3
  until_done
  work_end v3
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    s_load_dword s13, s[4:5], s12
    next
    work 3
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s13, v3
  until_done
  work_end v3
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
