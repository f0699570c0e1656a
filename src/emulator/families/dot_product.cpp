#include "emulator/lanes.h"

namespace asmevo::emulator {

OpcodeRows dot_product_rows() {
  return {};
}

} // namespace asmevo::emulator
