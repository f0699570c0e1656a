"""GEMM of f16 with 4-bit weights as AWQ stores them, in parts of k.

x: [m, k]; codes: [k, n / 8] words of eight weights; zeros: [k / 128, n / 8], packed alike; scales: [k / 128, n];
parts: [split, m, n], whose sum over the first dimension is x times ((code - zero) * scale). With few rows there are too
few tiles to fill the GPU: splitting k makes more of them.
"""
import triton
import triton.language as tl

import variant


@triton.jit
def _unpack(words, shifts):
    """[rows, n / 8] words to [rows, n] numbers from 0 to 15."""
    words = tl.interleave(words, words)
    words = tl.interleave(words, words)
    words = tl.interleave(words, words)
    return (words >> shifts) & 0xF


@triton.jit
def awq_gemm(x, codes, scales, zeros, parts, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
             BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    packed = tl.program_id(0) * (BLOCK_N // 8) + tl.arange(0, BLOCK_N // 8)
    part = tl.program_id(2)
    real_row, real_column, real_packed = rows < m, columns < n, packed < n // 8

    # Columns 0 to 7 lie in nibbles 0, 4, 1, 5, 2, 6, 3, 7 of a word.
    place = tl.arange(0, BLOCK_N) % 8
    shifts = ((place % 2 * 4 + place // 2) * 4)[None, :]

    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(part * BLOCK_K, k, BLOCK_K * SPLIT):
        inner = start + tl.arange(0, BLOCK_K)
        group = start // 128
        a = tl.load(x + rows[:, None] * k + inner[None, :], mask=real_row[:, None], other=0.0)
        code = tl.load(codes + inner[:, None] * (n // 8) + packed[None, :], mask=real_packed[None, :], other=0)
        zero = tl.load(zeros + group * (n // 8) + packed, mask=real_packed, other=0)
        scale = tl.load(scales + group * n + columns, mask=real_column, other=0.0)
        difference = _unpack(code, shifts) - _unpack(zero[None, :], shifts)
        acc = tl.dot(a, difference.to(tl.float16) * scale[None, :], acc)

    tl.store(parts + part * m * n + rows[:, None] * n + columns[None, :], acc,
             mask=real_row[:, None] & real_column[None, :])


VARIANT = variant.Variant(
    kernel=awq_gemm,
    arguments={"x": "*fp16", "codes": "*i32", "scales": "*fp16", "zeros": "*i32", "parts": "*fp32",
               "m": "i32", "n": "i32", "k": "i32"},
    multiples_of_16=frozenset({"n", "k"}),
    constants={"BLOCK_M": 32, "BLOCK_N": 128, "BLOCK_K": 64, "SPLIT": 4},
    options={"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": 16},
)
