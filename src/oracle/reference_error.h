// How far K0 and a candidate are from what is true, where that is known: from a reference in double
// precision.
//
// Rule `scaled` (compare.h) leaves a candidate 1e-3, which is a thousand times what an f32 kernel is off.
// Where there is a reference, a candidate may be at most twice as far from it as K0 is: another order of the
// same arithmetic stays well within that, a cheaper approximation does not. Half a unit in the last place of
// the reference's value comes on top, since nobody can be nearer than that for sure; else a K0 that happens
// to be exact would ask for the impossible.
//
// K0 and a candidate are not off in the same elements, so errors are not compared one by one. They are taken
// in terms of the larger of the reference's value and the root mean square of its row, and the candidate's
// largest one, and their root mean square, may be at most twice K0's.
#pragma once

#include "oracle/element_types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace asmevo::oracle {

inline constexpr double most_times_k0 = 2;

/// Of all elements where the reference and K0 are finite.
struct ErrorSize {
  double max_absolute = 0, rms_absolute = 0;
  double max_relative = 0, rms_relative = 0;
};

struct ReferenceComparison {
  uint64_t elements = 0;
  ErrorSize k0, candidate;
  /// The candidate's relative errors beyond half a unit in the last place: what the rule looks at.
  double max_excess = 0, rms_excess = 0;
  uint64_t specials = 0;         // a NaN or infinity where K0 has none, or none, or another, where it has one
  std::optional<uint64_t> worst; // element with max_excess, or the first one with a special

  bool accepted() const {
    return specials == 0 && max_excess <= most_times_k0 * k0.max_relative &&
           rms_excess <= most_times_k0 * k0.rms_relative;
  }
  /// "off by 3.1e-05 at most, K0 by 2.4e-07; by 8.8e-06 in the root mean square, K0 by 5.2e-08; worst at 17":
  /// one line.
  std::string describe() const;
};

/// Takes a buffer row by row.
class ReferenceError {
 public:
  /// Floats or integers.
  explicit ReferenceError(const ElementType& type) : type_(type) {}

  /// The next row: all of it, or the elements of it that are known. All three have the same length.
  void add_row(std::span<const uint64_t> k0, std::span<const uint64_t> candidate,
               std::span<const double> reference);
  ReferenceComparison result() const;

 private:
  struct Sums {
    double max_absolute = 0, max_relative = 0;
    long double absolute = 0, relative = 0; // squares
    void add(double error, double scale);
    ErrorSize size(uint64_t count) const;
  };
  void add_finite(double k0, double candidate, double reference, double scale);
  void add_special(bool same);

  ElementType type_;
  Sums k0_, candidate_;
  long double excess_ = 0;     // squares
  uint64_t finite_ = 0;        // elements in the sums
  ReferenceComparison so_far_; // without what follows from the sums
};

/// Half of the distance between neighbours of a type around a value; of integers, one half.
double half_ulp(const ElementType&, double value);

} // namespace asmevo::oracle
