#include "program/static_check.h"

#include "codeobject/code_object.h"
#include "isa/hazards.h"
#include "program/barrier_check.h"
#include "program/clause_check.h"
#include "program/code_address_check.h"
#include "program/diff.h"
#include "program/exec_check.h"
#include "program/finding_list.h"
#include "program/hazard_check.h"
#include "program/memory_order.h"
#include "program/resource_check.h"
#include "program/side_effects.h"
#include "program/wait_check.h"
#include "program/working_barriers.h"
#include "program/written_out_calls.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
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
  case FindingKind::MemoryOrder: return "memory order";
  case FindingKind::SideEffect: return "side effect";
  case FindingKind::Address: return "address";
  }
  return "?";
}

CheckOptions CheckOptions::of(const codeobject::CodeObject& object, std::string_view function) {
  CheckOptions options;
  if (const codeobject::Kernel* kernel = object.find_kernel(function)) {
    options.allocated_vgprs = codeobject::allocated_vgprs(kernel->descriptor, object.target());
    options.accum_offset = codeobject::accum_offset(kernel->descriptor, object.target());
    options.allocated_sgprs = codeobject::allocated_sgprs(kernel->descriptor, object.target());
    options.lds_bytes = kernel->descriptor.group_segment_fixed_size;
  }
  return options;
}

std::vector<Finding> check(const Program& program, const Function& function, const Cfg& cfg,
                           const CheckOptions& options) {
  FindingList findings(program);
  const VectorModes modes = VectorModes::compute(program, function, cfg);
  if (options.waits || options.barriers) check_waits(program, function, cfg, modes, options, findings);
  if (options.barriers && options.possible) check_barriers(program, function, cfg, findings);
  if (options.wait_states) check_wait_states(program, function, cfg, modes, options, findings);
  if (options.wait_states) check_clauses(program, cfg, findings);
  if (options.exec) check_exec(program, function, cfg, findings);
  check_resources(program, function, cfg, modes, options, findings);
  if (options.possible) check_code_addresses(program, cfg, findings);
  return findings.take();
}

namespace {

// What a finding is apart from where it stands. Where it is certain the registers belong to it: a missing
// wait for another one is another mistake, and one whose use has another result, too. K0's may be dead.
using Likeness = std::tuple<FindingKind, std::string, std::string, std::string, std::string, std::string_view,
                            std::string_view>;

std::string_view mnemonic(const Program& program, Index i) {
  return i == no_index ? std::string_view() : program.instruction(i).base_mnemonic;
}

std::string results(const Program& program, const Finding& f) {
  std::string names;
  if (f.kind == FindingKind::MissingWait && !f.possible && f.consumer != no_index)
    for (const isa::RegRange& d : program.instruction(f.consumer).defs) names += isa::name(d) + " ";
  return names;
}

Likeness likeness(const Program& program, const Finding& f) {
  return {f.kind,
          f.rule,
          f.register_class,
          f.possible ? "" : f.object,
          results(program, f),
          mnemonic(program, f.producer),
          mnemonic(program, f.consumer)};
}

using Place = std::pair<InstrId, InstrId>;

// K0's findings of one likeness: how many, and where.
struct Known {
  size_t left = 0;
  std::map<Place, size_t> at;
  unsigned lacking = 0; // the most wait states
};

bool is_habit(const Known& known, const Finding& f) {
  return f.possible && f.lacking <= known.lacking && isa::is_broken_everywhere(f.rule);
}

bool take_same_place(Known& known, const Place& place) {
  const auto at = known.at.find(place);
  if (at == known.at.end() || at->second == 0) return false;
  --at->second;
  --known.left;
  return true;
}

// A wait that is dropped in front of a barrier where K0 had LDS writes in flight already shows in their
// number only. The i-th largest number of the candidate must not be above K0's.
void add_deeper(const Program& k0, const std::vector<Finding>& of_k0, const Program& candidate,
                const std::vector<Finding>& of_candidate, std::vector<Finding>& fresh) {
  std::map<Likeness, std::vector<unsigned>> known;
  for (const Finding& f : of_k0)
    if (f.in_flight != 0) known[likeness(k0, f)].push_back(f.in_flight);
  for (auto& [like, numbers] : known) std::ranges::sort(numbers, std::greater());
  std::map<Likeness, std::vector<const Finding*>> now;
  for (const Finding& f : of_candidate)
    if (f.in_flight != 0) now[likeness(candidate, f)].push_back(&f);
  const auto place = [](const Finding& f) { return std::tuple(f.rule, f.producer, f.consumer); };
  std::set<std::tuple<std::string, Index, Index>> reported;
  for (const Finding& f : fresh) reported.insert(place(f));
  for (auto& [like, findings] : now) {
    std::ranges::sort(findings, [](const Finding* a, const Finding* b) {
      return std::pair(b->in_flight, a->consumer) < std::pair(a->in_flight, b->consumer);
    });
    const std::vector<unsigned>& numbers = known[like];
    for (size_t i = 0; i < std::min(findings.size(), numbers.size()); ++i)
      if (findings[i]->in_flight > numbers[i] && reported.insert(place(*findings[i])).second)
        fresh.push_back(*findings[i]);
  }
}

size_t between(const std::vector<Index>& barriers, Index begin, Index end) {
  return static_cast<size_t>(std::ranges::lower_bound(barriers, end) -
                             std::ranges::lower_bound(barriers, begin));
}

} // namespace

std::vector<Finding> removed_barriers(const Program& k0, const Function& k0_function,
                                      const Program& candidate, const Function& function, bool one_wave) {
  const auto barriers_of = [&](const Program& p, const Function& f) {
    return working_barriers(p, f, Cfg::build(p, f), one_wave);
  };
  const std::vector<Index> before = barriers_of(k0, k0_function), now = barriers_of(candidate, function);
  if (now.size() >= before.size()) return {};
  FindingList findings(candidate);
  for (const Hunk& h : diff(k0, k0_function, candidate, function)) {
    if (between(now, h.begin, h.end) >= between(before, h.k0_begin, h.k0_end)) continue;
    Finding finding;
    finding.kind = FindingKind::Barrier;
    finding.rule = "barrier-removed";
    finding.consumer = std::min(h.begin, function.end - 1);
    finding.possible = true;
    finding.missing = "s_barrier";
    findings.add(std::move(finding));
  }
  return findings.take();
}

std::vector<Finding> compared_findings(const Program& k0, const Function& k0_function,
                                       const Program& candidate, const Function& function, bool one_wave) {
  std::vector<Finding> all = removed_barriers(k0, k0_function, candidate, function, one_wave);
  std::ranges::move(lost_order(k0, k0_function, candidate, function, one_wave), std::back_inserter(all));
  std::ranges::move(changed_side_effects(k0, k0_function, candidate, function), std::back_inserter(all));
  return all;
}

std::vector<Finding> new_findings(const Program& k0, const std::vector<Finding>& of_k0,
                                  const Program& candidate, const std::vector<Finding>& of_candidate) {
  std::map<Likeness, Known> known;
  for (const Finding& f : of_k0) {
    Known& k = known[likeness(k0, f)];
    ++k.left;
    ++k.at[{f.producer_id, f.consumer_id}];
    k.lacking = std::max(k.lacking, f.lacking);
  }
  std::vector<const Finding*> moved;
  for (const Finding& f : of_candidate)
    if (!take_same_place(known[likeness(candidate, f)], {f.producer_id, f.consumer_id})) moved.push_back(&f);
  std::vector<Finding> fresh;
  for (const Finding* f : moved) {
    Known& k = known[likeness(candidate, *f)];
    if (k.left != 0)
      --k.left;
    else if (!is_habit(k, *f))
      fresh.push_back(*f);
  }
  add_deeper(k0, of_k0, candidate, of_candidate, fresh);
  return fresh;
}

namespace {

// A larger workgroup than the metadata allows is not launched.
bool has_one_wave(const codeobject::CodeObject& object, std::string_view function) {
  const codeobject::Kernel* kernel = object.find_kernel(function);
  const codeobject::KernelMetadata* metadata = kernel != nullptr ? object.metadata_of(*kernel) : nullptr;
  if (metadata == nullptr) return false;
  const uint64_t largest = metadata->max_flat_workgroup_size;
  return largest != 0 && largest <= isa::limits(object.target()).wave_size;
}

// A function as it is compared: with its calls written out, where it has any.
class ComparedFunction {
 public:
  ComparedFunction(const Program& program, const Function& function)
      : calls_(write_out_calls(program, function)), program_(calls_ ? calls_->program : program),
        function_(calls_ ? calls_->program.functions[0] : function) {}

  const Program& program() const { return program_; }
  const Function& function() const { return function_; }

  std::vector<Finding> check_against(const codeobject::CodeObject& object) const {
    CheckOptions options = CheckOptions::of(object, function_.name);
    options.possible = true; // K0 did not have it: worth a refusal
    options.every_use = true;
    return check(program_, function_, Cfg::build(program_, function_), options);
  }

  void set_origin(std::vector<Finding>& findings) const {
    if (!calls_) return;
    for (Finding& f : findings)
      for (Index* at : {&f.producer, &f.consumer})
        if (*at != no_index) *at = calls_->origin[*at];
  }

 private:
  std::unique_ptr<WrittenOutCalls> calls_;
  const Program& program_;
  const Function& function_;
};

} // namespace

std::vector<Finding> findings_against(const codeobject::CodeObject& k0_object, const Program& k0,
                                      const codeobject::CodeObject& object, const Program& candidate,
                                      const Function& function) {
  const ComparedFunction now(candidate, function);
  const Function* original = k0.find_function(function.name);
  if (original == nullptr) {
    std::vector<Finding> all = now.check_against(object);
    now.set_origin(all);
    return all;
  }
  const ComparedFunction before(k0, *original);
  std::vector<Finding> fresh = new_findings(before.program(), before.check_against(k0_object), now.program(),
                                            now.check_against(object));
  std::ranges::move(compared_findings(before.program(), before.function(), now.program(), now.function(),
                                      has_one_wave(k0_object, function.name)),
                    std::back_inserter(fresh));
  now.set_origin(fresh);
  return fresh;
}

} // namespace asmevo::program
