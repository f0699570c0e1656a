#include "base/random.h"
#include "isa/instruction.h"
#include "isa/registers.h"

#include <gtest/gtest.h>

#include <set>

namespace asmevo::isa {
namespace {

TEST(Registers, Names) {
  EXPECT_EQ(name(RegRange{unit::vgpr0 + 12, 1}), "v12");
  EXPECT_EQ(name(RegRange{unit::agpr0, 4}), "a[0:3]");
  EXPECT_EQ(name(RegRange{unit::scalar0 + 4, 2}), "s[4:5]");
  EXPECT_EQ(name(RegRange{unit::vcc, 2}), "vcc");
  EXPECT_EQ(name(RegRange{unit::vcc + 1, 1}), "vcc_hi");
  EXPECT_EQ(name(RegRange{unit::exec, 1}), "exec_lo");
  EXPECT_EQ(name(RegRange{unit::exec, 2}), "exec");
  EXPECT_EQ(name(RegRange{unit::flat_scratch, 2}), "flat_scratch");
  EXPECT_EQ(name(RegRange{unit::xnack_mask + 1, 1}), "xnack_mask_hi");
  EXPECT_EQ(name(RegRange{unit::ttmp0 + 2, 2}), "ttmp[2:3]");
  EXPECT_EQ(name(RegUnit{unit::m0}), "m0");
  EXPECT_EQ(name(RegUnit{unit::scc}), "scc");
  EXPECT_EQ(name(RegUnit{unit::mode}), "mode");
  EXPECT_EQ(name(RegUnit{unit::hwreg}), "hwreg");
  EXPECT_EQ(name(RegRange{}), "constant");
}

TEST(Registers, ScalarUnitsFollowTheOperandCodes) { // CDNA3 ISA, "Scalar operands"
  EXPECT_EQ(unit::flat_scratch - unit::scalar0, 102);
  EXPECT_EQ(unit::vcc - unit::scalar0, 106);
  EXPECT_EQ(unit::m0 - unit::scalar0, 124);
  EXPECT_EQ(unit::exec - unit::scalar0, 126);
  EXPECT_FALSE(is_sgpr(unit::vcc));
  EXPECT_TRUE(is_sgpr(unit::scalar0 + 101));
  EXPECT_TRUE(is_vector(unit::agpr0 + 255));
  EXPECT_FALSE(is_vector(unit::scalar0));
}

TEST(Registers, RangesOverlap) {
  const RegRange a{4, 4};
  EXPECT_TRUE(a.contains(7));
  EXPECT_FALSE(a.contains(8));
  EXPECT_TRUE(a.overlaps({7, 1}));
  EXPECT_FALSE(a.overlaps({8, 4}));
  EXPECT_FALSE(a.overlaps({0, 4}));
  EXPECT_FALSE(a.overlaps({5, 0}) && RegRange(RegRange{5, 0}).count != 0);
}

// RegSet against std::set over random operations.
TEST(RegSet, BehavesLikeASet) {
  RandomStream random(7);
  RegSet set, other;
  std::set<RegUnit> model, other_model;
  for (int step = 0; step < 4000; ++step) {
    const auto count = static_cast<uint16_t>(1 + random.below(20));
    const RegRange range{static_cast<RegUnit>(random.below(unit::count - count + 1U)), count};
    switch (random.below(6)) {
    case 0:
    case 1:
      set.insert(range);
      for (unsigned k = 0; k < count; ++k) model.insert(static_cast<RegUnit>(range.first + k));
      break;
    case 2:
      set.erase(range);
      for (unsigned k = 0; k < count; ++k) model.erase(static_cast<RegUnit>(range.first + k));
      break;
    case 3:
      other.insert(range.first);
      other_model.insert(range.first);
      break;
    case 4: {
      EXPECT_EQ((set | other).size(), [&] {
        auto m = model;
        m.insert(other_model.begin(), other_model.end());
        return m.size();
      }());
      const RegSet less = set - other, both = set & other;
      EXPECT_EQ(less.size() + both.size(), set.size());
      EXPECT_EQ((less | both), set);
      break;
    }
    default: {
      const auto first = model.lower_bound(range.first);
      EXPECT_EQ(set.overlaps(range), first != model.end() && *first < range.first + count);
      EXPECT_EQ(set.contains(range.first), model.contains(range.first));
    }
    }
    EXPECT_EQ(set.size(), model.size());
    EXPECT_EQ(set.empty(), model.empty());
  }
  std::vector<RegUnit> listed;
  set.for_each([&](RegUnit u) { listed.push_back(u); });
  EXPECT_EQ(listed, std::vector<RegUnit>(model.begin(), model.end()));
}

TEST(Waitcnt, Fields) { // bits 3:0 and 15:14 vmcnt, 6:4 expcnt, 11:8 lgkmcnt
  EXPECT_EQ(WaitcntFields{}.encode(), 0xcf7f);
  EXPECT_EQ((WaitcntFields{.vmcnt = 0, .expcnt = 7, .lgkmcnt = 15}.encode()), 0x0f70);
  EXPECT_EQ((WaitcntFields{.vmcnt = 63, .expcnt = 7, .lgkmcnt = 0}.encode()), 0xc07f);
  for (unsigned v = 0; v < 0x10000; v += 7) {
    const auto word = static_cast<uint16_t>(v);
    EXPECT_EQ(WaitcntFields::decode(word).encode(), word & 0xcf7f);
  }
}

} // namespace
} // namespace asmevo::isa
