"""Attention forward (flash attention), f16, head size 128, grouped heads, causal.

q, out: [batch, queries, heads, 128]; k, v: [batch, keys, kv_heads, 128]; lse: [batch, heads, queries], the logarithm of
each row's sum of exponentials, for a backward pass or for joining parts. The mask is aligned at the end: the last query
sees all keys. A query that sees none gets zeros, and -inf as its logarithm.
"""
import triton
import triton.language as tl

import variant


@triton.jit
def _blocks(acc, total, peak, q, k_block, v_block, first, last, k_token, v_token, keys, diagonal, scale,
            MASKED: tl.constexpr, BLOCK_N: tl.constexpr):
    """Keys `first` to `last`: blocks that all queries see completely, or, MASKED, the others."""
    columns = tl.arange(0, BLOCK_N)
    for start in range(first, last, BLOCK_N):
        if MASKED:
            inside = start + columns < keys
            k = tl.load(k_block + start * k_token, mask=inside[None, :], other=0.0)
            v = tl.load(v_block + start * v_token, mask=inside[:, None], other=0.0)
        else:
            k = tl.load(k_block + start * k_token)
            v = tl.load(v_block + start * v_token)
        scores = tl.dot(q, k) * scale
        if MASKED:
            seen = (start + columns)[None, :] <= diagonal[:, None]
            scores = tl.where(seen & inside[None, :], scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, 1))
        base = tl.where(higher == -float("inf"), 0.0, higher) if MASKED else higher
        p = tl.exp2(scores - base[:, None])
        shrink = tl.exp2(peak - base)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        peak = higher
    return acc, total, peak


@triton.jit
def attention_forward(q, k, v, out, lse, queries, keys, heads, kv_heads, q_batch, q_token, k_batch, k_token, v_batch,
                      v_token, out_batch, out_token, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      HEAD: tl.constexpr):
    LOG2E: tl.constexpr = 1.4426950408889634
    # The last rows see most keys and take longest: they start first.
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    kv_head = head // (heads // kv_heads)

    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    inner = tl.arange(0, HEAD)
    real = rows < queries
    q_tile = tl.load(q + batch * q_batch + head * HEAD + rows[:, None] * q_token + inner[None, :], mask=real[:, None],
                     other=0.0)
    k_block = k + batch * k_batch + kv_head * HEAD + columns[None, :] * k_token + inner[:, None]
    v_block = v + batch * v_batch + kv_head * HEAD + columns[:, None] * v_token + inner[None, :]

    offset = keys - queries  # row i sees keys 0 to i + offset
    diagonal = rows + offset
    whole = tl.maximum(0, tl.minimum(block * BLOCK_M + offset + 1, keys)) // BLOCK_N * BLOCK_N
    last = tl.maximum(0, tl.minimum((block + 1) * BLOCK_M + offset, keys))

    acc = tl.zeros([BLOCK_M, HEAD], tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    peak = tl.full([BLOCK_M], -float("inf"), tl.float32)
    acc, total, peak = _blocks(acc, total, peak, q_tile, k_block, v_block, 0, whole, k_token, v_token, keys,
                               diagonal, scale * LOG2E, False, BLOCK_N)
    acc, total, peak = _blocks(acc, total, peak, q_tile, k_block, v_block, whole, last, k_token, v_token, keys,
                               diagonal, scale * LOG2E, True, BLOCK_N)

    acc = acc * (1.0 / tl.where(total == 0.0, 1.0, total))[:, None]
    tl.store(out + batch * out_batch + head * HEAD + rows[:, None] * out_token + inner[None, :],
             acc.to(out.dtype.element_ty), mask=real[:, None])
    logarithm = tl.where(total == 0.0, -float("inf"), (peak + tl.log2(total)) / LOG2E)
    tl.store(lse + (batch * heads + head) * queries + rows, logarithm, mask=real)


STRIDES = ["q_batch", "q_token", "k_batch", "k_token", "v_batch", "v_token", "out_batch", "out_token"]
VARIANT = variant.Variant(
    kernel=attention_forward,
    arguments={"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "lse": "*fp32",
               "queries": "i32", "keys": "i32", "heads": "i32", "kv_heads": "i32",
               **{name: "i32" for name in STRIDES}, "scale": "fp32"},
    multiples_of_16=frozenset(STRIDES),
    constants={"BLOCK_M": 128, "BLOCK_N": 32, "HEAD": 128},
    options={"num_warps": 4, "num_stages": 2, "waves_per_eu": 2, "matrix_instr_nonkdim": 16},
)
