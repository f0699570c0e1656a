#include "timing/coalescing.h"

#include "emulator/memory_access.h"

#include <algorithm>
#include <array>

namespace asmevo::timing {

namespace {

constexpr uint64_t bits(uint64_t first, uint64_t count) {
  return (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
}

} // namespace

void coalesce(const uint64_t* addresses, uint64_t lanes, unsigned bytes, std::vector<Piece>& pieces) {
  const size_t first_piece = pieces.size();
  const auto touch = [&](uint64_t address, uint64_t mask) {
    // Neighbouring lanes mostly touch neighbouring places: the last piece first.
    for (size_t n = pieces.size(); n-- > first_piece;)
      if (pieces[n].address == address) {
        pieces[n].bytes |= mask;
        return;
      }
    pieces.push_back({address, mask});
  };
  emulator::for_each_lane(lanes, [&](unsigned lane) {
    uint64_t at = addresses[lane];
    for (uint64_t left = bytes; left != 0;) {
      const uint64_t offset = at % piece_bytes, now = std::min<uint64_t>(left, piece_bytes - offset);
      touch(at - offset, bits(offset, now));
      at += now, left -= now;
    }
  });
}

unsigned address_cycles(const uint64_t* addresses, uint64_t lanes, unsigned bytes) {
  const uint64_t line = bytes <= 4 ? 64 : 128;
  const unsigned group = bytes <= 8 ? 16 : 8;
  unsigned cycles = 0;
  for (unsigned first = 0; first < emulator::lanes; first += group) {
    std::array<uint64_t, 32> lines; // a lane's bytes may lie over the end of one
    size_t count = 0;
    emulator::for_each_lane(lanes & bits(first, group), [&](unsigned lane) {
      for (uint64_t n = addresses[lane] / line; n <= (addresses[lane] + bytes - 1) / line; ++n)
        if (std::find(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count), n) ==
            lines.begin() + static_cast<std::ptrdiff_t>(count))
          lines[count++] = n;
    });
    cycles += static_cast<unsigned>(count);
  }
  return cycles;
}

} // namespace asmevo::timing
