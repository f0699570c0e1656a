// Stores without and with a wait behind each. One workgroup a compute unit writes 64 KB.
// Established: stores count in vmcnt and are done only when L2 has them (CDNA3 ISA manual, section 4.4); nothing but
// the end of the kernel or a barrier for other waves needs that.
.include "gfx942_kernels.inc"

.macro begin
  region_start 4
  v_mov_b32_e32 v3, v2
.endm

kernel slow
  begin
  repeat
    .rept 4
    global_store_dword v2, v3, s[6:7]
    v_add_u32_e32 v2, 1024, v2
    s_waitcnt vmcnt(0)
    .endr
  until_done
end_kernel slow

kernel fast
  begin
  repeat
    .rept 4
    global_store_dword v2, v3, s[6:7]
    v_add_u32_e32 v2, 1024, v2
    .endr
  until_done
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
