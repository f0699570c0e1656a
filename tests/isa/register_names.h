// Register sets as names, for comparison with text.
#pragma once

#include "isa/registers.h"

#include <set>
#include <string>

namespace asmevo::test {

inline std::set<std::string> names(const StaticVector<isa::RegRange, 8>& ranges) {
  std::set<std::string> all;
  for (const isa::RegRange& r : ranges) all.insert(isa::name(r));
  return all;
}

} // namespace asmevo::test
