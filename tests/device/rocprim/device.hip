// rocPRIM's device-wide algorithms: its own host code, which chooses kernels and launches them.
#include "algorithms.h"
#include "fence.h"

#include <rocprim/rocprim.hpp>

namespace asmevo::test::rocprim_calls {

int inclusive_sum(void* temporary, size_t& bytes, const int32_t* in, int32_t* out, size_t n) {
  return rocprim::inclusive_scan(temporary, bytes, in, out, n, rocprim::plus<int32_t>());
}
int exclusive_maximum(void* temporary, size_t& bytes, const double* in, double* out, double start, size_t n) {
  return rocprim::exclusive_scan(temporary, bytes, in, out, start, n, rocprim::maximum<double>());
}
int reduce_sum(void* temporary, size_t& bytes, const uint64_t* in, uint64_t* out, size_t n) {
  return rocprim::reduce(temporary, bytes, in, out, n, rocprim::plus<uint64_t>());
}
int reduce_minimum(void* temporary, size_t& bytes, const float* in, float* out, float start, size_t n) {
  return rocprim::reduce(temporary, bytes, in, out, start, n, rocprim::minimum<float>());
}
int sort_keys(void* temporary, size_t& bytes, const uint32_t* in, uint32_t* out, size_t n) {
  return rocprim::radix_sort_keys(temporary, bytes, in, out, n);
}
int sort_pairs_descending(void* temporary, size_t& bytes, const float* keys, float* keys_out,
                          const int32_t* values, int32_t* values_out, size_t n) {
  return rocprim::radix_sort_pairs_desc(temporary, bytes, keys, keys_out, values, values_out, n);
}
int sort_keys_by_digits(void* temporary, size_t& bytes, const uint32_t* in, uint32_t* out, size_t n) {
  using block = rocprim::kernel_config<256, 4>;
  using by_digits = rocprim::radix_sort_config<7, 6, rocprim::kernel_config<256, 2>, block, block, block, 1>;
  return rocprim::radix_sort_keys<by_digits>(temporary, bytes, in, out, n);
}

} // namespace asmevo::test::rocprim_calls
