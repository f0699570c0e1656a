#include "sanitizer/defect.h"

#include "isa/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace asmevo::sanitizer {

std::string_view name(DefectKind kind) {
  switch (kind) {
  case DefectKind::InFlight: return "in_flight";
  case DefectKind::WaitStates: return "wait_states";
  case DefectKind::LdsRace: return "lds_race";
  case DefectKind::GlobalRace: return "global_race";
  case DefectKind::Uninitialised: return "uninitialised";
  case DefectKind::Convergence: return "convergence";
  }
  return "";
}

namespace {

std::string place_of(const Defect& d) {
  const bool workgroups = d.kind == DefectKind::GlobalRace;
  const bool waves =
      d.kind == DefectKind::LdsRace || (d.kind == DefectKind::InFlight && d.first.wave != d.second.wave);
  std::string place = fmt::format("workgroup {}, wave {}", d.second.workgroup, d.second.wave);
  if (d.lane >= 0) place += fmt::format(", lane {}", d.lane);
  if (workgroups && d.first.present()) place += fmt::format(", against workgroup {}", d.first.workgroup);
  if (waves && d.first.present()) place += fmt::format(", against wave {}", d.first.wave);
  return place;
}

std::string what(const Defect& d) {
  switch (d.kind) {
  case DefectKind::InFlight: return "used while in flight";
  case DefectKind::WaitStates: return "too soon after";
  case DefectKind::LdsRace:
  case DefectKind::GlobalRace: return fmt::format("{} race", d.rule);
  case DefectKind::Uninitialised: return "read before anything is written";
  case DefectKind::Convergence: return d.rule;
  }
  return {};
}

std::string at(const Site& s) {
  return fmt::format("'{}' at {:#x}", s.text, s.pc);
}

} // namespace

std::string Defect::message() const {
  std::string line = fmt::format("{}{}: {} {}: {}", possible ? "possible: " : "", name(kind), object,
                                 what(*this), at(second));
  if (first.present()) line += fmt::format(", after {}", at(first));
  line += fmt::format(" ({})", place_of(*this));
  if (!fix.empty()) line += "; " + fix;
  return line;
}

Defects new_defects(const Defects& of_k0, const Defects& of_candidate) {
  const auto key = [](const Defect& d) {
    return std::tuple(d.kind, d.rule, d.possible, d.first.mnemonic, d.second.mnemonic);
  };
  std::map<decltype(key(Defect{})), unsigned> known, lacking;
  for (const Defect& d : of_k0) {
    ++known[key(d)];
    lacking[key(d)] = std::max(lacking[key(d)], d.lacking);
  }
  Defects unmatched, fresh;
  for (const Defect& d : of_candidate) {
    const auto found = known.find(key(d));
    const bool is_habit = d.possible && d.kind == DefectKind::WaitStates && lacking[key(d)] >= d.lacking &&
                          isa::is_broken_everywhere(d.rule);
    if (found != known.end() && found->second != 0)
      --found->second;
    else if (!is_habit)
      unmatched.push_back(d);
  }
  for (const Defect& d : unmatched) {
    const auto other = std::ranges::find_if(known, [&](const auto& k) {
      return d.possible && k.second != 0 && std::get<0>(k.first) == d.kind &&
             std::get<1>(k.first) == d.rule && std::get<2>(k.first);
    });
    if (other != known.end())
      --other->second;
    else
      fresh.push_back(d);
  }
  return fresh;
}

} // namespace asmevo::sanitizer
