"""LoRA on a mixture of experts: both thin products of an adapter in one kernel, added to what the experts left.

x: [tokens, k] bf16; a: [adapters, experts, RANK, k]; b: [adapters, experts, n, RANK]; out: [tokens * top_k, n]:
out[id] += scale[adapter] * (x[id // top_k] a^T) b^T. sorted_ids lists the ids in blocks of BLOCK_M that share adapter
and expert, filled up with ids beyond the end; adapter_of and expert_of say which, -1 for a block without adapter. Each
workgroup makes the first product, which is small and stays in registers, and then `width` columns of the second.
"""
import triton
import triton.language as tl

import variant


@triton.jit
def moe_lora(x, a, b, out, scales, sorted_ids, adapter_of, expert_of, tokens, n, k, top_k, experts, width,
             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, RANK: tl.constexpr):
    tile = tl.program_id(1)
    adapter = tl.load(adapter_of + tile)
    if adapter < 0:
        return
    pair = (adapter * experts + tl.load(expert_of + tile)).to(tl.int64)
    ids = tl.load(sorted_ids + tile * BLOCK_M + tl.arange(0, BLOCK_M))
    real = ids < tokens * top_k
    inner = tl.arange(0, BLOCK_K)
    ranks = tl.arange(0, RANK)

    x_tile = x + (ids // top_k)[:, None] * k + inner[None, :]
    a_tile = a + pair * RANK * k + ranks[None, :] * k + inner[:, None]
    thin = tl.zeros([BLOCK_M, RANK], tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        row = tl.load(x_tile, mask=real[:, None] & (inner[None, :] < left), other=0.0)
        thin = tl.dot(row, tl.load(a_tile, mask=inner[:, None] < left, other=0.0), thin)
        x_tile += BLOCK_K
        a_tile += BLOCK_K
    thin = (thin * tl.load(scales + adapter)).to(x.dtype.element_ty)

    first = tl.program_id(0) * width
    for start in range(first, tl.minimum(first + width, n), BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        inside = columns < n
        wide = tl.load(b + pair * n * RANK + columns[None, :] * RANK + ranks[:, None], mask=inside[None, :], other=0.0)
        place = out + ids[:, None] * n + columns[None, :]
        store = real[:, None] & inside[None, :]
        result = tl.dot(thin, wide) + tl.load(place, mask=store, other=0.0).to(tl.float32)
        tl.store(place, result.to(out.dtype.element_ty), mask=store)


VARIANT = variant.Variant(
    kernel=moe_lora,
    arguments={"x": "*bf16", "a": "*bf16", "b": "*bf16", "out": "*bf16", "scales": "*fp32", "sorted_ids": "*i32",
               "adapter_of": "*i32", "expert_of": "*i32", "tokens": "i32", "n": "i32", "k": "i32", "top_k": "i32",
               "experts": "i32", "width": "i32"},
    multiples_of_16=frozenset({"n", "k", "width"}),
    constants={"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 64, "RANK": 32},
    options={"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": 16},
)
