#include "profile/kernel_profile.h"

#include <algorithm>
#include <numeric>

namespace asmevo::profile {

std::string_view unit_of(Origin origin) {
  if (origin == Origin::Counters) return "none";
  return origin == Origin::Modelled || origin == Origin::ThreadTrace ? "cycles" : "samples";
}

double InstructionTime::total() const {
  return std::accumulate(stalled.begin(), stalled.end(), busy + unexplained);
}

double KernelProfile::total() const {
  double sum = 0;
  for (const InstructionTime& i : instructions) sum += i.total();
  return sum;
}

const InstructionTime* KernelProfile::at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(instructions, address, {}, &InstructionTime::address);
  return found != instructions.end() && found->address == address ? &*found : nullptr;
}

} // namespace asmevo::profile
