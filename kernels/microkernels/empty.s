// The launch itself: a kernel that ends at once.
//
// One workgroup for the floor; many for how fast workgroups are handed out.
.include "gfx942_kernels.inc"

.globl empty
.p2align 8
.type empty,@function
empty:
end_kernel empty

kernels 64, empty, 8, 0
