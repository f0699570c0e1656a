#include "emulator/families/matrix_arithmetic.h"

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

namespace {

struct SpecialSum {
  float value = 0;       // NaN or Inf if that is what the group gives
  bool infinity = false; // some product or the accumulator is infinite
};

// The group's sum in which only Inf, NaN and products that are no f32 count. Products are exact in double.
SpecialSum special_sum(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned count, unsigned j,
                       float accumulator) {
  double sum = std::isfinite(accumulator) ? 0 : double{accumulator};
  bool infinity = std::isinf(accumulator);
  for (unsigned k = first; k < first + count; ++k) {
    const double product = double{r.a.value[r.terms.a[k] + r.row]} * r.b.value[r.terms.b[k] + r.column + j];
    infinity |= std::isinf(product);
    if (std::isnan(product))
      sum += product;
    else if (std::abs(product) >= 0x1p128)
      sum += std::copysign(HUGE_VAL, product);
  }
  return {static_cast<float>(sum), infinity};
}

} // namespace

void settle_specials(const RowTimesColumns<SplitOperand>& r, unsigned first, unsigned count, unsigned columns,
                     const float* before, float* sums) {
  for (unsigned j = 0; j < columns; ++j) {
    const SpecialSum special = special_sum(r, first, count, j, before[j]);
    if (special.value != 0) sums[j] = special.value; // true of NaN too
    if (r.saturate && std::isinf(sums[j]) && !special.infinity)
      sums[j] = std::copysign(std::numeric_limits<float>::max(), sums[j]);
  }
}

} // namespace asmevo::emulator
