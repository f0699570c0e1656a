#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_convert_rows() {
  return {};
}

} // namespace asmevo::emulator
