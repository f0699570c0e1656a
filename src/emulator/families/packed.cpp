#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows packed_rows() {
  return {};
}

} // namespace asmevo::emulator
