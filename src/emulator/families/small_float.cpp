#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows small_float_rows() {
  return {};
}

} // namespace asmevo::emulator
