#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows flat_rows() {
  return {};
}

} // namespace asmevo::emulator
