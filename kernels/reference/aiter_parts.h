// What the references of AITer's kernels share. For the files of kernels/reference/ only.
#pragma once

#include "reference/aiter.h"
#include "reference/number_formats.h"
#include "reference/suite_llm.h"
#include "reference/suite_parts.h"

namespace asmevo::reference {

std::vector<AiterKernel> aiter_gemm_kernels();
std::vector<AiterKernel> aiter_topk_kernels();
std::vector<AiterKernel> aiter_paged_kernels();
std::vector<AiterKernel> aiter_fmha_kernels();
std::vector<AiterKernel> aiter_mla_kernels();
std::vector<AiterKernel> aiter_reduce_kernels();
std::vector<AiterKernel> aiter_backward_kernels();
std::vector<AiterKernel> aiter_moe_kernels();

constexpr double bfloat_rounding = 0x1p-8;
/// The matrix cores cut products and sums 24 bits below the largest of a group, and float sums round once
/// more.
constexpr double step_error = 0x1p-23;

/// Weights as AITer shuffles them: blocks of 16 rows by 32 columns; in a block the columns by groups of 16
/// bytes, in a group row by row. A block is then what 64 lanes load with 16 bytes each. Gives rows by
/// columns.
inline Numbers unshuffled(const Numbers& w, size_t rows, size_t columns, size_t element_bytes) {
  const size_t group = 16 / element_bytes;
  Numbers plain(rows * columns);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      const size_t block = row / 16 * (columns / 32) + column / 32;
      plain[row * columns + column] =
          w[block * 512 + column % 32 / group * 16 * group + row % 16 * group + column % group];
    }
  return plain;
}

/// Rows rounded to fp8 as the kernels do it on the way: each by its largest number, which becomes 240.
inline Numbers rounded_to_fp8(Numbers values, size_t row) {
  for (size_t first = 0; first < values.size(); first += row) {
    double largest = 0;
    for (size_t i = first; i < first + row; ++i) largest = std::max(largest, std::abs(values[i]));
    for (size_t i = first; i < first + row && largest > 0; ++i) {
      const double scaled = values[i] * (240 / largest), unit = ulp(e4m3_fnuz, scaled);
      values[i] = std::nearbyint(scaled / unit) * unit * (largest / 240);
    }
  }
  return values;
}

/// How far off a float sum of `steps` products may be: it wanders about zero and is hardly ever near its
/// magnitude.
inline double sum_error(double steps, double value, double magnitude, double wander) {
  return step_error * std::min(2 * (steps + 2) * magnitude, steps * (std::abs(value) + 4 * wander));
}

} // namespace asmevo::reference
