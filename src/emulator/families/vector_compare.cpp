#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows vector_compare_rows() {
  return {};
}

} // namespace asmevo::emulator
