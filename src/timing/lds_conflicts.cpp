#include "timing/lds_conflicts.h"

#include "emulator/memory_access.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace asmevo::timing {

namespace {

constexpr uint64_t half = 0xffffffff;

constexpr uint64_t run(unsigned first, unsigned count) {
  return ((uint64_t{1} << count) - 1) << first;
}
constexpr std::array<uint64_t, 2> narrow = {half, half << 32};
constexpr std::array<uint64_t, 4> of_8_bytes = {run(0, 16), run(16, 16), run(32, 16), run(48, 16)};
constexpr std::array<uint64_t, 8> of_16_bytes = [] {
  const std::array<uint64_t, 4> lower = {run(0, 4) | run(20, 4), run(4, 4) | run(16, 4),
                                         run(8, 4) | run(28, 4), run(12, 4) | run(24, 4)};
  std::array<uint64_t, 8> all{};
  for (size_t n = 0; n < 4; ++n) all[n] = lower[n], all[n + 4] = lower[n] << 32;
  return all;
}();

// How many different dwords the worst bank has to give.
unsigned worst_bank(const uint64_t* addresses, uint64_t lanes, unsigned bytes, unsigned banks, bool apart) {
  constexpr size_t most = 32 * 5; // lanes of a group, dwords of an unaligned access
  std::array<uint64_t, most> dwords;
  size_t count = 0;
  emulator::for_each_lane(lanes, [&](unsigned lane) {
    const uint64_t first = addresses[lane];
    for (uint64_t d = first / 4; d <= (first + bytes - 1) / 4; ++d) dwords[count++] = d;
  });
  if (!apart) {
    std::sort(dwords.begin(), dwords.begin() + static_cast<std::ptrdiff_t>(count));
    count = static_cast<size_t>(
        std::unique(dwords.begin(), dwords.begin() + static_cast<std::ptrdiff_t>(count)) - dwords.begin());
  }
  constexpr size_t most_banks = 256;
  std::array<uint8_t, most_banks> in_bank{};
  unsigned worst = 0;
  for (size_t n = 0; n < count; ++n) worst = std::max<unsigned>(worst, ++in_bank[dwords[n] % banks]);
  return worst;
}

template <size_t groups>
unsigned sum(const std::array<uint64_t, groups>& masks, const uint64_t* addresses, uint64_t lanes,
             unsigned bytes, unsigned banks, bool apart) {
  unsigned cycles = 0;
  for (const uint64_t mask : masks)
    if ((lanes & mask) != 0) cycles += worst_bank(addresses, lanes & mask, bytes, banks, apart);
  return cycles;
}

} // namespace

unsigned lds_cycles(const uint64_t* addresses, uint64_t lanes, unsigned bytes, unsigned banks, bool apart) {
  if (bytes <= 4) return sum(narrow, addresses, lanes, bytes, banks, apart);
  if (bytes <= 8) return sum(of_8_bytes, addresses, lanes, bytes, banks, apart);
  return sum(of_16_bytes, addresses, lanes, bytes, banks, apart);
}

} // namespace asmevo::timing
