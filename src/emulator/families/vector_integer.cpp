#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_integer_rows() {
  return {};
}

} // namespace asmevo::emulator
