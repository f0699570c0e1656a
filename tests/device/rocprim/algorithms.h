// rocPRIM's algorithms, as tests call them: compiled by clang together with their kernels (device.hip,
// block.hip), called from code that any compiler makes. Pointers are of the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asmevo::test::rocprim_calls {

/// Device-wide ones: with `temporary` null they only say how many bytes of it they need. They return
/// hipError_t.
int inclusive_sum(void* temporary, size_t& bytes, const int32_t* in, int32_t* out, size_t n);
int exclusive_maximum(void* temporary, size_t& bytes, const double* in, double* out, double start, size_t n);
int reduce_sum(void* temporary, size_t& bytes, const uint64_t* in, uint64_t* out, size_t n);
int reduce_minimum(void* temporary, size_t& bytes, const float* in, float* out, float start, size_t n);
int sort_keys(void* temporary, size_t& bytes, const uint32_t* in, uint32_t* out, size_t n);
int sort_pairs_descending(void* temporary, size_t& bytes, const float* keys, float* keys_out,
                          const int32_t* values, int32_t* values_out, size_t n);
/// The same sort of keys by passes over their digits, whatever the size (rocPRIM merges sorted blocks where
/// there are few).
int sort_keys_by_digits(void* temporary, size_t& bytes, const uint32_t* in, uint32_t* out, size_t n);

/// Kernels around the algorithms of one workgroup, on blocks of `block_items` elements.
constexpr size_t block_items = 128 * 3;
void block_inclusive_sum(const int32_t* in, int32_t* out, size_t blocks);
void block_reduce_maximum(const float* in, float* out, size_t blocks);
void block_sort(const uint16_t* keys, uint16_t* keys_out, int32_t* order, size_t blocks);

} // namespace asmevo::test::rocprim_calls
