// What the lanes of one wave do with each other: ballots, counts of lanes in front, shuffles through LDS
// hardware (bpermute, permute, swizzle), DPP moves and reductions, reads of single lanes. Workgroups of one
// wave; some kernels are meant to be launched with a wave that is not full.
#include "device.h"

extern "C" __global__ void __launch_bounds__(64) ballots(const int* in, unsigned long* out) {
  const int value = in[index_x()];
  unsigned long* row = out + index_x() * 4;
  row[0] = __builtin_amdgcn_ballot_w64(value > 0);
  row[1] = __builtin_amdgcn_ballot_w64(value % 3 == 0);
  row[2] = 0;
  if (value & 1) row[2] = __builtin_amdgcn_ballot_w64(true);
  row[3] = __builtin_amdgcn_read_exec();
}

/// The elements that pass, one after another, wave by wave, and how many of each wave.
extern "C" __global__ void __launch_bounds__(64) compact(const int* in, int* out, uint* counts, uint n) {
  const uint i = index_x();
  const bool passes = i < n && in[i] % 5 < 2;
  const unsigned long all = __builtin_amdgcn_ballot_w64(passes);
  const uint before = __builtin_amdgcn_mbcnt_hi(static_cast<uint>(all >> 32),
                                                __builtin_amdgcn_mbcnt_lo(static_cast<uint>(all), 0));
  if (passes) out[group_x() * 64 + before] = in[i];
  if (lane_x() == 0) counts[group_x()] = static_cast<uint>(__builtin_popcountl(all));
}

extern "C" __global__ void __launch_bounds__(64) shuffles(const int* in, const int* from, int* out) {
  const int value = in[lane_x()];
  int* row = out + lane_x();
  auto put = [&](int v) {
    *row = v;
    row += 64;
  };
  put(shuffle(value, static_cast<uint>(from[lane_x()]) % 64));
  put(shuffle_xor(value, 21));
  put(__builtin_amdgcn_ds_permute(static_cast<int>((lane_x() * 7 + 3) % 64 * 4), value));
  put(__builtin_amdgcn_ds_swizzle(value, 0x041f)); // the neighbour, by a mask in each 32 lanes
  put(__builtin_amdgcn_ds_swizzle(value, 0x8039)); // quads 1, 2, 3, 0
  put(__builtin_amdgcn_readlane(value, 37));
  put(__builtin_amdgcn_readfirstlane(value + 1));
  int divergent = -1;
  if (lane_x() > 40) divergent = __builtin_amdgcn_readfirstlane(value);
  put(divergent);
}

// DPP controls, as the ISA numbers them.
constexpr int quad_perm_reversed = 0x1b, row_shl_1 = 0x101, row_shr_2 = 0x112, row_ror_3 = 0x123,
              wave_shl = 0x130, wave_rol = 0x134, wave_shr = 0x138, wave_ror = 0x13c, row_mirror = 0x140,
              row_half_mirror = 0x141, row_bcast_15 = 0x142, row_bcast_31 = 0x143, row_newbcast_5 = 0x155;

template <int control, int rows = 15, int banks = 15, bool bound_control = false>
__device__ int moved(int old, int value) {
  return __builtin_amdgcn_update_dpp(old, value, control, rows, banks, bound_control);
}

extern "C" __global__ void __launch_bounds__(64) dpp_moves(const int* in, int* out) {
  const int value = in[lane_x()], old = -1000 - static_cast<int>(lane_x());
  int* row = out + lane_x();
  auto put = [&](int v) {
    *row = v;
    row += 64;
  };
  put(moved<quad_perm_reversed>(old, value));
  put(moved<row_shl_1>(old, value));
  put(moved<row_shl_1, 15, 15, true>(old, value));
  put(moved<row_shr_2>(old, value));
  put(moved<row_ror_3>(old, value));
  put(moved<wave_shl>(old, value));
  put(moved<wave_rol>(old, value));
  put(moved<wave_shr>(old, value));
  put(moved<wave_ror>(old, value));
  put(moved<row_mirror>(old, value));
  put(moved<row_half_mirror>(old, value));
  put(moved<row_bcast_15>(old, value));
  put(moved<row_bcast_31>(old, value));
  put(moved<row_newbcast_5>(old, value));
  put(moved<row_mirror, 0b0101>(old, value));
  put(moved<row_mirror, 15, 0b0011>(old, value));
}

/// Inclusive sums of a wave by DPP alone, as compilers write them; the last lane has the total.
extern "C" __global__ void __launch_bounds__(64) dpp_scan(const int* in, int* out) {
  int sum = in[index_x()];
  sum += moved<0x111>(0, sum);
  sum += moved<0x112>(0, sum);
  sum += moved<0x114>(0, sum);
  sum += moved<0x118>(0, sum);
  sum += moved<row_bcast_15, 0b1010>(0, sum);
  sum += moved<row_bcast_31, 0b1100>(0, sum);
  out[index_x()] = sum;
}

/// Any workgroup size: a float maximum over the lanes that are there, a product of integers, and their
/// bitwise or.
extern "C" __global__ void wave_reduce(const float* in, float* maxima, uint* products, uint* ors) {
  float most = in[index_x()];
  uint product = 2 * lane_x() + 1, any = 1u << lane_x() % 31;
  const uint size = group_size_x();
  for (uint step = 1; step < 64; step *= 2) {
    const uint other = wave_lane() ^ step;
    const float m = shuffle(most, other);
    const uint p = shuffle(product, other), o = shuffle(any, other);
    if (other >= size) continue; // not there
    most = m > most ? m : most;
    product *= p;
    any |= o;
  }
  if (lane_x() == 0) {
    maxima[group_x()] = most;
    products[group_x()] = product;
    ors[group_x()] = any;
  }
}

/// A loop that lanes leave one by one, each wave's common part read as a scalar.
extern "C" __global__ void __launch_bounds__(64) waterfall(const uint* keys, uint* turns, uint* order) {
  const uint key = keys[index_x()];
  uint turn = 0;
  for (bool done = false; !done; ++turn) {
    const uint first = __builtin_amdgcn_readfirstlane(key);
    if (key == first) {
      order[index_x()] = turn;
      done = true;
    }
  }
  turns[index_x()] = turn;
}

#if defined(__gfx950__)
extern "C" __global__ void __launch_bounds__(64) lane_swaps(const uint* in, uint* out) {
  const auto by_32 = __builtin_amdgcn_permlane32_swap(in[lane_x()], in[64 + lane_x()], false, false);
  const auto by_16 = __builtin_amdgcn_permlane16_swap(in[lane_x()], in[64 + lane_x()], false, false);
  out[lane_x()] = by_32[0];
  out[64 + lane_x()] = by_32[1];
  out[128 + lane_x()] = by_16[0];
  out[192 + lane_x()] = by_16[1];
}
#endif
