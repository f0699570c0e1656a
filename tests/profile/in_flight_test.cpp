// What waits wait for.
#include "profile/in_flight.h"
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ReadKernel;

// Numbers of entries from the start, youngest first.
std::vector<program::Index> numbers(const ReadKernel& k, const std::vector<program::Index>& list) {
  std::vector<program::Index> result;
  for (const program::Index i : list) result.push_back(i - k.entry(0));
  return result;
}

TEST(InFlight, CountedWaits) {
  const ReadKernel k("global_load_dword v1, v0, s[0:1]\n"  // 0
                     "global_load_dword v2, v0, s[0:1]\n"  // 1
                     "global_store_dword v0, v0, s[0:1]\n" // 2
                     "s_waitcnt vmcnt(1)\n"                // 3
                     "global_load_dword v3, v0, s[0:1]\n"  // 4
                     "s_waitcnt vmcnt(0)");                // 5
  EXPECT_THAT(numbers(k, awaited_by(*k.path, k.entry(3)).vector), ElementsAre(1, 0));
  EXPECT_THAT(numbers(k, awaited_by(*k.path, k.entry(5)).vector), ElementsAre(4, 2));
  EXPECT_THAT(numbers(k, in_flight_before(*k.path, k.entry(3)).vector), ElementsAre(2, 1, 0));
  EXPECT_TRUE(awaited_by(*k.path, k.entry(4)).empty()) << "no wait";
  EXPECT_TRUE(awaited_by(*k.path, k.entry(6)).empty()) << "the end: nothing is left";
}

TEST(InFlight, TheEndWaitsForStores) {
  const ReadKernel k("global_store_dword v0, v0, s[0:1]");
  EXPECT_THAT(numbers(k, awaited_by(*k.path, k.entry(1)).vector), ElementsAre(0));
}

TEST(InFlight, LdsAndScalarShareACounter) {
  const ReadKernel k("s_load_dword s4, s[0:1], 0x0\n" // 0
                     "ds_read_b32 v1, v0\n"           // 1
                     "ds_read_b32 v2, v0\n"           // 2
                     "s_waitcnt lgkmcnt(1)\n"         // 3
                     "s_waitcnt lgkmcnt(0)");         // 4
  const InFlight one = awaited_by(*k.path, k.entry(3)), none = awaited_by(*k.path, k.entry(4));
  EXPECT_THAT(numbers(k, one.lds), ElementsAre(1));
  EXPECT_THAT(one.scalar, IsEmpty()) << "scalar loads come back in any order: one left proves nothing";
  EXPECT_THAT(numbers(k, none.lds), ElementsAre(2));
  EXPECT_THAT(numbers(k, none.scalar), ElementsAre(0));
}

// The load of the turn before.
TEST(InFlight, AroundALoop) {
  ReadKernel k("s_nop 0\n"
               "round:\n"
               "s_waitcnt vmcnt(0)\n"               // 1
               "v_add_u32 v2, v2, v1\n"             // 2
               "global_load_dword v1, v0, s[0:1]\n" // 3
               "s_sub_u32 s20, s20, 1\n"
               "s_cmp_lg_u32 s20, 0\n"
               "s_cbranch_scc1 round");
  k.set(0, {.address = 0, .issues = 1, .busy = 4});
  for (unsigned n = 1; n < 7; ++n) k.set(n, {.address = 0, .issues = 10, .busy = 40});
  k.read_profile();
  EXPECT_THAT(numbers(k, awaited_by(*k.path, k.entry(1)).vector), ElementsAre(3));
}

// A load that nearly every wave does, behind a branch that the others take over it.
TEST(InFlight, TheWayMostTake) {
  ReadKernel k("s_cbranch_execz over\n"             // 0
               "global_load_dword v1, v0, s[0:1]\n" // 1
               "over:\n"
               "s_waitcnt vmcnt(0)"); // 2
  const auto with = [&](double loads) {
    k.profile.instructions.clear();
    k.set(0, {.address = 0, .issues = 100, .busy = 400});
    k.set(1, {.address = 0, .issues = loads, .busy = 4 * loads});
    k.set(2, {.address = 0, .issues = 100, .busy = 400});
    k.read_profile();
    return awaited_by(*k.path, k.entry(2)).vector.size();
  };
  EXPECT_EQ(with(90), 1U);
  EXPECT_EQ(with(10), 0U);
}

TEST(InFlight, ProducersAreTheNearestWriters) {
  const ReadKernel k("v_mov_b32 v1, 1\nv_mov_b32 v2, 2\nv_mov_b32 v1, 3\nv_add_u32 v3, v1, v2");
  std::vector<program::Index> from;
  for (const Producer& p : producers_of(*k.path, k.entry(3))) from.push_back(p.at);
  EXPECT_THAT(numbers(k, from), ElementsAre(2, 1));
}

} // namespace
} // namespace asmevo::profile
