// An exchange within each wave without and with a barrier for the whole workgroup.
//
// LDS of a wave works in order: a lane that waits sees what another lane of its wave wrote. slow: two barriers
// besides. One workgroup a compute unit.
// Established: S_BARRIER waits for the last wave of the workgroup (CDNA3 ISA manual); LLVM drops barriers where a
// workgroup is one wave.
.include "gfx942_kernels.inc"

.macro begin
  work_item v1
  v_lshlrev_b32_e32 v2, 2, v0
  v_xor_b32_e32 v3, 4, v2                // the neighbour's
  v_mov_b32_e32 v4, v1
.endm
.macro exchange barrier
    ds_write_b32 v2, v4
    s_waitcnt lgkmcnt(0)
    .if \barrier
    s_barrier
    .endif
    ds_read_b32 v5, v3
    s_waitcnt lgkmcnt(0)
    .if \barrier
    s_barrier
    .endif
    v_lshl_add_u32 v4, v4, 1, v5
.endm

kernel slow
  begin
  repeat
    exchange 1
  until_done
  store_value v4
end_kernel slow

kernel fast
  begin
  repeat
    exchange 0
  until_done
  store_value v4
end_kernel fast

kernels 256, slow, 32, 65536, fast, 32, 65536
