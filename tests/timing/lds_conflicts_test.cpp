// Bank conflicts: patterns whose cost on MI300 is known.
#include "emulator/wave.h"
#include "timing/lds_conflicts.h"

#include <gtest/gtest.h>

#include <functional>

namespace asmevo::timing {
namespace {

unsigned cycles(unsigned bytes, const std::function<uint64_t(unsigned)>& address,
                uint64_t lanes = emulator::all_lanes, unsigned banks = 32) {
  uint64_t addresses[emulator::lanes];
  for (unsigned l = 0; l < emulator::lanes; ++l) addresses[l] = address(l);
  return lds_cycles(addresses, lanes, bytes, banks);
}

TEST(LdsConflicts, LanesSideBySideMoveAllThereIs) {
  for (const unsigned bytes : {4U, 8U, 16U})
    EXPECT_EQ(cycles(bytes, [&](unsigned l) { return l * bytes; }), 64 * bytes / 128)
        << bytes; // 128 bytes a cycle
  EXPECT_EQ(cycles(1, [](unsigned l) { return l; }), 2U);
  EXPECT_EQ(cycles(2, [](unsigned l) { return 2 * l; }), 2U);
}

TEST(LdsConflicts, TheSameDwordIsGivenToAll) {
  EXPECT_EQ(cycles(4, [](unsigned) { return 128; }), 2U);
  EXPECT_EQ(cycles(16, [](unsigned) { return 128; }), 8U);
  EXPECT_EQ(cycles(4, [](unsigned l) { return l / 4 * 4; }), 2U);
}

TEST(LdsConflicts, Strides) {
  EXPECT_EQ(cycles(4, [](unsigned l) { return 8 * l; }), 4U);
  EXPECT_EQ(cycles(4, [](unsigned l) { return 16 * l; }), 8U);
  EXPECT_EQ(cycles(4, [](unsigned l) { return 128 * l; }), 64U);
  EXPECT_EQ(cycles(4, [](unsigned l) { return 132 * l; }), 2U); // padded by a dword
  EXPECT_EQ(cycles(4, [](unsigned l) { return 12 * l; }), 2U);  // odd
  EXPECT_EQ(cycles(8, [](unsigned l) { return 16 * l; }), 8U);
  EXPECT_EQ(cycles(16, [](unsigned l) { return 1024 * l; }),
            64U); // a column of a tile of 64 columns of 16 bytes
}

// The groups of 16-byte accesses are not of neighbours: lanes 0 to 3 meet lanes 20 to 23, and not 4 to 7.
TEST(LdsConflicts, GroupsOfWideAccesses) {
  const auto at = [](unsigned l, unsigned other) { return l == other ? 128U * 16 : l * 16U; };
  EXPECT_EQ(cycles(16, [&](unsigned l) { return at(l, 4); }, 0x1f), 2U); // lane 4 is in another group
  EXPECT_EQ(cycles(
                16, [&](unsigned l) { return at(l, 20); }, 0xf | 1U << 20),
            2U); // lane 20 in the same, same banks
  EXPECT_EQ(
      cycles(16, [](unsigned l) { return l == 20 ? 64U : l * 16U; }, 0xf | 1U << 20), 1U); // other banks
}

TEST(LdsConflicts, LanesThatAreOffCostNothing) {
  EXPECT_EQ(cycles(4, [](unsigned l) { return 128 * l; }, 0xf), 4U);
  EXPECT_EQ(cycles(4, [](unsigned l) { return 4 * l; }, 0xffffffff), 1U);
  EXPECT_EQ(cycles(4, [](unsigned) { return 0; }, 0), 0U);
}

TEST(LdsConflicts, MoreBanks) {
  EXPECT_EQ(cycles(4, [](unsigned l) { return 128 * l; }, emulator::all_lanes, 64), 32U);
}

} // namespace
} // namespace asmevo::timing
