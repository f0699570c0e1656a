// Whether a candidate is so much faster than the best so far that it takes its place.
//
// On a machine model a time is exact and the model is not; so a candidate is timed on an ensemble of models,
// and what spreads is the paired ratio r_m = T_m(best) / T_m(candidate) over its members m. It is committed
// where
//
//   median r_m               >= 1 + max(eps, k * cv(r))     it is faster than the best, beyond the spread
//   median T(K0)/T(candidate) >= floor                      and not slower than K0
//   share of m with r_m > 1  >= 0.9                         whatever the models' parameters are
//
// eps 0.002, k 0.85 and floor 1.0 are the paper's. cv: standard deviation over mean.
#pragma once

#include <span>
#include <string>

namespace asmevo::gate {

struct CommitRule {
  double epsilon = 0.002, spread_factor = 0.85, least_speedup = 1.0;
  double least_share = 0.9; // of the members that must show a gain
};

struct Comparison {
  double speedup = 1;       // median T(K0) / T(candidate)
  double over_best = 1;     // median T(best) / T(candidate)
  double low = 1, high = 1; // of T(best) / T(candidate)
  double cv = 0;            // of it
  double faster_share = 0;  // of the members
  double needed = 1;        // what over_best had to reach
  bool sufficient = false;
  /// "1.034 over the best on the median of 8 models (1.021 to 1.041), 1.006 was needed; 1.210 over K0".
  std::string describe() const;
};

/// Times by member, in seconds; of the candidate maybe fewer, and then it is not sufficient.
Comparison compare_times(std::span<const double> k0, std::span<const double> best,
                         std::span<const double> candidate, const CommitRule& = {});

/// Whether a candidate that has these times so far can still be sufficient. Stops timing early.
bool may_suffice(std::span<const double> best, std::span<const double> candidate, const CommitRule& = {});

} // namespace asmevo::gate
