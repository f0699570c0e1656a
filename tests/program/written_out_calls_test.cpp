// What calls hide, K0 against candidates.
#include "program/memory_order.h"
#include "program/written_out_calls.h"
#include "program_builder.h"

#include <fmt/format.h>

#include <string>

namespace asmevo::program {
namespace {

using testing::build_program;

// A kernel "f" up to the label "callee", which begins another function if there is one.
Program two_functions(std::string_view text) {
  Program program = build_program(text);
  const auto label = program.find_label("callee");
  if (!label) return program;
  Function callee = program.functions[0];
  callee.name = "callee";
  callee.kernel = false;
  callee.begin = program.labels[*label].at;
  program.functions[0].end = program.functions[0].padding = callee.begin;
  program.functions.push_back(callee);
  return program;
}

std::string mnemonics(const Program& p) {
  std::string text;
  for (const Entry& e : p.entries) text += std::string(e.instruction->base_mnemonic) + " ";
  return text;
}

const std::string address = "s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, callee@rel32@lo+4\n"
                            "s_addc_u32 s21, s21, callee@rel32@hi+12\n",
                  call = address + "s_swappc_b64 s[30:31], s[20:21]\n", back = "s_setpc_b64 s[30:31]\n",
                  end = "s_endpgm\n";

TEST(WrittenOutCalls, WhatIsWrittenOut) {
  const auto written = [](const std::string& text) {
    const Program program = two_functions(text);
    const auto out = write_out_calls(program, program.functions[0]);
    return out ? mnemonics(out->program) : "";
  };
  EXPECT_EQ(written("s_nop 0\ns_endpgm\n"), "");
  EXPECT_EQ(written(call + end + "callee: s_nop 0\n" + back),
            "s_getpc_b64 s_add_u32 s_addc_u32 s_swappc_b64 s_nop s_branch s_endpgm ");
  EXPECT_EQ(written("s_call_b64 s[30:31], sub\ns_endpgm\nsub: s_nop 0\n" + back),
            "s_call_b64 s_nop s_branch s_endpgm s_nop s_setpc_b64 ");
  // Not: of unknown address, back by another register, into itself, without a way back.
  EXPECT_EQ(written("s_swappc_b64 s[30:31], s[20:21]\n" + end), "");
  EXPECT_EQ(written(call + end + "callee: s_nop 0\ns_setpc_b64 s[28:29]\n"), "");
  EXPECT_EQ(written(address + "s_mov_b32 s20, 0\ns_swappc_b64 s[30:31], s[20:21]\n" + end +
                    "callee: s_nop 0\n" + back),
            "");
  EXPECT_EQ(written("sub: s_call_b64 s[30:31], sub\n" + back), "");
}

TEST(WrittenOutCalls, BranchesAndOrigins) {
  const Program program = two_functions("s_cbranch_scc1 over\n" + call + "over: s_endpgm\n" +
                                        "callee: s_cbranch_vccz out\ns_nop 0\nout: " + back);
  const auto out = write_out_calls(program, program.functions[0]);
  ASSERT_TRUE(out);
  const Program& p = out->program;
  EXPECT_EQ(p.branch_target(0), 8U);
  EXPECT_EQ(p.branch_target(5), 7U);
  EXPECT_EQ(p.branch_target(7), 8U);
  EXPECT_EQ(out->origin, (std::vector<Index>{0, 1, 2, 3, 4, 6, 7, 8, 5}));
  const Cfg cfg = Cfg::build(p, p.functions[0]);
  EXPECT_FALSE(cfg.unknown_edges());
  for (const Block& b : cfg.blocks()) EXPECT_TRUE(b.reachable);
}

// Findings of one with calls, or without, against another.
std::string lost_with_calls(const std::string& k0_text, const std::string& text) {
  const Program k0 = two_functions(k0_text), now = two_functions(text);
  const auto a = write_out_calls(k0, k0.functions[0]), b = write_out_calls(now, now.functions[0]);
  const Program &k0_out = a ? a->program : k0, &now_out = b ? b->program : now;
  std::string lines;
  for (const Finding& f : lost_order(k0_out, k0_out.functions[0], now_out, now_out.functions[0]))
    lines += f.object + "\n";
  return lines;
}

TEST(WrittenOutCalls, OrderAcrossCalls) {
  const std::string store = "global_store_dword v0, v1, s[2:3]\n", wb = "buffer_wbl2 sc1\n",
                    wait = "s_waitcnt vmcnt(0)\n", add = "global_atomic_add v2, v0, v1, s[4:5] sc0\n",
                    inv = "buffer_inv sc1\n", publish = wb + wait + add + wait + inv;
  const std::string local = "s_call_b64 s[30:31], sub\n", in_line = store + publish + end;
  const auto calling = [&](const std::string& body) { return store + call + end + "callee: " + body + back; };
  const auto with_sub = [&](const std::string& body) { return store + local + end + "sub: " + body + back; };
  const std::string k0s[] = {calling(publish), with_sub(publish), in_line};
  const std::string no_wait = wb + add + wait + inv, no_back = wait + add + wait + inv;
  for (const std::string& k0 : k0s) {
    for (const std::string& right : k0s) EXPECT_EQ(lost_with_calls(k0, right), "") << k0 << right;
    for (const std::string& body : {no_wait, no_back})
      for (const std::string& wrong : {calling(body), with_sub(body), store + body + end})
        EXPECT_NE(lost_with_calls(k0, wrong), "") << k0 << wrong;
    EXPECT_NE(lost_with_calls(k0, store + end), "");
  }
  // The caller's wait is for the callee's atomic.
  const auto waiting = [&](const std::string& w) {
    return store + wb + w + call + end + "callee: " + add + wait + inv + back;
  };
  EXPECT_EQ(lost_with_calls(waiting(wait), in_line), "");
  EXPECT_NE(lost_with_calls(waiting(wait), waiting("")), "");
}

} // namespace
} // namespace asmevo::program
