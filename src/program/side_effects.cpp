#include "program/side_effects.h"

#include "program/cfg.h"
#include "program/finding_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace asmevo::program {

namespace {

using isa::Instruction;

constexpr std::array<std::string_view, 10> never_shown = {
    "s_sendmsg", "s_sendmsghalt", "s_incperflevel", "s_decperflevel", "s_setvskip",
    "s_trap",    "s_sethalt",     "s_setkill",      "s_ttracedata",   "s_rfe_b64"};

using isa::HardwareRegisterField;

// Of MODE: debug and the enabled exceptions, and VSKIP. What is in the rest shows in results.
bool touches_exceptions(const HardwareRegisterField& r) {
  constexpr uint64_t bits = 0x7ffULL << 11 | 1ULL << 28;
  return (bits & uint64_t{r.mask()} << r.offset) != 0;
}

/// What the instruction does; nothing where runs show it.
std::string side_effect(const Instruction& i) {
  const std::string_view name = i.base_mnemonic;
  if (std::ranges::find(never_shown, name) != never_shown.end() || name.starts_with("s_cbranch_cdbg"))
    return std::string(name);
  if (!name.starts_with("s_getreg") && !name.starts_with("s_setreg")) return {};
  const auto r = HardwareRegisterField::of(i);
  const bool write = name.starts_with("s_setreg");
  if (r.id != HardwareRegisterField::mode)
    return fmt::format("{} of hardware register {}", write ? "s_setreg" : "s_getreg", r.id);
  return write && touches_exceptions(r) ? "s_setreg of MODE's exceptions" : "";
}

// Those that others wait for or stop at: without one, the kernel does less than it should. Performance levels
// and what is only read are none.
bool is_needed(std::string_view what) {
  constexpr std::array<std::string_view, 4> optional = {"s_incperflevel", "s_decperflevel", "s_ttracedata",
                                                        "s_setvskip"};
  return std::ranges::find(optional, what) == optional.end() && !what.starts_with("s_getreg");
}

using SideEffects = std::map<std::string, std::vector<Index>>;

SideEffects side_effects(const Program& program, const Function& f, bool reachable_only) {
  const Cfg cfg = Cfg::build(program, f);
  const bool all_run = !reachable_only || cfg.unknown_edges();
  SideEffects all;
  for (Index i = f.begin; i < f.padding; ++i)
    if (std::string what = side_effect(program.instruction(i)); !what.empty())
      if (all_run || cfg.blocks()[cfg.block_of(i)].reachable) all[std::move(what)].push_back(i);
  return all;
}

Finding finding_of(std::string_view rule, Index at, std::string_view what, size_t now, size_t before) {
  Finding finding;
  finding.kind = FindingKind::SideEffect;
  finding.rule = rule;
  finding.consumer = at;
  finding.object = fmt::format("{}: {} where K0 has {}", what, now, before);
  finding.possible = true;
  return finding;
}

} // namespace

std::vector<Finding> changed_side_effects(const Program& k0, const Function& k0_function,
                                          const Program& candidate, const Function& function) {
  if (function.begin == function.end) return {};
  FindingList findings(candidate);
  SideEffects before = side_effects(k0, k0_function, false);
  for (const auto& [what, places] : side_effects(candidate, function, false))
    if (places.size() > before[what].size())
      findings.add(finding_of("side-effect", places.front(), what, places.size(), before[what].size()));
  SideEffects now = side_effects(candidate, function, true);
  for (const auto& [what, places] : side_effects(k0, k0_function, true))
    if (is_needed(what) && now[what].size() < places.size())
      findings.add(
          finding_of("side-effect-removed", function.end - 1, what, now[what].size(), places.size()));
  return findings.take();
}

} // namespace asmevo::program
