// Whether the long forms of tests are wanted: `./check --full`, which sets ASMEVO_FULL=1.
#pragma once

#include <cstdlib>
#include <string_view>

namespace asmevo::test {

inline bool full_run() {
  const char* full = std::getenv("ASMEVO_FULL");
  return full != nullptr && std::string_view(full) == "1";
}

} // namespace asmevo::test
