// Random straight-line code, and what rules make of it: the same registers and memory must be left, and the
// static check must find nothing new.
#pragma once

#include "base/random.h"
#include "rewritten.h"

namespace asmevo::search::testing {

inline const emulator::KernelOptions with_lds = [] {
  emulator::KernelOptions o;
  o.lds_bytes = 4096;
  return o;
}();

/// s[2:3]: the buffer; v0: the lane's word in it.
inline std::string with_address(std::string_view body) {
  return "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32_e32 v0, 2, v0\n"
         "s_waitcnt lgkmcnt(0)\ns_mov_b32 s5, s2\n" +
         std::string(body);
}

/// Loads, LDS, arithmetic of all sorts and waits in any order: v1 to v9 are loaded, computed and left in the
/// buffer. Some waits are there that nothing needs, and some come too early.
inline std::string random_code(RandomStream& random) {
  std::string body = with_address("v_mov_b32_e32 v20, v0\nv_lshlrev_b32_e32 v22, 2, v0\n");
  for (unsigned n = 1; n < 10; ++n) body += fmt::format("v_mov_b32_e32 v{}, {}\n", n, n);
  const auto any = [&] { return 1 + random.below(9); };
  const std::string all = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  for (unsigned n = 0; n < 40; ++n) {
    switch (random.below(12)) {
    case 0:
      body += fmt::format("global_load_dword v{}, v20, s[2:3] offset:{}\n", any(), 256 * random.below(8));
      break;
    case 1: {
      const auto first = 1 + random.below(6), offset = 4 * random.below(64);
      body += fmt::format("global_load_dword v{}, v22, s[2:3] offset:{}\n", first, offset);
      body += fmt::format("global_load_dword v{}, v22, s[2:3] offset:{}\n", first + 1, offset + 4);
      break;
    }
    case 2: body += fmt::format("{}ds_write_b32 v20, v{}\n", all, any()); break;
    case 3: {
      const auto offset = 4 * random.below(64);
      body += fmt::format("ds_read_b32 v{}, v20 offset:{}\n", any(), offset);
      body += fmt::format("ds_read_b32 v{}, v20 offset:{}\n", any(), offset + 4 * random.below(3));
      break;
    }
    case 4: body += "s_waitcnt vmcnt(0)\n"; break;
    case 5: body += fmt::format("{}v_exp_f32_e32 v{}, v{}\ns_nop 3\n", all, any(), any()); break;
    case 6:
      body += fmt::format("{}v_cmp_gt_u32_e32 vcc, v{}, v{}\ns_nop 1\nv_cndmask_b32_e32 v{}, v{}, v{}, vcc\n",
                          all, any(), any(), any(), any(), any());
      break;
    case 7:
      body += fmt::format("{}v_add_u32_e32 v9, v9, v1\ns_nop 1\nv_mov_b32_dpp v{}, v9 row_shr:1 row_mask:0xf "
                          "bank_mask:0xf\n",
                          all, any());
      break;
    case 8:
      body +=
          fmt::format("{}global_store_dword v20, v{}, s[2:3] offset:{}\n", all, any(), 256 * random.below(8));
      break;
    case 9:
      body += fmt::format("s_add_u32 s6, s6, {}\ns_addc_u32 s7, s6, 0\nv_add_u32_e32 v21, s7, v21\n", n);
      break;
    case 10:
      body += fmt::format("{}v_readfirstlane_b32 s8, v{}\nv_mov_b32_e32 v{}, s8\n", all, any(), any());
      break;
    default: break;
    }
    if (random.below(4) == 0)
      body += fmt::format("{}v_add_u32_e32 v{}, v{}, v{}\n", all, any(), any(), any());
    else
      body += "v_add_u32_e32 v21, v20, v20\n";
  }
  body += all;
  for (unsigned n = 1; n < 10; ++n)
    body += fmt::format("global_store_dword v20, v{}, s[2:3] offset:{}\n", n, 256 * (n + 6));
  return "s_mov_b32 s6, 0\nv_mov_b32_e32 v21, 0\n" + body + "s_endpgm\n";
}

/// Every proposal of a rule for some such kernels; how many there were.
inline unsigned check_random_code(Propose propose, unsigned kernels,
                                  std::string (*make)(RandomStream&) = random_code) {
  RandomStream random(1);
  constexpr size_t words = 4352, most_proposals = 6;
  std::vector<uint32_t> start(2048);
  for (uint32_t& w : start) w = static_cast<uint32_t>(random.next());
  unsigned checked = 0;
  for (unsigned n = 0; n < kernels; ++n) {
    const std::string body = make(random);
    const RuleBench bench(body, with_lds);
    const auto should = run(emulator::assemble_kernel(body, with_lds), words, start);
    const auto proposals = bench.proposals(propose);
    for (size_t p = 0; p < std::min(proposals.size(), most_proposals); ++p) {
      const Bytes object = bench.with(proposals[p]);
      EXPECT_EQ(bench.findings(object), "") << body << "became\n" << RuleBench::text(object);
      EXPECT_EQ(run(object, words, start), should) << body << "became\n" << RuleBench::text(object);
      ++checked;
    }
  }
  return checked;
}

} // namespace asmevo::search::testing
