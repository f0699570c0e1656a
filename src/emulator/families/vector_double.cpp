#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_double_rows() {
  return {};
}

} // namespace asmevo::emulator
