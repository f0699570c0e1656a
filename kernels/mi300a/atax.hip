// y = A^T (A x) in two kernels. Sums are written to memory as they grow.
#include "common.h"

extern "C" __global__ void atax_rows(float* a, float* x, float* tmp, int rows, int columns) {
  const int i = static_cast<int>(index_x());
  if (i < rows)
    for (int j = 0; j < columns; ++j) tmp[i] += a[i * columns + j] * x[j];
}

extern "C" __global__ void atax_columns(float* a, float* y, float* tmp, int rows, int columns) {
  const int j = static_cast<int>(index_x());
  if (j < columns)
    for (int i = 0; i < rows; ++i) y[j] += a[i * columns + j] * tmp[i];
}
