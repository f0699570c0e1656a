#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows lds_rows() {
  return {};
}

} // namespace asmevo::emulator
