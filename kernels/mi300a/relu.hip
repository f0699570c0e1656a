// out = max(in, 0), one element a lane.
#include "common.h"

extern "C" __global__ void relu(int count, float* in, float* out) {
  const int i = static_cast<int>(index_x());
  if (i < count) out[i] = in[i] > 0 ? in[i] : 0;
}
