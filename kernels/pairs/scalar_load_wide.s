// One s_load_dwordx8 against eight s_load_dword of the same 32 bytes. One wave a SIMD, from the scalar cache.
// Established: S_LOAD_DWORDX8 brings in one instruction what eight would (CDNA3 ISA manual); LLVM merges neighbouring
// scalar loads (SILoadStoreOptimizer). A wave issues one instruction in 4 cycles.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  s_mov_b32 s12, 0
  s_mov_b32 s13, 0
  s_mov_b64 s[14:15], s[4:5]
.endm
.macro finish
    s_add_u32 s12, s12, 32
    s_and_b32 s12, s12, 0xfff
    s_add_u32 s14, s4, s12
    s_addc_u32 s15, s5, 0
    s_waitcnt lgkmcnt(0)
    .irp n, 16, 17, 18, 19, 20, 21, 22, 23
    s_add_u32 s13, s13, s\n
    .endr
  until_done
  v_mov_b32_e32 v3, s13
  store_value v3
.endm

kernel slow
  begin
  repeat
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    s_load_dword s[\n+16], s[14:15], 4*\n
    .endr
  finish
end_kernel slow

kernel fast
  begin
  repeat
    s_load_dwordx8 s[16:23], s[14:15], 0x0
  finish
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
