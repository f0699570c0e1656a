// The rules priority and short-branches.
#include "random_code.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RuleBench;
using testing::with_address;

std::string first(testing::Propose propose, std::string_view body) {
  const RuleBench bench(with_address(body));
  const auto proposals = bench.proposals(propose);
  if (proposals.empty()) return "";
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
  return RuleBench::text(object);
}

std::string loop_of(size_t matrix) {
  std::string body = "s_movk_i32 s4, 4\nagain:\nglobal_load_dword v31, v0, s[2:3]\n";
  for (size_t n = 0; n < matrix; ++n)
    body += "v_mfma_f32_4x4x4_16b_f16 v[4:7], v[8:9], v[10:11], v[4:7]\ns_nop 1\n";
  return body + "s_sub_i32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 again\ns_endpgm\n";
}

TEST(Priority, AroundMatrixInstructionsOfALoop) {
  const std::string text = first(propose_priorities, loop_of(4));
  EXPECT_THAT(text, HasSubstr("s_setprio 1\nv_mfma"));
  EXPECT_THAT(text, HasSubstr("v[4:7]\ns_setprio 0\n"));
}

TEST(Priority, NotForAFewNorWhereThereAreSome) {
  EXPECT_THAT(first(propose_priorities, loop_of(3)), IsEmpty());
  EXPECT_THAT(first(propose_priorities, "s_setprio 1\n" + loop_of(8)), IsEmpty());
}

std::string around(const std::string& skipped) {
  return "v_mov_b32_e32 v1, 1\nv_cmp_gt_u32_e32 vcc, 8, v0\ns_and_saveexec_b64 s[6:7], vcc\ns_cbranch_execz "
         "skip\n" +
         skipped + "skip:\ns_or_b64 exec, exec, s[6:7]\nglobal_store_dword v0, v1, s[2:3]\ns_endpgm\n";
}

TEST(ShortBranches, GoWhereNothingIsDoneWithoutLanes) {
  const std::string text = first(propose_short_branches, around("v_add_u32_e32 v1, v0, v1\n"));
  EXPECT_THAT(text, HasSubstr("s_and_saveexec_b64 s[6:7], vcc\nv_add_u32_e32 v1, v0, v1\ns_or_b64"));
}

TEST(ShortBranches, StayOtherwise) {
  for (const std::string skipped :
       {"v_readfirstlane_b32 s8, v1\n", "v_cmp_eq_u32_e32 vcc, 1, v0\n",
        "global_store_dword v0, v0, s[2:3]\n", "s_mov_b32 s8, 1\n",
        "v_add_u32_e32 v1, v0, v1\nv_add_u32_e32 v1, v0, v1\nv_add_u32_e32 v1, v0, v1\n"
        "v_add_u32_e32 v1, v0, v1\nv_add_u32_e32 v1, v0, v1\n"})
    EXPECT_THAT(first(propose_short_branches, around(skipped)), IsEmpty()) << skipped;
}

TEST(ShortBranches, TheSameIsLeft) {
  const std::string body = with_address(around("v_add_u32_e32 v1, v0, v1\n"));
  const RuleBench bench(body);
  const Bytes object = bench.with(bench.proposals(propose_short_branches).front());
  EXPECT_EQ(testing::run(object, 64, {}), testing::run(emulator::assemble_kernel(body), 64, {}));
}

} // namespace
} // namespace asmevo::search
