// The rule batched-loads, and with it masked stretches and the renaming of webs.
#include "full_run.h"
#include "random_code.h"
#include "search/rules/value_webs.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RuleBench;
using testing::with_address;
using testing::with_lds;

std::string batched(std::string_view body) {
  const RuleBench bench(body, with_lds);
  const auto proposals = bench.proposals(propose_batched_loads);
  if (proposals.empty()) return "";
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
  const std::vector<uint32_t> start(512, 7);
  EXPECT_EQ(testing::run(object, 512, start),
            testing::run(emulator::assemble_kernel(body, with_lds), 512, start));
  return RuleBench::text(object);
}

// One copy of a loop that fetches a tile: load where there is something, else 0, and on to LDS.
std::string copy(unsigned n, const std::string& between = "") {
  return fmt::format("v_add_u32_e32 v2, {0}, v0\nv_cmp_gt_u32_e32 vcc, {1}, v2\nv_mov_b32_e32 v1, 0\n"
                     "s_and_saveexec_b64 s[6:7], vcc\ns_cbranch_execz skip{0}\n"
                     "v_lshlrev_b32_e32 v3, 1, v2\nglobal_load_dword v1, v3, s[2:3]\nskip{0}:\n"
                     "s_or_b64 exec, exec, s[6:7]\n{2}v_add_u32_e32 v2, v0, v2\ns_waitcnt vmcnt(0)\n"
                     "ds_write_b32 v2, v1\n",
                     n, n + 40, between);
}
const std::string end = "s_waitcnt lgkmcnt(0)\nds_read_b32 v4, v0\ns_waitcnt lgkmcnt(0)\n"
                        "global_store_dword v0, v4, s[2:3]\ns_endpgm\n";

TEST(BatchedLoads, BothAreOnTheirWayBeforeTheFirstIsWaitedFor) {
  const std::string text = batched(with_address(copy(1) + copy(2) + end));
  EXPECT_THAT(text, ContainsRegex("global_load_dword[^\n]*\n(.*\n)*.*global_load_dword[^\n]*\n(.*\n)*"
                                  "s_waitcnt vmcnt\\(1\\)\nds_write(.*\n)*s_waitcnt vmcnt\\(0\\)\nds_write"));
  EXPECT_EQ(text.find("s_cbranch"), std::string::npos);
}

TEST(BatchedLoads, ThreeAreOnTheirWay) {
  EXPECT_THAT(batched(with_address(copy(1) + copy(2) + copy(3) + end)),
              HasSubstr("s_waitcnt vmcnt(2)\nds_write"));
}

// A store that the next load may read of, and what cannot be without its branch.
TEST(BatchedLoads, NotPastAStoreABarrierOrAScalarUnderTheCondition) {
  EXPECT_THAT(batched(with_address(copy(1, "s_barrier\n") + copy(2) + end)), IsEmpty());
  const std::string store = "global_store_dword v0, v2, s[2:3]\n";
  const std::string text = batched(with_address(copy(1, store) + copy(2) + end));
  EXPECT_LT(text.find("global_store_dword"), text.rfind("global_load_dword")) << text;
  std::string scalar = copy(1) + copy(2) + "v_mov_b32_e32 v9, s8\n" + end;
  for (size_t at = 0; (at = scalar.find("v_lshlrev_b32_e32 v3", at)) != std::string::npos; at += 40)
    scalar.insert(at, "s_mov_b32 s8, 5\n");
  EXPECT_THAT(batched(with_address("s_mov_b32 s8, 0\n" + scalar)), IsEmpty());
}

// What waits behind the stretch count stays in its order: two loads, of which the first is waited for.
TEST(BatchedLoads, WhatIsInFlightAtTheEndKeepsItsOrder) {
  const std::string text =
      batched(with_address(copy(1) + copy(2) +
                           "global_load_dword v5, v0, s[2:3]\n"
                           "global_load_dword v6, v0, s[2:3] offset:4\ns_branch next\nnext:\n"
                           "s_waitcnt vmcnt(1)\nv_mov_b32_e32 v4, v5\ns_waitcnt vmcnt(0)\n"
                           "global_store_dword v0, v4, s[2:3]\ns_endpgm\n"));
  ASSERT_THAT(text, HasSubstr("global_load_dword v5"));
  EXPECT_LT(text.find("global_load_dword v5"), text.find("global_load_dword v6"));
}

// SCC is set under way and read behind: it is still the one.
TEST(BatchedLoads, TheLastSccIsTheOneThatIsRead) {
  const std::string text =
      batched(with_address("s_movk_i32 s9, 1\nagain:\n" + copy(1) + copy(2) +
                           "s_sub_i32 s9, s9, 1\ns_cmp_lg_i32 s9, 0\ns_cbranch_scc1 again\n" + end));
  ASSERT_THAT(text, HasSubstr("s_cmp_lg_i32"));
  EXPECT_GT(text.find("s_cmp_lg_i32"), text.rfind("s_and_b64"));
  EXPECT_LT(text.find("s_and_b64"), text.size());
}

// What looks like the usual pattern: a pair that is saved to twice, and a condition that is EXEC itself.
TEST(BatchedLoads, MasksThatAreNotWhatTheySeem) {
  const std::string twice =
      "v_cmp_gt_u32_e64 s[20:21], 60, v0\nv_cmp_gt_u32_e64 s[22:23], 40, v0\ns_and_saveexec_b64 s[6:7], "
      "s[20:21]\n"
      "global_load_dword v1, v0, s[2:3]\ns_and_saveexec_b64 s[6:7], s[22:23]\nglobal_load_dword v2, v0, "
      "s[2:3]\n"
      "s_or_b64 exec, exec, s[6:7]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v1, 1, v1\n"
      "s_or_b64 exec, exec, s[6:7]\nglobal_load_dword v3, v0, s[2:3] offset:4\ns_waitcnt vmcnt(0)\n"
      "v_add_u32_e32 v1, v1, v3\nglobal_store_dword v0, v1, s[2:3]\ns_endpgm\n";
  batched(with_address("v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0\n" + twice));
  std::string itself = copy(1) + copy(2) + end;
  itself.insert(itself.find("v_lshlrev_b32_e32 v3"), "s_and_saveexec_b64 s[8:9], exec\n");
  itself.insert(itself.find("skip1:"), "s_or_b64 exec, exec, s[8:9]\n");
  batched(with_address(itself));
}

// A load that nobody waits for arrives some time, in the register that it names.
TEST(BatchedLoads, ADeadLoadInFlightKeepsItsRegister) {
  const std::string text = batched(with_address(copy(1) + copy(2) +
                                                "ds_write_b32 v0, v1 offset:8\n"
                                                "global_load_dword v1, v0, s[2:3]\ns_branch next\nnext:\n"
                                                "v_mov_b32_e32 v7, 4\nv_mov_b32_e32 v8, 4\n" +
                                                end));
  EXPECT_THAT(text, HasSubstr("global_load_dword v1, v0, s[2:3]\n"));
}

// Loads, arithmetic and stores under conditions of all sorts, with few registers.
std::string random_masked_code(RandomStream& random) {
  std::string body = with_address("s_mov_b32 s9, 0\nv_mov_b32_e32 v20, v0\n");
  for (unsigned n = 1; n < 10; ++n) body += fmt::format("v_mul_u32_u24_e32 v{}, {}, v0\n", n, 3 * n + 1);
  const auto any = [&] { return 1 + random.below(9); };
  const auto one_of = [&](std::initializer_list<const char*> list) {
    return *(list.begin() + random.below(list.size()));
  };
  const auto arithmetic = [&] {
    switch (random.below(6)) {
    case 0: return fmt::format("v_add_u32_e32 v{}, v{}, v{}\n", any(), any(), any());
    case 1: return fmt::format("v_xor_b32_e32 v{}, v{}, v{}\n", any(), any(), any());
    case 2: return fmt::format("v_mad_u64_u32 v[{}:{}], s[16:17], v{}, v{}, v[4:5]\n", 2, 3, any(), any());
    case 3: return fmt::format("v_mov_b64_e32 v[{}:{}], v[{}:{}]\n", 4, 5, 6, 7);
    case 4: return fmt::format("v_lshrrev_b16_e32 v{}, 3, v{}\n", any(), any());
    default:
      return fmt::format("v_mov_b32_sdwa v{}, v{} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n",
                         any(), any());
    }
  };
  const auto load = [&] {
    return fmt::format(
        "v_and_b32_e32 v10, 0x{:x}, v{}\nv_and_b32_e32 v10, -4, v10\nglobal_load_dword v{}, v10, s[2:3]\n",
        0x7ff, any(), any());
  };
  const std::string all = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  // Some kernels have all but the first and last copies under a condition of its own, which narrows on the
  // way.
  const bool nested = random.below(2) == 0;
  for (unsigned n = 0; n < 9; ++n) {
    if (nested && n == 2)
      body +=
          all +
          "v_cmp_ne_u32_e64 s[18:19], 36, v20\ns_and_saveexec_b64 s[20:21], s[18:19]\ns_cbranch_execz out\n";
    else if (nested && n > 2 && n < 7 && random.below(2) == 0)
      body += fmt::format(
          "v_cmp_gt_u32_e64 s[22:23], {}, v20\ns_and_b64 exec, exec, s[22:23]\ns_cbranch_execz out\n",
          64 - 6 * n);
    else if (nested && n == 7)
      body += all + "out:\ns_or_b64 exec, exec, s[20:21]\n" + all;
    const std::string mask = one_of({"vcc", "s[10:11]", "s[12:13]"});
    body += all;
    for (unsigned k = random.below(4); k > 0; --k) body += arithmetic();
    body += fmt::format("v_cmp_gt_u32_{} {}, v{}, v{}\n", mask == "vcc" ? "e32" : "e64", mask, any(), any());
    if (random.below(3) == 0)
      body += fmt::format("s_and_b64 {0}, {0}, {1}\n", mask, one_of({"vcc", "s[12:13]"}));
    if (random.below(3) == 0) body += fmt::format("s_add_u32 s9, s9, {}\ns_addc_u32 s8, s9, 0\n", n);
    if (random.below(2) == 0) body += fmt::format("v_mov_b32_e32 v{}, {}\n", any(), n);
    const bool branch = random.below(2) == 0;
    body += fmt::format("s_and_saveexec_b64 s[14:15], {}\n", mask);
    if (branch) body += fmt::format("s_cbranch_execz skip{}\n", n);
    for (unsigned k = random.below(3); k > 0; --k) body += arithmetic();
    const bool inner = random.below(4) == 0;
    if (inner)
      body += fmt::format(
          "v_cmp_lt_u32_e64 s[24:25], {}, v{}\ns_and_saveexec_b64 s[26:27], s[24:25]\ns_cbranch_execz "
          "inner{}\n",
          n, any(), n);
    if (random.below(4) != 0) body += load();
    if (inner) body += fmt::format("inner{}:\ns_or_b64 exec, exec, s[26:27]\n", n);
    if (random.below(5) == 0) body += all + fmt::format("global_store_dword v20, v{}, s[2:3]\n", any());
    if (branch) body += fmt::format("skip{}:\n", n);
    body += "s_or_b64 exec, exec, s[14:15]\n";
    switch (
        random.below(10)) { // whether there are lanes; what is left of the mask; an exchange between lanes
    case 0: body += "s_cselect_b32 s28, 5, 6\nv_xor_b32_e32 v1, s28, v1\n"; break;
    case 1: body += "s_mov_b32 s14, 5\nv_xor_b32_e32 v2, s15, v2\n"; break;
    case 2: body += fmt::format("ds_bpermute_b32 v{}, v20, v{}\n", any(), any()); break;
    case 3: body += fmt::format("global_load_dword v{}, v20, s[2:3]\n", any()); break;
    default: break;
    }
    switch (random.below(4)) {
    case 0: body += all + fmt::format("ds_write_b32 v20, v{} offset:{}\n", any(), 4 * n); break;
    case 1: body += all + fmt::format("v_add_u32_e32 v{}, v{}, v{}\n", any(), any(), any()); break;
    case 2: body += load() + all + fmt::format("v_add_u32_e32 v1, s9, v{}\n", any()); break;
    default: break;
    }
  }
  body += all + "ds_read_b32 v11, v20 offset:4\n" + all;
  for (unsigned n = 1; n < 12; ++n)
    if (n != 10) body += fmt::format("global_store_dword v20, v{}, s[2:3] offset:{}\n", n, 256 * (n + 4));
  return "s_mov_b64 s[10:11], 0\ns_mov_b64 s[12:13], -1\ns_mov_b32 s8, 0\n" + body +
         "v_mov_b32_e32 v1, s8\nglobal_store_dword v20, v1, s[2:3] offset:256\ns_endpgm\n";
}

TEST(BatchedLoads, RandomCodeLeavesTheSame) {
  const unsigned kernels = test::full_run() ? 2000 : 60;
  EXPECT_GT(testing::check_random_code(propose_batched_loads, kernels, random_masked_code), kernels / 2);
}

} // namespace
} // namespace asmevo::search
