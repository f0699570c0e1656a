"""Softmax of rows of any length, in bf16: what vocabulary logits and router scores need.

A workgroup takes every num_programs-th row. The first pass keeps a running maximum and a running sum that is rescaled
when the maximum grows, so a row is read twice, not three times; the second read mostly hits in L2.
"""
import triton
import triton.language as tl

import variant


@triton.jit
def softmax(out, x, rows, columns, out_stride, x_stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    LOG2E: tl.constexpr = 1.4426950408889634
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x_row = x + row.to(tl.int64) * x_stride
        out_row = out + row.to(tl.int64) * out_stride

        # Per lane, so that the loop needs no reduction across lanes.
        peak = tl.full([BLOCK], -float("inf"), tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        for start in range(0, columns, BLOCK):
            inside = start + offsets < columns
            value = tl.load(x_row + start + offsets, mask=inside, other=-float("inf")).to(tl.float32) * LOG2E
            higher = tl.maximum(peak, value)
            # Where nothing was read yet both are -inf, and their difference is no number.
            base = tl.where(higher == -float("inf"), 0.0, higher)
            total = total * tl.exp2(peak - base) + tl.exp2(value - base)
            peak = higher
        top = tl.max(peak, 0)
        scale = 1.0 / tl.sum(total * tl.exp2(peak - top), 0)

        for start in range(0, columns, BLOCK):
            inside = start + offsets < columns
            value = tl.load(x_row + start + offsets, mask=inside, other=-float("inf")).to(tl.float32) * LOG2E
            result = tl.exp2(value - top) * scale
            tl.store(out_row + start + offsets, result.to(out.dtype.element_ty), mask=inside)


VARIANT = variant.Variant(
    kernel=softmax,
    arguments={"out": "*bf16", "x": "*bf16", "rows": "i32", "columns": "i32", "out_stride": "i32", "x_stride": "i32"},
    multiples_of_16=frozenset({"columns", "out_stride", "x_stride"}),
    constants={"BLOCK": 2048},
    # Eight bf16 a lane: one 16-byte load.
    options={"num_warps": 4, "num_stages": 1},
)
