#include "base/random.h"
#include "rewritten.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RuleBench;

const emulator::KernelOptions with_lds = [] {
  emulator::KernelOptions o;
  o.lds_bytes = 4096;
  return o;
}();

// The kernel's text with every wait placed anew; "" where nothing changes.
std::string rewritten(std::string_view body, const emulator::KernelOptions& o = {}) {
  const RuleBench bench(body, o);
  const auto proposals = bench.proposals(propose_waits);
  if (proposals.empty()) return "";
  const Bytes object = bench.with(proposals.front());
  EXPECT_EQ(bench.findings(object), "");
  return RuleBench::text(object);
}

constexpr std::string_view address = "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32_e32 v0, 2, v0\n"
                                     "s_waitcnt lgkmcnt(0)\ns_mov_b32 s5, s2\n";

std::string with_address(std::string_view body) {
  return std::string(address) + std::string(body);
}

TEST(Waits, NoMoreThanTheFirstUseNeeds) {
  const std::string text = rewritten(with_address("global_load_dword v1, v0, s[2:3]\n"
                                                  "global_load_dword v2, v0, s[2:3] offset:256\n"
                                                  "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                                  "v_add_f32_e32 v7, v0, v0\n"
                                                  "v_mul_f32_e32 v1, v1, v7\n"
                                                  "v_mul_f32_e32 v2, v2, v7\n"
                                                  "v_add_f32_e32 v1, v1, v2\n"
                                                  "global_store_dword v0, v1, s[2:3]\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v7, v0, v0\n"
                              "s_waitcnt vmcnt(1)\n"
                              "v_mul_f32_e32 v1, v1, v7\n"
                              "s_waitcnt vmcnt(0)\n"
                              "v_mul_f32_e32 v2, v2, v7\n"));
}

TEST(Waits, AcrossABranchToWhereTheResultIsUsed) {
  const std::string text = rewritten(with_address("global_load_dword v1, v0, s[2:3]\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "s_cmp_eq_u32 s4, 0\n"
                                                  "s_cbranch_scc1 skip\n"
                                                  "v_add_f32_e32 v7, v0, v0\n"
                                                  "skip:\n"
                                                  "v_add_f32_e32 v2, v0, v0\n"
                                                  "global_store_dword v0, v1, s[2:3]\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v2, v0, v0\ns_waitcnt vmcnt(0)\nglobal_store_dword"));
  EXPECT_THAT(text, Not(HasSubstr("s_waitcnt vmcnt(0)\ns_cmp_eq_u32")));
}

TEST(Waits, WhatNothingNeedsGoes) {
  const std::string text = rewritten(with_address("global_store_dword v0, v0, s[2:3]\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, Not(HasSubstr("vmcnt")));
}

TEST(Waits, AnNopTakesThePlaceOfAWaitThatKeptTheDistance) {
  const std::string text =
      rewritten(with_address("global_store_dword v0, v0, s[2:3]\n"
                             "v_add_f32_e32 v2, v0, v0\n"
                             "v_mov_b32_e32 v3, v0\n"
                             "s_waitcnt vmcnt(0)\n"
                             "v_add_f32_dpp v2, v2, v2 row_shr:1 row_mask:0xf bank_mask:0xf\n"
                             "global_store_dword v0, v2, s[2:3]\n"
                             "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_mov_b32_e32 v3, v0\ns_nop 0\nv_add_f32_dpp"));
}

TEST(Waits, LoadsBeforeALoopAreWaitedForBeforeIt) {
  const std::string text = rewritten(with_address("global_load_dword v1, v0, s[2:3]\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "v_add_f32_e32 v3, v0, v0\n"
                                                  "s_movk_i32 s4, 4\n"
                                                  "again:\n"
                                                  "global_load_dword v2, v0, s[2:3]\n"
                                                  "v_add_f32_e32 v3, v3, v1\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "v_add_f32_e32 v3, v3, v2\n"
                                                  "s_sub_i32 s4, s4, 1\n"
                                                  "s_cmp_lg_u32 s4, 0\n"
                                                  "s_cbranch_scc1 again\n"
                                                  "global_store_dword v0, v3, s[2:3]\n"
                                                  "s_endpgm\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v3, v0, v0\ns_waitcnt vmcnt(0)\ns_movk_i32 s4, 0x4\n"));
  EXPECT_THAT(text, HasSubstr("v_add_f32_e32 v3, v3, v1\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v3, v3, v2\n"));
}

// --- where it must not

std::string unchanged(std::string_view middle) {
  return rewritten(with_address(middle), with_lds);
}

TEST(Waits, StoresAreCompleteAtABarrier) {
  EXPECT_THAT(unchanged("ds_write_b32 v0, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v1, v0 offset:4\n"
                        "s_waitcnt lgkmcnt(0)\nglobal_store_dword v0, v1, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, WhatCameBeforeAnAtomicIsComplete) {
  EXPECT_THAT(unchanged("global_store_dword v0, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "global_atomic_add v0, v0, s[2:3] offset:512\ns_endpgm\n"),
              IsEmpty());
  EXPECT_THAT(unchanged("global_store_dword v0, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "global_store_dword v0, v0, s[2:3] offset:512 sc0 sc1\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, ScalarLoadsSeeWhatWasStored) {
  EXPECT_THAT(unchanged("global_store_dword v0, v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "s_load_dword s4, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v1, s4\n"
                        "global_store_dword v0, v1, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, LdsThatLoadsFillIsNotReadBefore) {
  EXPECT_THAT(unchanged("s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v0, s[2:3]\ns_waitcnt vmcnt(0)\n"
                        "ds_read_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n"
                        "global_store_dword v0, v1, s[2:3]\ns_endpgm\n"),
              IsEmpty());
}

TEST(Waits, CodeThatIndexesRegistersIsLeftAlone) {
  EXPECT_THAT(
      unchanged("global_load_dword v1, v0, s[2:3]\ns_waitcnt vmcnt(0)\ns_set_gpr_idx_on s4, gpr_idx(SRC0)\n"
                "v_mov_b32_e32 v3, v1\ns_set_gpr_idx_off\nv_mov_b32_e32 v5, v1\n"
                "global_store_dword v0, v3, s[2:3]\ns_endpgm\n"),
      IsEmpty());
}

// --- random code

// Loads, LDS, arithmetic and waits in any order; waits that are needed are there, and others.
std::string random_body(RandomStream& random) {
  std::string body = std::string(address) + "v_mov_b32_e32 v20, v0\n";
  for (unsigned n = 1; n < 10; ++n) body += fmt::format("v_mov_b32_e32 v{}, {}\n", n, n);
  const auto any = [&] { return 1 + random.below(9); };
  for (unsigned n = 0; n < 40; ++n) {
    switch (random.below(7)) {
    case 0:
    case 1:
      body += fmt::format("global_load_dword v{}, v20, s[2:3] offset:{}\n", any(), 256 * random.below(8));
      break;
    case 2: body += fmt::format("ds_write_b32 v20, v{}\ns_waitcnt lgkmcnt(0)\n", any()); break;
    case 3: body += fmt::format("ds_read_b32 v{}, v20\n", any()); break;
    case 4: body += "s_waitcnt vmcnt(0)\n"; break;
    default: break;
    }
    if (random.below(3) == 0)
      body +=
          fmt::format("s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32_e32 v{}, v{}, v{}\n", any(), any(), any());
    else
      body += "v_add_u32_e32 v21, v20, v20\n";
  }
  body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  for (unsigned n = 1; n < 10; ++n)
    body += fmt::format("global_store_dword v20, v{}, s[2:3] offset:{}\n", n, 256 * (n + 6));
  return body + "s_endpgm\n";
}

// A write to a register whose load is in flight would be a mistake of the sample: all reads and writes are
// behind complete waits, or in order.
TEST(Waits, RandomCodeLeavesTheSame) {
  RandomStream random(1);
  std::vector<uint32_t> start(2048);
  for (uint32_t& w : start) w = static_cast<uint32_t>(random.next());
  unsigned changed = 0;
  for (unsigned n = 0; n < 12; ++n) {
    const std::string body = random_body(random);
    const RuleBench bench(body, with_lds);
    const Bytes k0 = emulator::assemble_kernel(body, with_lds);
    const auto proposals = bench.proposals(propose_waits);
    for (size_t p = 0; p < std::min<size_t>(proposals.size(), 6); ++p) {
      const Bytes object = bench.with(proposals[p]);
      EXPECT_EQ(bench.findings(object), "") << RuleBench::text(object);
      EXPECT_EQ(testing::run(object, 4352, start), testing::run(k0, 4352, start)) << RuleBench::text(object);
      ++changed;
    }
  }
  EXPECT_GT(changed, 12U);
}

} // namespace
} // namespace asmevo::search
