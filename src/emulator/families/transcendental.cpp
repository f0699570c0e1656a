#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows transcendental_rows() {
  return {};
}

} // namespace asmevo::emulator
