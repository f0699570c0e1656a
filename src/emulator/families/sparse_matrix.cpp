#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows sparse_matrix_rows() {
  return {};
}

} // namespace asmevo::emulator
