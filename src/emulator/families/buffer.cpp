#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows buffer_rows() {
  return {};
}

} // namespace asmevo::emulator
