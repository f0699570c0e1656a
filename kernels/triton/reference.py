"""What the Triton kernels must compute, in double precision, and how far off they may be.

Inputs are a dictionary from buffer name to array: floats as float64, integers as int64. Bounds count what the kernels
round: u is half a unit in the last place of a format. Errors of independent roundings in a sum of products add up like
the root of the sum of the squared products ("wander"), four of which no result exceeds by chance; and never to more
than the sum of the products' magnitudes ("size"). The matrix cores cut each group of products 24 bits below the
largest.
"""
from dataclasses import dataclass

import numpy as np

U_BF16, U_F16, U_F32 = 2.0**-8, 2.0**-11, 2.0**-24
TILE = 64  # rows of a block in sorted_ids


@dataclass
class Output:
    buffer: str
    values: np.ndarray
    allowed: np.ndarray  # difference, element by element


def _spread(a, b):
    """Wander and size of a @ b."""
    return np.sqrt((a * a) @ (b * b)), np.abs(a) @ np.abs(b)


def _sum_error(k, values, wander, size):
    """Of a sum of k exact products in f32 and the matrix cores."""
    return 2.0**-23 * np.minimum(2 * (k + 2) * size, k * (np.abs(values) + 4 * wander))


def softmax(inputs):
    x = inputs["x"]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    values = e / e.sum(axis=1, keepdims=True)
    # exp2 of a rounded argument: its error is relative.
    spread = np.abs(x).max(axis=1, keepdims=True) * 2
    return [Output("out", values, values * (U_BF16 + 8 * U_F32 * (1 + spread)))]


def attention_forward(inputs):
    q, k, v = inputs["q"], inputs["k"], inputs["v"]
    batch, queries, heads, head = q.shape
    keys, kv_heads = k.shape[1:3]
    out, allowed, lse = np.zeros_like(q), np.zeros_like(q), np.full((batch, heads, queries), -np.inf)
    seen = np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries
    some = seen.any(axis=1)
    for b in range(batch):
        for h in range(heads):
            kv = h // (heads // kv_heads)
            scores = np.where(seen, q[b, :, h] @ k[b, :, kv].T / np.sqrt(head), -np.inf)[some]
            peak = scores.max(axis=1, keepdims=True)
            p = np.exp(scores - peak)
            total = p.sum(axis=1, keepdims=True)
            wander, size = _spread(p, v[b, :, kv])
            out[b, some, h] = p @ v[b, :, kv] / total
            # p is rounded to f16, whose numbers below 2^-14 have fewer places.
            own = U_F16 * np.minimum(size, 4 * wander) + keys * 2.0**-25 * np.abs(v[b, :, kv]).max()
            allowed[b, some, h] = own / total + 1.01 * U_F16 * np.abs(out[b, some, h])
            lse[b, h, some] = (peak + np.log(total))[:, 0]
    return [Output("out", out, allowed + 2.0**-25),
            Output("lse", lse, np.where(np.isinf(lse), 0, 32 * U_F32 * (4 + np.abs(lse))))]


def block_scale_gemm(inputs):
    x, w = inputs["x"], inputs["w"]
    k = x.shape[1]
    blocks = np.arange(k) // 128
    x = x * inputs["x_scales"][:, blocks]
    w = w * inputs["w_scales"][np.arange(w.shape[0]) // 128][:, blocks]
    values = x @ w.T
    return [Output("out", values, 1.01 * U_BF16 * np.abs(values) + _sum_error(k, values, *_spread(x, w.T)))]


def _awq_columns(words):
    """[rows, n / 8] words to [rows, n] numbers: columns 0 to 7 lie in nibbles 0, 4, 1, 5, 2, 6, 3, 7."""
    nibbles = np.array([0, 4, 1, 5, 2, 6, 3, 7])
    return (words[:, :, None] >> (4 * nibbles) & 15).reshape(words.shape[0], -1)


def awq_gemm(inputs):
    x = inputs["x"]
    k = x.shape[1]
    groups = np.arange(k) // 128
    w = (_awq_columns(inputs["codes"]) - _awq_columns(inputs["zeros"])[groups]) * inputs["scales"][groups]
    split, block = 4, 64
    values, allowed = [], []
    for part in range(split):
        mine = np.arange(k) // block % split == part
        a, b = x[:, mine], w[mine]
        wander, size = _spread(a, b)
        product = a @ b
        values.append(product)
        # Weights are rounded to f16.
        allowed.append(U_F16 * np.minimum(size, 4 * wander) + _sum_error(mine.sum(), product, wander, size))
    return [Output("parts", np.stack(values), np.stack(allowed))]


def _tiles(ids, count):
    """The ids of each block that are no filling, with the block's number."""
    for tile, listed in enumerate(ids.reshape(-1, TILE)):
        yield tile, listed[listed < count]


def fused_moe(inputs):
    x, w, weights = inputs["x"], inputs["w"], inputs["weights"]
    n, k = w.shape[1] // 2, w.shape[2]
    count = weights.shape[0]
    top_k = count // x.shape[0]
    values, allowed = np.full((count, n), np.nan), np.zeros((count, n))
    for tile, ids in _tiles(inputs["sorted_ids"][0, :inputs["padded"][0]], count):
        expert = inputs["expert_of"][tile]
        if expert < 0:
            values[ids] = 0
            continue
        rows, weight = x[ids // top_k], weights[ids, None]
        gate, up = rows @ w[expert, :n].T, rows @ w[expert, n:].T
        gate_error = _sum_error(k, gate, *_spread(rows, w[expert, :n].T))
        up_error = _sum_error(k, up, *_spread(rows, w[expert, n:].T))
        silu = gate / (1 + np.exp(-gate))
        values[ids] = silu * up * weight
        # The slope of SiLU is never above 1.1.
        own = weight * (1.1 * gate_error * np.abs(up) + np.abs(silu) * up_error)
        allowed[ids] = own + (1.01 * U_BF16 + 16 * U_F32 * (1 + np.abs(gate))) * np.abs(values[ids])
    return [Output("out", values, allowed)]


def moe_lora(inputs):
    x, a, b = inputs["x"], inputs["a"], inputs["b"]
    values = inputs["out"].copy()
    k, count = x.shape[1], values.shape[0]
    top_k = count // x.shape[0]
    own = np.zeros_like(values)
    for tile, ids in _tiles(inputs["sorted_ids"][0], count):
        adapter, expert = inputs["adapter_of"][tile], inputs["expert_of"][tile]
        if adapter < 0:
            continue
        rows = x[ids // top_k]
        thin = rows @ a[adapter, expert].T
        thin_error = _sum_error(k, thin, *_spread(rows, a[adapter, expert].T))
        scale = inputs["scales"][adapter]
        wander, size = _spread(scale * thin, b[adapter, expert].T)
        values[ids] += scale * thin @ b[adapter, expert].T
        # The first product is rounded to bf16 in between.
        own[ids] = U_BF16 * np.minimum(size, 4 * wander) + scale * thin_error @ np.abs(b[adapter, expert].T)
        own[ids] += 1.01 * U_BF16 * np.abs(values[ids])
    return [Output("out", values, own)]


REFERENCES = {f.__name__: f for f in (softmax, attention_forward, block_scale_gemm, awq_gemm, fused_moe, moe_lora)}
