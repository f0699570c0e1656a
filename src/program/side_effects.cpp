#include "program/side_effects.h"

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

std::map<std::string, std::vector<Index>> side_effects(const Program& program, const Function& f) {
  std::map<std::string, std::vector<Index>> all;
  for (Index i = f.begin; i < f.padding; ++i)
    if (std::string what = side_effect(program.instruction(i)); !what.empty())
      all[std::move(what)].push_back(i);
  return all;
}

} // namespace

std::vector<Finding> added_side_effects(const Program& k0, const Function& k0_function,
                                        const Program& candidate, const Function& function) {
  FindingList findings(candidate);
  auto before = side_effects(k0, k0_function);
  for (const auto& [what, places] : side_effects(candidate, function)) {
    if (places.size() <= before[what].size()) continue;
    Finding finding;
    finding.kind = FindingKind::SideEffect;
    finding.rule = "side-effect";
    finding.consumer = places.front();
    finding.object = fmt::format("{}: {} where K0 has {}", what, places.size(), before[what].size());
    finding.possible = true;
    findings.add(std::move(finding));
  }
  return findings.take();
}

} // namespace asmevo::program
