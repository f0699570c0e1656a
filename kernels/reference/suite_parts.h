// What the references of the suite's kernels share. For the files of kernels/reference/ only.
#pragma once

#include "reference/suite.h"

#include <algorithm>
#include <cmath>

namespace asmevo::reference {

constexpr double ulp_f32 = 0x1p-23, rounding_f32 = 0x1p-24;
/// A few roundings of numbers of the order of 1.
constexpr double few = 16 * rounding_f32;

std::vector<SuiteKernel> level1_kernels();
std::vector<SuiteKernel> level2_matmul_kernels();
std::vector<SuiteKernel> level2_convolution_kernels();
std::vector<SuiteKernel> level2_transposed_kernels();
std::vector<SuiteKernel> llm_gemm_kernels();
std::vector<SuiteKernel> llm_kernels();

/// A rectangle of a matrix.
struct Block {
  size_t row = 0, column = 0, rows = 0, columns = 0;
};
/// Cut off where the matrix ends.
Block block_of(size_t row, size_t column, size_t rows, size_t columns, size_t height, size_t width);

/// Elements of a buffer that is a matrix with rows of `width`, from element `start` on.
Numbers read_block(const SuiteInputs&, const std::string& buffer, size_t width, const Block&,
                   size_t start = 0);
std::vector<size_t> indices_of(size_t width, const Block&, size_t start = 0);
inline std::vector<size_t> run_of(size_t first, size_t count) {
  return indices_of(count, {0, 0, 1, count}, first);
}

} // namespace asmevo::reference
