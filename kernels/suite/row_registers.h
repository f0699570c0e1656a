// A row of at most 8192 floats in the registers of a workgroup of 256, four neighbours at a time.
#pragma once

#include "common.h"

class RowRegisters {
 public:
  static constexpr uint threads = 256, quads = 8, most = threads * quads * 4;

  /// `rest` is what lies behind the row's end.
  __inline_device__ RowRegisters(const float* row, uint n, float rest) {
#pragma unroll
    for (uint i = 0; i < quads; ++i) values[i] = load4(row + at(i), left(i, n), rest);
  }
  __inline_device__ void put(float* row, uint n) const {
#pragma unroll
    for (uint i = 0; i < quads; ++i) store4(row + at(i), values[i], left(i, n));
  }

  /// Over the lane's own elements.
  template <class Op>
  __inline_device__ float reduce(float start, Op op) const {
    float4 all = {start, start, start, start};
#pragma unroll
    for (uint i = 0; i < quads; ++i)
#pragma unroll
      for (uint e = 0; e < 4; ++e) all[e] = op(all[e], values[i][e]);
    return op(op(all[0], all[1]), op(all[2], all[3]));
  }
  template <class F>
  __inline_device__ void change(F f) {
#pragma unroll
    for (uint i = 0; i < quads; ++i)
#pragma unroll
      for (uint e = 0; e < 4; ++e) values[i][e] = f(values[i][e]);
  }

  static __inline_device__ uint at(uint i) { return (i * threads + lane_x()) * 4; }
  static __inline_device__ int64 left(uint i, uint n) { return static_cast<int64>(n) - at(i); }

  float4 values[quads];
};
