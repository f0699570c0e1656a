"""Fused mixture of experts, first half: gather, two products, SiLU and router weight in one kernel.

x: [tokens, k] bf16; w: [experts, 2 * n, k], gate rows first, then up rows; out: [tokens * top_k, n]:
out[id] = weight[id] * silu(x[id // top_k] gate^T) * (x[id // top_k] up^T), of the expert that id was sent to.
sorted_ids lists the ids by expert, each expert's filled up to a multiple of BLOCK_M with ids beyond the end; expert_of
holds each block's expert, or -1 where it lives on another GPU: those rows are zero here. padded: how many sorted_ids
there are.
"""
import triton
import triton.language as tl

import variant


@triton.jit
def fused_moe(x, w, out, weights, sorted_ids, expert_of, padded, tokens, n, k, top_k, x_stride, w_expert, w_stride,
              out_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    count = tl.load(padded)
    tiles_m, tiles_n = tl.cdiv(count, BLOCK_M), tl.cdiv(n, BLOCK_N)
    pid = tl.program_id(0)
    # The grid is made for the most ids there can be.
    if pid >= tiles_m * tiles_n:
        return
    # Neighbours share an expert's columns.
    first = pid // (GROUP_M * tiles_n) * GROUP_M
    height = tl.minimum(tiles_m - first, GROUP_M)
    inside = pid % (GROUP_M * tiles_n)
    tile_m, tile_n = first + inside % height, inside // height

    ids = tl.load(sorted_ids + tile_m * BLOCK_M + tl.arange(0, BLOCK_M))
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    real = ids < tokens * top_k
    store = real[:, None] & (columns < n)[None, :]
    out_tile = out + ids[:, None] * out_stride + columns[None, :]
    expert = tl.load(expert_of + tile_m)
    if expert < 0:
        tl.store(out_tile, tl.zeros([BLOCK_M, BLOCK_N], out.dtype.element_ty), mask=store)
        return

    x_tile = x + (ids // top_k)[:, None] * x_stride + inner[None, :]
    gate_tile = w + expert.to(tl.int64) * w_expert + (columns % n)[None, :] * w_stride + inner[:, None]
    up_tile = gate_tile + n * w_stride
    gate = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    up = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a = tl.load(x_tile, mask=real[:, None] & (inner[None, :] < left), other=0.0)
        gate = tl.dot(a, tl.load(gate_tile, mask=inner[:, None] < left, other=0.0), gate)
        up = tl.dot(a, tl.load(up_tile, mask=inner[:, None] < left, other=0.0), up)
        x_tile += BLOCK_K
        gate_tile += BLOCK_K
        up_tile += BLOCK_K

    weight = tl.load(weights + ids, mask=real, other=0.0)
    result = gate * tl.sigmoid(gate) * up * weight[:, None]
    tl.store(out_tile, result.to(out.dtype.element_ty), mask=store)


VARIANT = variant.Variant(
    kernel=fused_moe,
    arguments={"x": "*bf16", "w": "*bf16", "out": "*bf16", "weights": "*fp32", "sorted_ids": "*i32",
               "expert_of": "*i32", "padded": "*i32", "tokens": "i32", "n": "i32", "k": "i32", "top_k": "i32",
               "x_stride": "i32", "w_expert": "i32", "w_stride": "i32", "out_stride": "i32"},
    multiples_of_16=frozenset({"n", "k", "x_stride", "w_expert", "w_stride", "out_stride"}),
    constants={"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 4},
    options={"num_warps": 8, "num_stages": 2, "matrix_instr_nonkdim": 16},
)
