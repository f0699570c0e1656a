// A filter over a signal, an output a lane; what was before the signal's first element is in `history`.
#include "common.h"

extern "C" __global__ void fir(float* out, float* coefficients, float* in, float* history, uint taps) {
  const uint lane = index_x();
  float sum = 0;
  for (uint i = 0; i < taps; ++i) {
    if (lane >= i)
      sum += coefficients[i] * in[lane - i];
    else
      sum += coefficients[i] * history[taps - (i - lane)];
  }
  out[lane] = sum;
}
