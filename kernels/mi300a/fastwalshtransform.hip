// One step of the transform: the sum and the difference of elements `step` apart, a pair a lane, in place.
#include "common.h"

extern "C" __global__ void fastwalshtransform_step(float* data, uint step) {
  const uint lane = index_x();
  const uint first = 2 * step * (lane / step) + lane % step, second = first + step;
  const float a = data[first], b = data[second];
  data[first] = a + b;
  data[second] = a - b;
}
