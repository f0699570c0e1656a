#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows scalar_arithmetic_rows() {
  return {};
}

} // namespace asmevo::emulator
