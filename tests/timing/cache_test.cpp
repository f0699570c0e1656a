// Which lines a cache holds.
#include "base/random.h"
#include "timing/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>

namespace asmevo::timing {
namespace {

/// Whether it hits; a miss brings the line in.
bool access(Cache& cache, uint64_t at, bool passing = false) {
  if (cache.find(at) != nullptr) return true;
  cache.bring(at, passing);
  return false;
}

unsigned misses(Cache& cache, uint64_t bytes, unsigned stride, unsigned rounds) {
  unsigned count = 0;
  for (unsigned r = 0; r < rounds; ++r)
    for (uint64_t at = 0; at < bytes; at += stride) count += access(cache, at) ? 0 : 1;
  return count;
}

TEST(Cache, WhatFitsMissesOnce) {
  Cache cache({.bytes = 32768, .line = 128, .ways = 64});
  EXPECT_EQ(cache.sets(), 4U);
  EXPECT_EQ(misses(cache, 32768, 4, 3), 256U);
  cache.clear();
  EXPECT_EQ(misses(cache, 32768, 128, 1), 256U);
}

// Round and round a little more than fits: the least recently used is always the one that is needed next.
TEST(Cache, WhatDoesNotFitAlwaysMisses) {
  Cache cache({.bytes = 32768, .line = 128, .ways = 64});
  EXPECT_EQ(misses(cache, 32768 + 4 * 128, 128, 10), 10U * 260);
}

TEST(Cache, LinesOfOneSetCompete) {
  Cache cache({.bytes = 8192, .line = 64, .ways = 2}); // 64 sets
  for (unsigned r = 0; r < 3; ++r)
    for (const uint64_t at : {0U, 4096U, 8192U}) EXPECT_FALSE(access(cache, at));
  EXPECT_TRUE(access(cache, 8192));
  EXPECT_TRUE(access(cache, 4096));
  EXPECT_FALSE(access(cache, 0));
}

TEST(Cache, WithoutRoomHoldsNothing) {
  Cache none({.bytes = 0, .line = 64, .ways = 2});
  EXPECT_FALSE(access(none, 0));
  EXPECT_FALSE(access(none, 0));
}

TEST(Cache, WhatIsDroppedIsGone) {
  Cache cache({.bytes = 8192, .line = 64, .ways = 2});
  EXPECT_FALSE(access(cache, 64));
  EXPECT_TRUE(access(cache, 127));
  cache.drop(100);
  EXPECT_FALSE(access(cache, 64));
}

TEST(Cache, WhatPassesGoesFirst) {
  Cache cache({.bytes = 256, .line = 64, .ways = 4});
  for (const uint64_t at : {0U, 64U, 128U}) EXPECT_FALSE(access(cache, at));
  EXPECT_FALSE(access(cache, 192, true));
  EXPECT_FALSE(access(cache, 256));
  EXPECT_TRUE(access(cache, 0));
  EXPECT_FALSE(access(cache, 192));
}

TEST(Cache, KnowsWhatWasWritten) {
  Cache cache({.bytes = 64, .line = 64, .ways = 1});
  cache.bring(0, false)->dirty = true;
  cache.bring(64, false);
  EXPECT_TRUE(cache.pushed_out_dirty());
  cache.bring(128, false);
  EXPECT_FALSE(cache.pushed_out_dirty());
}

// Lines a power of two apart, as many as fit.
TEST(Cache, HashedSetsAreAllUsed) {
  for (const uint64_t stride : {4096U, 65536U, 1U << 20}) {
    Cache cache({.bytes = 1 << 20, .line = 128, .ways = 16, .hashed = true});
    unsigned hits = 0;
    for (unsigned round = 0; round < 2; ++round)
      for (uint64_t n = 0; n < 2048; ++n) hits += access(cache, n * stride) ? 1 : 0;
    EXPECT_GT(hits, 1200U) << stride;
  }
}

// Against lists of lines in the order of their use.
TEST(Cache, IsLeastRecentlyUsed) {
  RandomStream random(1);
  Cache cache({.bytes = 4096, .line = 64, .ways = 4});
  std::map<uint64_t, std::list<uint64_t>> sets;
  for (unsigned n = 0; n < 20000; ++n) {
    const uint64_t at = random.below(16384), number = at / 64;
    std::list<uint64_t>& set = sets[number % cache.sets()];
    const auto found = std::ranges::find(set, number);
    ASSERT_EQ(access(cache, at), found != set.end()) << n;
    if (found != set.end()) set.erase(found);
    set.push_front(number);
    if (set.size() > 4) set.pop_back();
  }
}

} // namespace
} // namespace asmevo::timing
