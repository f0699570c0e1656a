#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_float_rows() {
  return {};
}

} // namespace asmevo::emulator
