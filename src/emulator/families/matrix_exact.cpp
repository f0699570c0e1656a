#include "emulator/families/matrix_exact.h"

namespace asmevo::emulator {

// Terms as an expansion: parts of growing magnitude, none overlapping the next (Shewchuk, "Adaptive Precision
// Floating-Point Arithmetic", 1997). They may lie close together, so the topmost are added up as far as one
// double holds them; then the sign of what is left decides the rounding.
float round_exact_sum(const double* terms, unsigned count) {
  constexpr unsigned most_parts = 48; // 2,098 bits from the largest to the least double, 53 a part
  double part[most_parts];
  unsigned parts = 0;
  for (unsigned n = 0; n < count; ++n) {
    double x = terms[n];
    unsigned kept = 0;
    for (unsigned p = 0; p < parts; ++p) {
      const double sum = x + part[p], part_in_sum = sum - x;
      const double error = (x - (sum - part_in_sum)) + (part[p] - part_in_sum);
      if (error != 0) part[kept++] = error;
      x = sum;
    }
    if (x != 0) part[kept++] = x;
    parts = kept;
  }
  if (parts == 0) return 0;
  double top = part[parts - 1], rest = 0;
  for (unsigned p = parts - 1; p-- > 0 && rest == 0;) {
    const double sum = top + part[p];
    rest = part[p] - (sum - top);
    top = sum;
  }
  const detail::Doubles odd = detail::round_to_odd(detail::Doubles{} + top, detail::Doubles{} + rest);
  return static_cast<float>(odd[0]);
}

} // namespace asmevo::emulator
