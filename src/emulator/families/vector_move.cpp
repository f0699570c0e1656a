#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_move_rows() {
  return {};
}

} // namespace asmevo::emulator
