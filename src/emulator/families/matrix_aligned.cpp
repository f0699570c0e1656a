#include "emulator/families/matrix_aligned.h"

namespace asmevo::emulator {

void SplitOperand::split(unsigned elements, int min_exponent) {
  int32_t any_special = 0, largest = zero_exponent;
  for (unsigned n = 0; n < elements; ++n) {
    const auto bits = std::bit_cast<int32_t>(value[n]);
    const int32_t field = bits >> 23 & 0xff;
    const int32_t mantissa = (bits & 0x7fffff) | (field != 0 ? 0x800000 : 0);
    const int32_t own_exponent = (field > 1 ? field : 1) - 127;
    const int32_t e = own_exponent > min_exponent ? own_exponent : min_exponent;
    // Subnormals of the format are normal floats: shifted back to where they stand in the format. No bit is
    // lost.
    const int32_t shift = 11 + (e - own_exponent);
    const int32_t magnitude = field == 0xff ? 0 : mantissa >> (shift < 31 ? shift : 31);
    significand[n] = bits < 0 ? -magnitude : magnitude;
    exponent[n] = magnitude != 0 ? e : zero_exponent;
    any_special |= field == 0xff ? 1 : 0;
    largest = largest > exponent[n] ? largest : exponent[n];
  }
  specials = any_special != 0;
  largest_exponent = largest;
}

} // namespace asmevo::emulator
