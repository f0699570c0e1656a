// A value that all lanes share, by s_load against by a vector load from one address. One wave a SIMD walks round a
// table of 4 KB.
// Established: a hit takes 48 cycles in the scalar cache and 112 to 116 in L1 (mt4g).
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  s_mov_b32 s12, 0
  v_mov_b32_e32 v3, 0
.endm
.macro next
    s_add_u32 s12, s12, 16
    s_and_b32 s12, s12, 0xfff
.endm

kernel slow
  begin
  repeat
    v_mov_b32_e32 v2, s12
    global_load_dwordx4 v[4:7], v2, s[4:5]
    next
    s_waitcnt vmcnt(0)
    .irp n, 4, 5, 6, 7
    v_add_u32_e32 v3, v3, v\n
    .endr
  until_done
  store_value v3
end_kernel slow

kernel fast
  begin
  repeat
    s_load_dwordx4 s[16:19], s[4:5], s12
    next
    s_waitcnt lgkmcnt(0)
    .irp n, 16, 17, 18, 19
    v_add_u32_e32 v3, s\n, v3
    .endr
  until_done
  store_value v3
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
