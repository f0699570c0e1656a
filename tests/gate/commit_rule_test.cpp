#include "base/random.h"
#include "gate/commit_rule.h"

#include <gtest/gtest.h>

namespace asmevo::gate {
namespace {

using Times = std::vector<double>;

Times scaled(const Times& t, double factor) {
  Times r;
  for (const double x : t) r.push_back(x * factor);
  return r;
}

const Times k0 = {10, 11, 9, 10.5, 9.5, 10.2, 9.8, 10};

TEST(CommitRule, AGainOnAllModelsIsSufficientFromTwoInAThousandOn) {
  EXPECT_FALSE(compare_times(k0, k0, scaled(k0, 1 / 1.0019)).sufficient);
  const Comparison c = compare_times(k0, k0, scaled(k0, 1 / 1.0021));
  EXPECT_TRUE(c.sufficient);
  EXPECT_NEAR(c.speedup, 1.0021, 1e-9);
  EXPECT_NEAR(c.cv, 0, 1e-9);
}

// However large the gain on the others: one model of eight is more than a tenth.
TEST(CommitRule, OneModelThatLosesIsEnough) {
  Times t = scaled(k0, 0.8);
  t[5] = k0[5] * 1.001;
  const Comparison c = compare_times(k0, k0, t);
  EXPECT_FALSE(c.sufficient);
  EXPECT_FALSE(may_suffice(k0, std::span(t).first(6)));
  EXPECT_TRUE(may_suffice(k0, std::span(t).first(5)));
}

TEST(CommitRule, ASpreadAsksForMore) {
  // Ratios from 1.01 to 1.08: the median is 1.045, and 0.85 times their spread is less than that.
  Times t, wide;
  for (size_t m = 0; m < k0.size(); ++m) {
    t.push_back(k0[m] / (1.01 + 0.01 * static_cast<double>(m)));
    wide.push_back(k0[m] / (m % 2 == 0 ? 1.001 : 1.2));
  }
  EXPECT_TRUE(compare_times(k0, k0, t).sufficient);
  const Comparison c = compare_times(k0, k0, wide);
  EXPECT_FALSE(c.over_best < 1.05) << c.describe();
  EXPECT_EQ(c.sufficient, c.over_best >= 1 + 0.85 * c.cv) << c.describe();
}

TEST(CommitRule, TheBestCountsAndNotK0) {
  const Times best = scaled(k0, 0.5);
  EXPECT_FALSE(compare_times(k0, best, scaled(k0, 0.6)).sufficient);
  EXPECT_TRUE(compare_times(k0, best, scaled(k0, 0.4)).sufficient);
  EXPECT_NEAR(compare_times(k0, best, scaled(k0, 0.4)).speedup, 2.5, 1e-9);
}

TEST(CommitRule, FewerTimesThanModelsAreNeverSufficient) {
  const Times t = scaled(k0, 0.5);
  EXPECT_FALSE(compare_times(k0, k0, std::span(t).first(7)).sufficient);
  EXPECT_FALSE(compare_times(k0, k0, {}).sufficient);
}

// Noise around K0 is not committed, whatever the seed.
TEST(CommitRule, NoiseIsNotCommitted) {
  RandomStream random(1);
  unsigned committed = 0;
  for (unsigned run = 0; run < 2000; ++run) {
    Times t;
    for (const double x : k0)
      t.push_back(x * (1 + 0.02 * (static_cast<double>(random.below(2001)) / 1000 - 1)));
    committed += compare_times(k0, k0, t).sufficient ? 1 : 0;
  }
  EXPECT_LE(committed, 20U); // one in 256 is faster on all eight; the models that are held back decide then
}

} // namespace
} // namespace asmevo::gate
