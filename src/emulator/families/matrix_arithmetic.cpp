#include "emulator/families/matrix_arithmetic.h"

namespace asmevo::emulator {

namespace {

struct SpecialSum {
  float value = 0;       // NaN or Inf if that is what the sum is
  bool infinity = false; // some product or the accumulator is infinite
};

// The sum in which only Inf, NaN and too large products count. Products are exact in double.
SpecialSum special_sum(const RowTimesColumns<FloatOperand>& r, double least_infinite, unsigned first,
                       unsigned count, unsigned j, float accumulator) {
  double sum = std::isfinite(accumulator) ? 0 : double{accumulator};
  bool infinity = std::isinf(accumulator);
  for (unsigned k = first; k < first + count; ++k) {
    const double product = double{r.a.value[r.terms.a[k] + r.row]} * r.b.value[r.terms.b[k] + r.column + j];
    infinity |= std::isinf(product);
    if (std::isnan(product))
      sum += product;
    else if (std::abs(product) >= least_infinite)
      sum += std::copysign(HUGE_VAL, product);
  }
  return {static_cast<float>(sum), infinity};
}

} // namespace

void settle_specials(const RowTimesColumns<FloatOperand>& r, double least_infinite, unsigned first,
                     unsigned count, unsigned columns, const float* before, float* sums) {
  for (unsigned j = 0; j < columns; ++j) {
    const SpecialSum special = special_sum(r, least_infinite, first, count, j, before[j]);
    if (special.value != 0) sums[j] = special.value; // true of NaN too
    if (r.saturate && std::isinf(sums[j]) && !special.infinity)
      sums[j] = std::copysign(std::numeric_limits<float>::max(), sums[j]);
  }
}

} // namespace asmevo::emulator
