// A convolution as a matrix product: im2col lays out what each output needs, gemm multiplies.
#include "common.h"

extern "C" __global__ void conv2d_im2col(float* in, float* out, uint2 size, uint2 mask, uint2 stride,
                                         uint2 pad, uint2 dilation, uint channels, uint batch) {
  const uint lane = index_x();
  const uint field_width = (size.x + 2 * pad.x - dilation.x * (mask.x - 1) - 1) / stride.x + 1;
  const uint field_height = (size.y + 2 * pad.y - dilation.y * (mask.y - 1) - 1) / stride.y + 1;
  const uint columns = field_width * field_height * batch;
  if (lane >= columns) return;
  const uint picture = lane / (field_width * field_height), at = lane % (field_width * field_height);
  const uint block_x = at % field_width, block_y = at / field_width;
  const uint rows = mask.x * mask.y * channels;
  for (uint i = 0; i < rows; ++i) {
    const uint channel = i / (mask.x * mask.y), in_mask = i % (mask.x * mask.y);
    const int x = static_cast<int>(block_x * stride.x + in_mask % mask.x * dilation.x - pad.x);
    const int y = static_cast<int>(block_y * stride.y + in_mask / mask.x * dilation.y - pad.y);
    float value = 0;
    if (x >= 0 && x < static_cast<int>(size.x) && y >= 0 && y < static_cast<int>(size.y))
      value = in[((picture * channels + channel) * size.y + static_cast<uint>(y)) * size.x +
                 static_cast<uint>(x)];
    out[i * columns + lane] = value;
  }
}

extern "C" __global__ void conv2d_gemm(uint m, uint n, uint k, float alpha, float beta, float* a, float* b,
                                       float* c, float* d) {
  constexpr uint size = 16;
  __shared__ float left[size][size], right[size][size];
  const uint x = lane_x(), y = lane_y();
  const uint column = index_x() / group_size_x() * size + x, row = index_y() / group_size_y() * size + y;
  // Beyond m rows, too: the measured kernel clears before it looks where it is.
  d[row * n + column] = 0;
  float sum = 0;
  for (uint i = 0; i < (k - 1) / size + 1; ++i) {
    left[y][x] = row < m && i * size + x < k ? a[row * k + i * size + x] : 0;
    right[y][x] = column < n && i * size + y < k ? b[(i * size + y) * n + column] : 0;
    barrier();
    for (uint j = 0; j < size; ++j)
      if (j + i * size < k) sum += left[y][j] * right[j][x];
    barrier();
  }
  if (row < m && column < n) d[row * n + column] = alpha * sum + beta * c[row * n + column];
}
