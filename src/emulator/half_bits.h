// f16 bits and floats by the host's own conversions: exact one way, rounded as MXCSR says the other. For
// single values; loops over lanes take families/half.h, which vectorises and knows MODE.
#pragma once

#include <bit>
#include <cstdint>

namespace asmevo::emulator {

inline float half_to_float(uint32_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
}
inline uint32_t float_to_half(float value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

} // namespace asmevo::emulator
