#include "program/static_check.h"

#include "program/clause_check.h"
#include "program/exec_check.h"
#include "program/finding_list.h"
#include "program/hazard_check.h"
#include "program/resource_check.h"
#include "program/wait_check.h"

#include <map>
#include <tuple>
#include <utility>

namespace asmevo::program {

std::string_view name(FindingKind kind) {
  switch (kind) {
  case FindingKind::MissingWait: return "missing wait";
  case FindingKind::MissingWaitStates: return "missing wait states";
  case FindingKind::Barrier: return "barrier";
  case FindingKind::Exec: return "exec";
  case FindingKind::Resource: return "resource";
  }
  return "?";
}

std::vector<Finding> check(const Program& program, const Function& function, const Cfg& cfg,
                           const CheckOptions& options) {
  FindingList findings(program);
  const VectorModes modes = VectorModes::compute(program, function, cfg);
  if (options.waits || options.barriers) check_waits(program, function, cfg, modes, options, findings);
  if (options.wait_states) check_wait_states(program, function, cfg, modes, options, findings);
  if (options.wait_states) check_clauses(program, cfg, findings);
  if (options.exec) check_exec(program, function, cfg, findings);
  check_resources(program, function, cfg, modes, options, findings);
  return findings.take();
}

namespace {

// What a finding is apart from where it stands.
using Likeness = std::tuple<FindingKind, std::string, std::string, std::string_view, std::string_view>;

std::string_view mnemonic(const Program& program, Index i) {
  return i == no_index ? std::string_view() : program.instruction(i).base_mnemonic;
}

Likeness likeness(const Program& program, const Finding& f) {
  return {f.kind, f.rule, f.register_class, mnemonic(program, f.producer), mnemonic(program, f.consumer)};
}

using Place = std::pair<InstrId, InstrId>;

// K0's findings of one likeness: how many, and where.
struct Known {
  size_t left = 0;
  std::map<Place, size_t> at;
};

bool take_same_place(Known& known, const Place& place) {
  const auto at = known.at.find(place);
  if (at == known.at.end() || at->second == 0) return false;
  --at->second;
  --known.left;
  return true;
}

} // namespace

std::vector<Finding> new_findings(const Program& k0, const std::vector<Finding>& of_k0,
                                  const Program& candidate, const std::vector<Finding>& of_candidate) {
  std::map<Likeness, Known> known;
  for (const Finding& f : of_k0) {
    Known& k = known[likeness(k0, f)];
    ++k.left;
    ++k.at[{f.producer_id, f.consumer_id}];
  }
  std::vector<const Finding*> moved;
  for (const Finding& f : of_candidate)
    if (!take_same_place(known[likeness(candidate, f)], {f.producer_id, f.consumer_id})) moved.push_back(&f);
  std::vector<Finding> fresh;
  for (const Finding* f : moved) {
    Known& k = known[likeness(candidate, *f)];
    if (k.left == 0) {
      fresh.push_back(*f);
    } else {
      --k.left;
    }
  }
  return fresh;
}

} // namespace asmevo::program
