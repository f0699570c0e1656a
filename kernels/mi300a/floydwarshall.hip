// One pass over all pairs of nodes: whether the way by node `over` is shorter than what is known.
#include "common.h"

extern "C" __global__ void floydwarshall_pass(uint* distance, uint* predecessor, uint nodes, uint over) {
  const uint x = index_x(), y = index_y();
  const int known = static_cast<int>(distance[y * nodes + x]);
  const int by = static_cast<int>(distance[y * nodes + over] + distance[over * nodes + x]);
  if (by < known) {
    distance[y * nodes + x] = static_cast<uint>(by);
    predecessor[y * nodes + x] = over;
  }
}
