#include "oracle/reference_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace asmevo::oracle {

namespace {

double root_mean_square(long double squares, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
}

// Of what is finite in it.
double root_mean_square(std::span<const double> row) {
  long double squares = 0;
  uint64_t count = 0;
  for (const double v : row) {
    if (!std::isfinite(v)) continue;
    squares += static_cast<long double>(v) * v;
    ++count;
  }
  return root_mean_square(squares, count);
}

} // namespace

double half_ulp(const ElementType& t, double value) {
  if (!t.is_float()) return 0.5;
  const int least = 1 - t.bias;
  const int exponent = value == 0 || !std::isfinite(value) ? least : std::max(least, std::ilogb(value));
  return std::ldexp(0.5, exponent - t.mantissa_bits);
}

void ReferenceError::Sums::add(double error, double scale) {
  max_absolute = std::max(max_absolute, error);
  max_relative = std::max(max_relative, error / scale);
  absolute += static_cast<long double>(error) * error;
  relative += static_cast<long double>(error / scale) * (error / scale);
}

ErrorSize ReferenceError::Sums::size(uint64_t count) const {
  return {max_absolute, root_mean_square(absolute, count), max_relative, root_mean_square(relative, count)};
}

void ReferenceError::add_row(std::span<const uint64_t> k0, std::span<const uint64_t> candidate,
                             std::span<const double> reference) {
  const double rms = root_mean_square(reference);
  for (size_t i = 0; i < reference.size(); ++i, ++so_far_.elements) {
    const double own = decode(type_, k0[i]), other = decode(type_, candidate[i]);
    if (!std::isfinite(reference[i]) || !std::isfinite(own) || !std::isfinite(other)) {
      add_special((std::isnan(own) && std::isnan(other)) || own == other);
      continue;
    }
    // A row of zeros has no scale of its own.
    const double scale = std::max(std::abs(reference[i]), rms);
    add_finite(own, other, reference[i], scale > 0 ? scale : 1);
  }
}

void ReferenceError::add_finite(double k0, double candidate, double reference, double scale) {
  const double error = std::abs(candidate - reference);
  k0_.add(std::abs(k0 - reference), scale);
  candidate_.add(error, scale);
  ++finite_;
  const double excess = std::max(0.0, error - half_ulp(type_, reference)) / scale;
  excess_ += static_cast<long double>(excess) * excess;
  if (excess <= so_far_.max_excess) return;
  so_far_.max_excess = excess;
  if (so_far_.specials == 0) so_far_.worst = so_far_.elements;
}

void ReferenceError::add_special(bool same) {
  if (same) return;
  if (so_far_.specials++ == 0) so_far_.worst = so_far_.elements;
}

ReferenceComparison ReferenceError::result() const {
  ReferenceComparison result = so_far_;
  result.k0 = k0_.size(finite_);
  result.candidate = candidate_.size(finite_);
  result.rms_excess = root_mean_square(excess_, finite_);
  return result;
}

std::string ReferenceComparison::describe() const {
  std::string text =
      fmt::format("off by {:.3g} at most, K0 by {:.3g}; by {:.3g} in the root mean square, K0 by {:.3g}",
                  candidate.max_relative, k0.max_relative, candidate.rms_relative, k0.rms_relative);
  if (specials != 0) text += fmt::format("; {} elements are finite in one only", specials);
  if (worst) text += fmt::format("; worst at {}", *worst);
  return text;
}

} // namespace asmevo::oracle
