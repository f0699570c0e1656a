#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows scalar_control_rows() {
  return {};
}

} // namespace asmevo::emulator
