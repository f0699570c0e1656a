// LDS bank conflicts: eight waves read dwords, pairs or fours of them; lane i at i times `extra` bytes.
//
// b32, b64, b128: by the stride of the shape, of which b64 needs even and b128 multiples of four dwords. b128_far and
// b128_near need no stride: which lanes go at once in a ds_read_b128 decides which of them is slow. In both each four
// neighbouring lanes use half of the banks, each its own row; in b128_far the next four use the same half (and those
// 16 lanes on the other), in b128_near the other half, but lanes 0-3 and 20-23, 4-7 and 16-19 the same.
//
// Two runs of different length, so that neither the launch nor the first, cold round counts.
.include "gfx942_kernels.inc"

.macro by_stride
  v_mov_b32_e32 v1, v0
  v_and_b32_e32 v2, 63, v0
  v_mul_lo_u32 v2, v2, s9
  v_mov_b32_e32 v3, 0
.endm

// v4: which half of the banks.
.macro by_half
  v_mov_b32_e32 v1, v0
  v_and_b32_e32 v2, 3, v0
  v_lshlrev_b32_e32 v2, 4, v2
  v_lshl_or_b32 v2, v4, 6, v2
  v_bfe_u32 v5, v0, 2, 4
  v_lshl_or_b32 v2, v5, 7, v2
  v_mov_b32_e32 v3, 0
.endm

// Something must be in LDS, or its reads mean nothing.
.macro fill
  v_lshlrev_b32_e32 v4, 2, v0
  v_mov_b32_e32 v5, v0
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
  ds_write_b32 v4, v5 offset:1024*\n
  .endr
  s_waitcnt lgkmcnt(0)
  s_barrier
.endm

.macro finish
  until_done
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v3, v4, v8
  store_value v3
.endm

kernel b32
  fill
  by_stride
  repeat
    .rept 4
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    ds_read_b32 v\n, v2
    .endr
    .endr
  finish
end_kernel b32

kernel b64
  fill
  by_stride
  repeat
    .rept 4
    .irp n, 4, 6, 8, 10, 12, 14, 16, 18
    ds_read_b64 v[\n:\n+1], v2
    .endr
    .endr
  finish
end_kernel b64

kernel b128
  fill
  by_stride
  repeat
    .rept 4
    .irp n, 4, 8, 12, 16, 20, 24, 28, 32
    ds_read_b128 v[\n:\n+3], v2
    .endr
    .endr
  finish
end_kernel b128

kernel b128_far
  fill
  v_bfe_u32 v4, v0, 4, 1
  by_half
  repeat
    .rept 4
    .irp n, 4, 8, 12, 16, 20, 24, 28, 32
    ds_read_b128 v[\n:\n+3], v2
    .endr
    .endr
  finish
end_kernel b128_far

kernel b128_near
  fill
  v_bfe_u32 v4, v0, 4, 1
  v_bfe_u32 v5, v0, 2, 1
  v_xor_b32_e32 v4, v4, v5
  by_half
  repeat
    .rept 4
    .irp n, 4, 8, 12, 16, 20, 24, 28, 32
    ds_read_b128 v[\n:\n+3], v2
    .endr
    .endr
  finish
end_kernel b128_near

kernels 512, b32, 40, 11264, b64, 40, 11264, b128, 40, 11264, b128_far, 40, 11264, b128_near, 40, 11264
