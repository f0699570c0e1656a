// Work skipped, and last tiles dropped: branches, loops, bounds.
#include "codeobject/kernel_descriptor.h"
#include "mutation/assembly_text.h"
#include "program/cfg.h"
#include "soundness/drafts.h"

namespace asmevo::soundness {

namespace {

using mutation::AssemblyText;
using program::Index;

// Workgroups that end at once.
void skip_workgroups(const Bench& bench, Drafts& list) {
  const auto& target = bench.k0->object().target();
  const auto& descriptor = bench.descriptor().descriptor;
  if (get(descriptor, target, "enable_sgpr_workgroup_id_x") == 0) return;
  const uint64_t id = get(descriptor, target, "user_sgpr_count");
  for (const unsigned first : {1U, 2U, 3U})
    list.push_back({.text = fmt::format("workgroups from {} on end at once", first),
                    .front = or_end(fmt::format("s_cmp_lt_u32 s{}, {}", id, first))});
  list.push_back({.text = "every second workgroup ends at once",
                  .front = or_end(fmt::format("s_bitcmp0_b32 s{}, 0", id))});
}

void leave_loops_early(const Bench& bench, const program::Cfg& cfg, Drafts& list) {
  for (const program::Loop& loop : cfg.loops())
    for (const uint32_t latch : loop.latches) {
      const Index last = cfg.blocks()[latch].end - 1;
      if (!bench.program().instruction(last).conditional) continue;
      list.push_back({.text = "one round of the loop: " + place_text(bench, last) + " dropped",
                      .changes = {replaced(bench.id(last), bench.id(last), "")}});
    }
}

void empty_blocks(const Bench& bench, const program::Cfg& cfg, Drafts& list) {
  constexpr Index least = 4;
  for (const program::Block& b : cfg.blocks()) {
    if (!b.reachable || b.end - b.begin < least || b.begin == bench.function().begin) continue;
    const bool jumps = bench.program().instruction(b.end - 1).ends_block();
    const Index last = b.end - (jumps ? 2 : 1);
    list.push_back({.text = fmt::format("a block dropped from {} to {}", place_text(bench, b.begin),
                                        place_text(bench, last)),
                    .changes = {replaced(bench.id(b.begin), bench.id(last), "")}});
  }
}

void drop_arithmetic(const Bench& bench, Drafts& list) {
  const program::Function& f = bench.function();
  for (Index i = f.begin; i < f.padding; ++i) {
    const isa::IssueClass issue = bench.program().instruction(i).issue;
    if (issue == isa::IssueClass::Valu || issue == isa::IssueClass::Mfma ||
        issue == isa::IssueClass::Transcendental)
      list.push_back(
          {.text = place_text(bench, i) + " dropped", .changes = {replaced(bench.id(i), bench.id(i), "")}});
  }
}

bool is_bound(const AssemblyText& t) {
  const bool compares = t.mnemonic.starts_with("s_cmp_") || t.mnemonic.starts_with("v_cmp_");
  const bool whole =
      t.mnemonic.find("_i32") != std::string::npos || t.mnemonic.find("_u32") != std::string::npos ||
      t.mnemonic.find("_i64") != std::string::npos || t.mnemonic.find("_u64") != std::string::npos;
  return compares && whole;
}

// "s12" of "s12" or "s[12:13]"; empty: no scalar register of the kernel's own.
std::string low_scalar(const std::string& operand) {
  if (operand.size() < 2 || operand[0] != 's') return "";
  std::string digits;
  for (const char c : operand.substr(operand[1] == '[' ? 2 : 1)) {
    if (c < '0' || c > '9') break;
    digits += c;
  }
  return digits.empty() ? "" : "s" + digits;
}

void round_bounds_down(const Bench& bench, Index i, const AssemblyText& t, Drafts& list) {
  for (size_t o = t.mnemonic.starts_with("v_") ? 1 : 0; o < t.operands.size(); ++o) {
    const std::string size = low_scalar(t.operands[o]);
    if (size.empty()) continue;
    for (const auto& [what, text] :
         {std::pair{"one less", fmt::format("s_add_i32 {0}, {0}, -1", size)},
          {"down to a multiple of 4", fmt::format("s_and_b32 {0}, {0}, -4", size)},
          {"down to a multiple of 64", fmt::format("s_and_b32 {0}, {0}, 0xffffffc0", size)}})
      list.push_back({.text = fmt::format("{}: bound {} {}", place_text(bench, i), size, what),
                      .changes = {inserted(bench.id(i), text)}});
  }
}

void shift_bounds(const Bench& bench, Index i, const AssemblyText& t, Drafts& list) {
  for (const auto& [from, to] :
       {std::pair{"_le_", "_lt_"}, {"_ge_", "_gt_"}, {"_lt_", "_eq_"}, {"_gt_", "_eq_"}}) {
    const size_t at = t.mnemonic.find(from);
    if (at == std::string::npos) continue;
    AssemblyText changed = t;
    changed.mnemonic.replace(at, 4, to);
    list.push_back({.text = fmt::format("{}: {} for {}", place_text(bench, i), to, from),
                    .changes = {replaced(bench.id(i), bench.id(i), changed.text())}});
  }
}

} // namespace

Drafts work_skipped(const Bench& bench) {
  Drafts list;
  const program::Cfg cfg = program::Cfg::build(bench.program(), bench.function());
  skip_workgroups(bench, list);
  leave_loops_early(bench, cfg, list);
  empty_blocks(bench, cfg, list);
  drop_arithmetic(bench, list);
  return list;
}

Drafts last_tile_dropped(const Bench& bench) {
  Drafts list;
  const program::Function& f = bench.function();
  for (Index i = f.begin; i < f.padding; ++i) {
    const AssemblyText t = AssemblyText::parse(bench.text(i));
    if (!is_bound(t)) continue;
    round_bounds_down(bench, i, t, list);
    shift_bounds(bench, i, t, list);
  }
  return list;
}

} // namespace asmevo::soundness
