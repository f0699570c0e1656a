#include "reference/suite.h"

#include "reference/suite_parts.h"

namespace asmevo::reference {

double Output::allowed(size_t i) const {
  return absolute + relative * std::abs(values[i]) + (own.empty() ? 0 : own[i]);
}

bool SuiteKernel::has_shape(std::string_view shape) const {
  return std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
}

const std::vector<SuiteKernel>& suite_kernels() {
  static const std::vector<SuiteKernel> all = [] {
    std::vector<SuiteKernel> list;
    for (const auto& part : {level1_kernels(), level2_matmul_kernels(), level2_convolution_kernels(),
                             level2_transposed_kernels(), llm_gemm_kernels(), llm_kernels()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

const SuiteKernel* find_suite_kernel(std::string_view name) {
  const auto& all = suite_kernels();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& kernel) { return kernel.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Block block_of(size_t row, size_t column, size_t rows, size_t columns, size_t height, size_t width) {
  return {row, column, row < height ? std::min(rows, height - row) : 0,
          column < width ? std::min(columns, width - column) : 0};
}

Numbers read_block(const SuiteInputs& in, const std::string& buffer, size_t width, const Block& block,
                   size_t start) {
  if (block.column == 0 && block.columns == width)
    return in.values(buffer, start + block.row * width, block.rows * width);
  Numbers values;
  values.reserve(block.rows * block.columns);
  for (size_t row = block.row; row < block.row + block.rows; ++row) {
    const Numbers part = in.values(buffer, start + row * width + block.column, block.columns);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

std::vector<size_t> indices_of(size_t width, const Block& block, size_t start) {
  std::vector<size_t> indices;
  indices.reserve(block.rows * block.columns);
  for (size_t row = block.row; row < block.row + block.rows; ++row)
    for (size_t i = 0; i < block.columns; ++i) indices.push_back(start + row * width + block.column + i);
  return indices;
}

} // namespace asmevo::reference
