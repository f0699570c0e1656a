// One pass of a stage of the sort: puts pairs in order, one a lane.
#include "common.h"

extern "C" __global__ void bitonicsort_pass(uint* data, uint stage, uint pass, uint ascending) {
  const uint lane = index_x();
  const uint distance = 1u << (stage - pass);
  const uint left = lane % distance + lane / distance * (2 * distance), right = left + distance;
  const uint a = data[left], b = data[right];
  const bool up = ((lane >> stage) & 1) != ascending;
  const uint least = a < b ? a : b, most = a < b ? b : a;
  data[left] = up ? least : most;
  data[right] = up ? most : least;
}
