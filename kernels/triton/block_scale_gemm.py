"""A8W8 block-scale GEMM: fp8 (e4m3fnuz, the format of MI300's matrix cores) by fp8, bf16 out.

x: [m, k] with a scale for each row and 128 of k; w: [n, k] with a scale for each 128 x 128; out: [m, n]. The scales are
constant over a step of the loop, so they multiply the step's product once.
"""
import triton
import triton.language as tl

import variant


@triton.jit
def _place(pid, tiles_m, tiles_n, XCDS: tl.constexpr, GROUP_M: tl.constexpr):
    """Tile of a workgroup. Workgroups go to the XCDs in turn; here each XCD gets tiles that are neighbours, in columns
    of GROUP_M, so that its L2 holds what they share."""
    tiles = tiles_m * tiles_n
    share = tiles // XCDS
    extra = tiles % XCDS
    xcd = pid % XCDS
    tile = xcd * share + tl.minimum(xcd, extra) + pid // XCDS
    group = tile // (GROUP_M * tiles_n)
    first = group * GROUP_M
    height = tl.minimum(tiles_m - first, GROUP_M)
    inside = tile % (GROUP_M * tiles_n)
    return first + inside % height, inside // height


@triton.jit
def block_scale_gemm(x, w, out, x_scales, w_scales, m, n, k, x_stride, w_stride, out_stride, x_scales_stride,
                     w_scales_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                     GROUP_M: tl.constexpr, XCDS: tl.constexpr):
    tile_m, tile_n = _place(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), XCDS, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)

    # Rows and columns beyond the end are read from the start again: their results are not stored.
    x_rows = rows % m
    x_tile = x + x_rows[:, None] * x_stride + inner[None, :]
    w_tile = w + (columns % n)[None, :] * w_stride + inner[:, None]
    x_scale = x_scales + x_rows * x_scales_stride
    w_scale = w_scales + tile_n * BLOCK_N // 128 * w_scales_stride

    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a = tl.load(x_tile, mask=inner[None, :] < left, other=0.0)
        b = tl.load(w_tile, mask=inner[:, None] < left, other=0.0)
        scale = tl.load(x_scale + step) * tl.load(w_scale + step)
        acc += tl.dot(a, b) * scale[:, None]
        x_tile += BLOCK_K
        w_tile += BLOCK_K

    tl.store(out + rows[:, None] * out_stride + columns[None, :], acc.to(out.dtype.element_ty),
             mask=(rows < m)[:, None] & (columns < n)[None, :])


VARIANT = variant.Variant(
    kernel=block_scale_gemm,
    arguments={"x": "*fp8e4b8", "w": "*fp8e4b8", "out": "*bf16", "x_scales": "*fp32", "w_scales": "*fp32",
               "m": "i32", "n": "i32", "k": "i32", "x_stride": "i32", "w_stride": "i32", "out_stride": "i32",
               "x_scales_stride": "i32", "w_scales_stride": "i32"},
    multiples_of_16=frozenset({"n", "k", "x_stride", "w_stride", "out_stride"}),
    constants={"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128, "GROUP_M": 8, "XCDS": 8},
    options={"num_warps": 4, "num_stages": 2, "waves_per_eu": 2, "matrix_instr_nonkdim": 16},
)
