#include "timing/coalescing.h"

#include "emulator/memory_access.h"

#include <algorithm>

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

} // namespace asmevo::timing
