#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows matrix_rows() {
  return {};
}

} // namespace asmevo::emulator
