// AITer's layer of experts in fp8 with block scales.
#include "reference/aiter_parts.h"

namespace asmevo::reference {

namespace {

/// One expert's weights, rows by columns, with their scales.
Numbers weights_of(const SuiteInputs& in, const std::string& buffer, size_t expert, size_t rows,
                   size_t columns) {
  Numbers w = unshuffled(in.values(buffer, expert * rows * columns, rows * columns), rows, columns, 1);
  const size_t blocks = rows / 128 * (columns / 128);
  const Numbers scales = in.values(buffer + "_scales", expert * blocks, blocks);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] *= scales[i / columns / 128 * (columns / 128) + i % columns / 128];
  return w;
}

Numbers inputs_of(const SuiteInputs& in) {
  const size_t tokens = in.size("tokens"), dim = in.size("dim");
  Numbers x = in.values("x");
  const Numbers scales = in.values("x_scales");
  for (size_t i = 0; i < x.size(); ++i) x[i] *= scales[i % dim / 128 * tokens + i / dim];
  return x;
}

double dot(const double* a, const double* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// silu(gate) * up of one token, rounded to fp8 by the largest of each 128.
Numbers activations(const double* x, const Numbers& gate_up, size_t dim, size_t inter) {
  Numbers result(inter);
  for (size_t j = 0; j < inter; ++j) {
    const double gate = dot(x, &gate_up[j * dim], dim), up = dot(x, &gate_up[(inter + j) * dim], dim);
    result[j] = gate / (1 + std::exp(-gate)) * up;
  }
  return rounded_to_fp8(std::move(result), 128);
}

/// An activation that is a float's rounding off may be rounded to the next number of fp8: few are, and that
/// is as if all were off by a sixteenth of fp8's rounding. Each expert's part of a result is rounded to bf16
/// and added to what is there, of which there is at most one.
Expected experts(const SuiteInputs& in) {
  const size_t tokens = in.size("tokens"), dim = in.size("dim"), inter = in.size("inter");
  const Numbers x = inputs_of(in), rows = in.values("sorted_tokens"), weights = in.values("sorted_weights"),
                of_blocks = in.values("sorted_experts");
  Output out{.buffer = "out",
             .values = Numbers(tokens * dim),
             .relative = bfloat_rounding * 1.01,
             .own = Numbers(tokens * dim)};
  Numbers gate_up, down;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto expert = static_cast<size_t>(of_blocks[row / 32]);
    if (row % 32 == 0) {
      gate_up = weights_of(in, "gate_up", expert, 2 * inter, dim);
      down = weights_of(in, "down", expert, dim, inter);
    }
    const size_t token = static_cast<size_t>(rows[row]) & 0xffffff;
    if (token >= tokens) continue;
    const Numbers act = activations(&x[token * dim], gate_up, dim, inter);
    for (size_t d = 0; d < dim; ++d) {
      double part = 0, squares = 0;
      for (size_t j = 0; j < inter; ++j) {
        const double product = act[j] * down[d * inter + j];
        part += product;
        squares += product * product;
      }
      out.values[token * dim + d] += weights[row] * part;
      out.own[token * dim + d] +=
          weights[row] * (2.5 * 0x1p-8 * std::sqrt(squares) + bfloat_rounding * 1.01 * std::abs(part));
    }
  }
  return {{std::move(out)}};
}

} // namespace

std::vector<AiterKernel> aiter_moe_kernels() {
  const std::string object = "gfx942/fmoe_fp8_blockscale_g1u1_";
  return {
      {"fmoe_fp8_blockscale",
       object + "subGU_256.co",
       "fmoe_fp8_blockscale",
       experts,
       {"tiny", "odd", "single", "search"},
       true},
      {"fmoe_fp8_blockscale_novs",
       object + "novs_subGU_256.co",
       "fmoe_fp8_blockscale",
       experts,
       {"tiny", "odd"},
       true},
  };
}

} // namespace asmevo::reference
