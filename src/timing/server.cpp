#include "timing/server.h"

#include <algorithm>

namespace asmevo::timing {

void Server::advance_to(uint64_t number) {
  if (number < first_ + horizon) return;
  const uint64_t first = number - horizon + horizon / 4;
  for (uint64_t n = first_; n < std::min(first, first_ + horizon); ++n) used_[n % horizon] = 0;
  first_ = first;
  open_ = std::max(open_, first_);
}

double Server::serve(double at, double busy) {
  if (busy <= 0) return at;
  if (used_.empty()) used_.resize(horizon);
  uint64_t number = std::max(static_cast<uint64_t>(at / slice), open_);
  for (;; ++number) {
    advance_to(number);
    if (used_[number % horizon] < slice) break;
    if (number == open_) ++open_;
  }
  float& used = used_[number % horizon];
  const double start = std::max(at, static_cast<double>(number) * slice + used);
  used += static_cast<float>(busy);
  // What does not fit goes into the slices behind.
  for (uint64_t next = number + 1; used_[(next - 1) % horizon] > slice; ++next) {
    advance_to(next);
    used_[next % horizon] += used_[(next - 1) % horizon] - static_cast<float>(slice);
    used_[(next - 1) % horizon] = slice;
  }
  last_ = std::max(last_, start + busy);
  return start;
}

} // namespace asmevo::timing
