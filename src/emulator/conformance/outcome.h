// What became of one conformance vector.
#pragma once

#include <cstdint>
#include <string>

namespace asmevo::emulator::conformance {

struct Outcome {
  enum class Kind : uint8_t { Passed, Failed, Skipped } kind = Kind::Passed;
  std::string id;     // of the vector
  std::string family; // what it is counted under
  std::string text;   // Failed: what was expected and what came instead. Skipped: why
};

} // namespace asmevo::emulator::conformance
