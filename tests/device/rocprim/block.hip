// Kernels around rocPRIM's algorithms of one workgroup, three elements a work-item.
#include "algorithms.h"
#include "fence.h"

#include <rocprim/rocprim.hpp>

namespace asmevo::test::rocprim_calls {

namespace {

constexpr unsigned size = 128, items = block_items / size;

__global__ __launch_bounds__(size) void inclusive_sum_kernel(const int32_t* in, int32_t* out) {
  using Scan = rocprim::block_scan<int32_t, size>;
  __shared__ Scan::storage_type storage;
  int32_t own[items];
  const size_t first = blockIdx.x * block_items;
  rocprim::block_load_direct_blocked(threadIdx.x, in + first, own);
  Scan().inclusive_scan(own, own, storage);
  rocprim::block_store_direct_blocked(threadIdx.x, out + first, own);
}

__global__ __launch_bounds__(size) void maximum_kernel(const float* in, float* out) {
  using Reduce = rocprim::block_reduce<float, size>;
  __shared__ Reduce::storage_type storage;
  float own[items], most;
  rocprim::block_load_direct_striped<size>(threadIdx.x, in + blockIdx.x * block_items, own);
  Reduce().reduce(own, most, storage, rocprim::maximum<float>());
  if (threadIdx.x == 0) out[blockIdx.x] = most;
}

__global__ __launch_bounds__(size) void sort_kernel(const uint16_t* keys, uint16_t* keys_out,
                                                    int32_t* order) {
  using Sort = rocprim::block_radix_sort<uint16_t, size, items, int32_t>;
  __shared__ Sort::storage_type storage;
  uint16_t own[items];
  int32_t from[items];
  const size_t first = blockIdx.x * block_items;
  rocprim::block_load_direct_blocked(threadIdx.x, keys + first, own);
  for (unsigned i = 0; i < items; ++i) from[i] = static_cast<int32_t>(threadIdx.x * items + i);
  Sort().sort(own, from, storage);
  rocprim::block_store_direct_blocked(threadIdx.x, keys_out + first, own);
  rocprim::block_store_direct_blocked(threadIdx.x, order + first, from);
}

} // namespace

void block_inclusive_sum(const int32_t* in, int32_t* out, size_t blocks) {
  inclusive_sum_kernel<<<blocks, size>>>(in, out);
}
void block_reduce_maximum(const float* in, float* out, size_t blocks) {
  maximum_kernel<<<blocks, size>>>(in, out);
}
void block_sort(const uint16_t* keys, uint16_t* keys_out, int32_t* order, size_t blocks) {
  sort_kernel<<<blocks, size>>>(keys, keys_out, order);
}

} // namespace asmevo::test::rocprim_calls
