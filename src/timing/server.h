// A unit that serves one request after another and is asked for times in any order: a request for later must
// not hold back one for earlier. Time goes in slices; a request takes its share of the first slice from its
// time on that has some left.
#pragma once

#include <cstdint>
#include <vector>

namespace asmevo::timing {

class Server {
 public:
  /// When a request that arrives at `at` is served, which keeps the unit for `busy` cycles. Times may go back
  /// by no more than a quarter of the horizon.
  double serve(double at, double busy);
  /// Until when it has work.
  double busy_until() const { return last_; }

 private:
  static constexpr double slice = 32; // cycles
  static constexpr uint64_t horizon = 4096;
  void advance_to(uint64_t number);

  std::vector<float> used_; // cycles of slice n % horizon
  uint64_t first_ = 0;      // the earliest slice that is kept
  uint64_t open_ = 0;       // no slice before has anything left
  double last_ = 0;
};

} // namespace asmevo::timing
