// Which workgroups stand for a dispatch, and what an ensemble is.
#include "timing/dispatch_sample.h"
#include "timing/ensemble.h"
#include "timing/memory_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace asmevo::timing {
namespace {

using Kind = DispatchSample::Kind;

const Machine& machine() { // 6 XCDs of 38 compute units
  static const Machine m = MachineModel::find("mi300a")->nominal();
  return m;
}

TEST(DispatchSample, SmallDispatchesAreTakenWhole) {
  const DispatchSample s = choose_sample({.workgroups = 20, .instructions = 100}, machine(), 1'000'000);
  EXPECT_EQ(s.kind, Kind::Whole);
  EXPECT_EQ(s.workgroups, (std::vector<uint64_t>{0, 6, 12, 18})); // those of the first XCD
  EXPECT_EQ(s.cus, 38U);
  EXPECT_EQ(s.xcds, 6);
}

TEST(DispatchSample, FewWorkgroupsMakeFewXcdsWork) {
  EXPECT_EQ(choose_sample({.workgroups = 2}, machine(), 1000).xcds, 2);
  EXPECT_EQ(choose_sample({.workgroups = 1}, machine(), 1000).workgroups, std::vector<uint64_t>{0});
}

// Whatever the dispatch: all of one XCD, in order, no more than the effort allows, from all over it.
TEST(DispatchSample, HoldsWhatItPromises) {
  for (const uint64_t workgroups : {1U, 5U, 100U, 5'000U, 300'000U, 2'000'000U})
    for (const unsigned waves : {1U, 4U, 16U})
      for (const double instructions : {10.0, 1e3, 1e5, 1e8}) {
        const DispatchSize size{.workgroups = workgroups,
                                .waves_per_workgroup = waves,
                                .workgroups_per_cu = std::max(1U, 8 / waves),
                                .instructions = instructions};
        constexpr uint64_t effort = 1'000'000;
        const DispatchSample s = choose_sample(size, machine(), effort);
        ASSERT_FALSE(s.workgroups.empty());
        EXPECT_TRUE(std::ranges::is_sorted(s.workgroups));
        EXPECT_LT(s.workgroups.back(), workgroups);
        for (const uint64_t w : s.workgroups) EXPECT_TRUE(w % 6 == 0 || w == workgroups - 1) << w;
        EXPECT_GE(s.cus, 1U);
        EXPECT_LE(s.cus, 38U);
        EXPECT_NEAR(s.share, s.cus / 38.0, 1e-9);
        const double of_each = s.kind == Kind::Cut
                                   ? std::min(instructions, static_cast<double>(s.most_steps) * waves)
                                   : instructions;
        EXPECT_LE(static_cast<double>(s.workgroups.size()) * of_each,
                  std::max(2.0 * effort, 16.0 * 12'000 * 2 * 8))
            << workgroups << " " << waves << " " << instructions;
        if (s.kind == Kind::Sequence && s.workgroups.size() > 10'000) {
          EXPECT_GT(s.workgroups.back(), workgroups / 2);
        }
      }
}

TEST(DispatchSample, ProbesLieAllOver) {
  EXPECT_EQ(probe_workgroups(1), std::vector<uint64_t>{0});
  EXPECT_EQ(probe_workgroups(2), (std::vector<uint64_t>{0, 1}));
  const std::vector<uint64_t> probes = probe_workgroups(2048);
  EXPECT_GE(probes.size(), 8U);
  EXPECT_EQ(probes.back(), 2047U);
  for (size_t n = 1; n < probes.size(); ++n) EXPECT_LT(probes[n] - probes[n - 1], 2 * 2048 / 8U);
}

// Of a grid with a ragged last column no more than a few may be of that column, whatever its width.
TEST(DispatchSample, ProbesDoNotFollowTheGrid) {
  for (const uint64_t width : {2U, 4U, 8U, 16U, 32U, 100U, 128U}) {
    const std::vector<uint64_t> probes = probe_workgroups(width * 128);
    const auto ragged = std::ranges::count_if(probes, [&](uint64_t w) { return w % width == width - 1; });
    EXPECT_LE(static_cast<double>(ragged),
              2 + static_cast<double>(probes.size()) * 2 / static_cast<double>(width))
        << width;
  }
}

TEST(Warmth, WhatFitsStaysAndWhatDoesNotStaysByChance) {
  EXPECT_EQ(kept_share(100, 100), 1);
  EXPECT_EQ(kept_share(0, 100), 1);
  EXPECT_EQ(kept_share(100, 0), 0);
  const double twice = kept_share(200, 100);
  EXPECT_NEAR(twice, std::exp(-(1 - twice) * 2), 1e-6);
  EXPECT_LT(kept_share(1000, 100), 0.001);
  EXPECT_GT(kept_share(110, 100), kept_share(120, 100));
}

TEST(Ensemble, StartsWithTheMachineItself) {
  const MachineModel model = *MachineModel::find("mi300x");
  const auto members = parameter_ensemble(model, 8);
  ASSERT_EQ(members.size(), 8U);
  EXPECT_EQ(members[0].machine, model.nominal());
  EXPECT_EQ(members[0].options.seed, 0U);
  std::set<uint64_t> seeds;
  for (size_t n = 1; n < members.size(); ++n) {
    EXPECT_NE(members[n].machine, model.nominal());
    seeds.insert(members[n].options.seed);
  }
  EXPECT_EQ(seeds.size(), 7U);
  EXPECT_EQ(parameter_ensemble(model, 8)[3].machine, members[3].machine);
}

// What the search sees and what decides in the end have nothing in common but the nominal machine.
TEST(Ensemble, StructuralMembersDifferInStructureAlone) {
  const MachineModel model = *MachineModel::find("mi300x");
  for (const EnsembleMember& m : structural_ensemble(model)) {
    EXPECT_EQ(m.machine, model.nominal()) << m.name;
    const Structure& s = m.options.structure;
    EXPECT_TRUE(s.arbitration != Structure::Arbitration::GreedyThenLongestReady ||
                s.placement != Structure::Placement::RoundRobin ||
                s.replacement != Cache::Replacement::LeastRecentlyUsed)
        << m.name;
  }
  for (const EnsembleMember& m : parameter_ensemble(model, 4))
    EXPECT_EQ(m.options.structure.arbitration, Structure::Arbitration::GreedyThenLongestReady);
}

TEST(Ensemble, SpreadsAreMediansAndBounds) {
  const Spread s = spread_of({4, 1, 3, 2});
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.low, 1);
  EXPECT_EQ(s.high, 4);
  EXPECT_NEAR(s.deviation, 1.2909944 / 2.5, 1e-6);
  EXPECT_EQ(spread_of({7}).median, 7);
  EXPECT_EQ(spread_of({7}).deviation, 0);
}

} // namespace
} // namespace asmevo::timing
