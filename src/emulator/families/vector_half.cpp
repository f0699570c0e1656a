#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_half_rows() {
  return {};
}

} // namespace asmevo::emulator
