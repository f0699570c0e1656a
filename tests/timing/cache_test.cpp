// Which lines a cache holds.
#include "base/random.h"
#include "timing/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>

namespace asmevo::timing {
namespace {

unsigned misses(Cache& cache, uint64_t bytes, unsigned stride, unsigned rounds) {
  unsigned count = 0;
  for (unsigned r = 0; r < rounds; ++r)
    for (uint64_t at = 0; at < bytes; at += stride) count += cache.access(at) ? 0 : 1;
  return count;
}

TEST(Cache, WhatFitsMissesOnce) {
  Cache cache(32768, 128, 64);
  EXPECT_EQ(cache.sets(), 4U);
  EXPECT_EQ(misses(cache, 32768, 4, 3), 256U);
  cache.clear();
  EXPECT_EQ(misses(cache, 32768, 128, 1), 256U);
}

// Round and round a little more than fits: the least recently used is always the one that is needed next.
TEST(Cache, WhatDoesNotFitAlwaysMisses) {
  Cache cache(32768, 128, 64);
  EXPECT_EQ(misses(cache, 32768 + 4 * 128, 128, 10), 10U * 260);
}

TEST(Cache, LinesOfOneSetCompete) {
  Cache cache(8192, 64, 2); // 64 sets
  for (unsigned r = 0; r < 3; ++r)
    for (const uint64_t at : {0U, 4096U, 8192U}) EXPECT_FALSE(cache.access(at));
  EXPECT_TRUE(cache.access(8192));
  EXPECT_TRUE(cache.access(4096));
  EXPECT_FALSE(cache.access(0));
}

TEST(Cache, TouchBringsNothingIn) {
  Cache cache(8192, 64, 2);
  EXPECT_FALSE(cache.touch(0));
  EXPECT_FALSE(cache.access(0));
  EXPECT_TRUE(cache.touch(63));
  Cache none(0, 64, 2);
  EXPECT_FALSE(none.access(0));
  EXPECT_FALSE(none.access(0));
}

// Against lists of lines in the order of their use.
TEST(Cache, IsLeastRecentlyUsed) {
  RandomStream random(1);
  Cache cache(4096, 64, 4);
  std::map<uint64_t, std::list<uint64_t>> sets;
  for (unsigned n = 0; n < 20000; ++n) {
    const uint64_t at = random.below(16384), number = at / 64;
    std::list<uint64_t>& set = sets[number % cache.sets()];
    const auto found = std::ranges::find(set, number);
    ASSERT_EQ(cache.access(at), found != set.end()) << n;
    if (found != set.end()) set.erase(found);
    set.push_front(number);
    if (set.size() > 4) set.pop_back();
  }
}

} // namespace
} // namespace asmevo::timing
