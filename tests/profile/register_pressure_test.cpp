// Live registers by place, and the steps of occupancy.
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using testing::lines;
using testing::ReadKernel;

TEST(RegisterPressure, IsWhatLivenessSays) {
  const ReadKernel k("v_mov_b32 v1, v0\nv_mov_b32 v2, v0\nv_mov_b32 v3, v0\nv_add_u32 v4, v1, v2\n"
                     "v_add_u32 v4, v4, v3\nglobal_store_dword v0, v4, s[0:1]");
  const RegisterPressure p = register_pressure(*k.code);
  ASSERT_EQ(p.points.size(), 7U);
  for (const PressurePoint& point : p.points) {
    unsigned vgprs = 0;
    k.code->liveness().before(point.at).for_each([&](isa::RegUnit u) { vgprs += isa::is_vgpr(u) ? 1 : 0; });
    EXPECT_EQ(point.vgprs, vgprs) << k.code->id(point.at);
  }
  EXPECT_EQ(p.most.at, k.entry(3));
  EXPECT_EQ(p.most.vectors(), 4U); // v0 to v3
  EXPECT_EQ(p.most.sgprs, 2U);
  EXPECT_EQ(p.most_in(k.entry(0), k.entry(1)), 1U);
}

TEST(RegisterPressure, StepsOfOccupancy) {
  const auto of = [](unsigned vgprs) {
    return register_pressure(*ReadKernel("v_mov_b32 v1, v0", vgprs).code);
  };
  const RegisterPressure full = of(64);
  EXPECT_EQ(full.waves, 8U);
  EXPECT_EQ(full.to_save, 0U);
  EXPECT_EQ(full.room, 0U);
  const RegisterPressure half = of(128);
  EXPECT_EQ(half.waves, 4U);
  EXPECT_EQ(half.next_budget, 96U); // 512 / 5 is 102, in granules of 8
  EXPECT_EQ(half.to_save, 32U);
  EXPECT_TRUE(half.next_is_renaming());
  const RegisterPressure more = of(104);
  EXPECT_EQ(more.waves, 4U);
  EXPECT_EQ(more.room, 24U);
}

TEST(RegisterPressure, LiveValuesCannotBeRenamedAway) {
  const ReadKernel k(lines(100, "v_mov_b32 v#, s#") + lines(100, "global_store_dword v0, v#, s[0:1]"), 128);
  const RegisterPressure p = register_pressure(*k.code);
  EXPECT_EQ(p.most.vectors(), 100U);
  EXPECT_FALSE(p.next_is_renaming());
}

} // namespace
} // namespace asmevo::profile
