// What the rows of samples/integers.hip must be.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace asmevo::reference {

template <class T>
T reversed_bits(T value) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned bits = sizeof(T) * 8;
  U result = 0;
  for (unsigned i = 0; i < bits; ++i)
    if (static_cast<U>(value) >> i & 1) result = static_cast<U>(result | U{1} << (bits - 1 - i));
  return static_cast<T>(result);
}

template <class T>
T saturated_sum(T a, T b) {
  T sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < T(0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}
template <class T>
T saturated_difference(T a, T b) {
  T difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return std::is_unsigned_v<T> || b > T(0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

/// One value for each `put` of arithmetic<T>.
template <class T>
std::vector<T> integer_rows(T a, T b) {
  using U = std::make_unsigned_t<T>;
  constexpr T bits = sizeof(T) * 8;
  const T divisor = b == 0 ? T(7) : b, shift = b & (bits - 1);
  const T dividend = divisor == T(-1) ? T(a / 2) : a;
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const auto wide = static_cast<uint64_t>(static_cast<int64_t>(a)); // sign-extended if T is signed
  const uint64_t counted = std::is_signed_v<T> ? wide : static_cast<uint64_t>(ua);
  return {
      static_cast<T>(ua + ub),
      static_cast<T>(ua - ub),
      static_cast<T>(ua * ub),
      static_cast<T>(dividend / divisor),
      static_cast<T>(dividend % divisor),
      static_cast<T>(a & ~b),
      static_cast<T>(a ^ (b | T(5))),
      static_cast<T>(ua << shift),
      static_cast<T>(a >> shift),
      std::min(a, b),
      std::max(a, b),
      saturated_sum(a, b),
      saturated_difference(a, b),
      reversed_bits(a),
      static_cast<T>(std::popcount(ua)),
      static_cast<T>(shift == 0 ? ua : (ua << shift) | (ub >> (bits - shift))),
      static_cast<T>(a == 0 ? bits : std::countl_zero(counted)),
      static_cast<T>(a == 0 ? bits : std::countr_zero(counted)),
  };
}

} // namespace asmevo::reference
