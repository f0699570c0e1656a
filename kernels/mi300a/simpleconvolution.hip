// A square mask over a picture of integers that is padded on the right and below, an output a lane.
#include "common.h"

extern "C" __global__ void simpleconvolution(uint* in, float* mask, int* out, uint width, uint height,
                                             uint mask_size) {
  const uint lane = index_x();
  const uint x = lane % width, y = lane / width;
  if (y >= height) return;
  const uint pitch = width + mask_size - 1;
  float sum = 0;
  for (uint j = 0; j < mask_size; ++j)
    for (uint i = 0; i < mask_size; ++i)
      sum += static_cast<float>(in[(y + j) * pitch + x + i]) * mask[j * mask_size + i];
  out[lane] = static_cast<int>(sum + 0.5f);
}
