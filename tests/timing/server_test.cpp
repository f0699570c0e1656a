// When a unit serves requests that come in any order.
#include "base/random.h"
#include "timing/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace asmevo::timing {
namespace {

TEST(Server, ServesAtOnceWhenItIsFree) {
  Server server;
  EXPECT_EQ(server.serve(1000, 4), 1000);
  EXPECT_EQ(server.serve(5000, 4), 5000);
  EXPECT_EQ(server.busy_until(), 5004);
}

TEST(Server, ARequestForLaterDoesNotHoldBackOneForEarlier) {
  Server server;
  EXPECT_EQ(server.serve(10'000, 4), 10'000);
  EXPECT_EQ(server.serve(1000, 4), 1000);
}

TEST(Server, QueuesWhatComesTogether) {
  Server server;
  for (unsigned n = 0; n < 1000; ++n) EXPECT_NEAR(server.serve(320, 2), 320 + 2.0 * n, 1e-3) << n;
}

// One request longer than a slice takes the slices behind it.
TEST(Server, LongRequestsFillSeveralSlices) {
  Server server;
  EXPECT_EQ(server.serve(0, 100), 0);
  EXPECT_NEAR(server.serve(0, 4), 100, 1e-3);
}

// Whatever the order, no more is served than there is time for, and none before it asks.
TEST(Server, ServesNoMoreThanItCan) {
  RandomStream random(1);
  Server server;
  std::vector<double> served;
  constexpr double busy = 3;
  for (unsigned n = 0; n < 20'000; ++n) {
    const double at = n * 2.0 + static_cast<double>(random.below(4000));
    const double start = server.serve(at, busy);
    EXPECT_GE(start, at);
    served.push_back(start);
  }
  std::ranges::sort(served);
  constexpr size_t window = 100;
  for (size_t n = window; n < served.size(); ++n)
    EXPECT_GE(served[n] - served[n - window], window * busy - 64) << n; // two slices' worth of slack
  EXPECT_LT(served.back(), 20'000 * busy + 5000);
}

// Far behind the horizon all that was is forgotten.
TEST(Server, GoesOnForLong) {
  Server server;
  for (uint64_t n = 0; n < 100'000; ++n) EXPECT_EQ(server.serve(static_cast<double>(n) * 100, 50), n * 100.0);
}

} // namespace
} // namespace asmevo::timing
