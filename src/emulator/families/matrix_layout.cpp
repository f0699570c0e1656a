#include "emulator/families/matrix_layout.h"

#include <algorithm>
#include <bit>

namespace asmevo::emulator {

// The matrix calculator's rule; the ISA text's formula agrees with it where all blocks share one.
LaneMap broadcast_map(const FactorLayout& a, unsigned cbsz, unsigned abid) {
  const unsigned largest = static_cast<unsigned>(std::countr_zero(a.blocks));
  const unsigned bits = std::min(cbsz, largest), mask = (1U << bits) - 1;
  const unsigned run = a.rows * a.blocks;
  LaneMap map{};
  for (unsigned l = 0; l < map.size(); ++l) {
    const unsigned block = l % run / a.rows;
    const unsigned from = (block & ~mask) + (abid & mask);
    map[l] = static_cast<uint8_t>(l - block * a.rows + from * a.rows);
  }
  return map;
}

LaneMap group_map(unsigned blgp) {
  LaneMap map{};
  for (unsigned l = 0; l < map.size(); ++l) {
    unsigned from = l;
    if (blgp == 1 || blgp == 2)
      from = l % 32 + (blgp - 1) * 32;
    else if (blgp == 3)
      from = (l + 16) % 64;
    else if (blgp >= 4)
      from = l % 16 + (blgp - 4) * 16;
    map[l] = static_cast<uint8_t>(from);
  }
  return map;
}

} // namespace asmevo::emulator
