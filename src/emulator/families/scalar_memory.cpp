#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows scalar_memory_rows() {
  return {};
}

} // namespace asmevo::emulator
