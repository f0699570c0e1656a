#include "gate/gated_eval.h"

#include "base/hash.h"
#include "gate/commit_rule.h"
#include "rebuild/rebuild.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace asmevo::gate {

namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// An error of ours is not the candidate's fault.
void refuse(Evaluation& e, Outcome why, const Error& error) {
  const bool ours = error.kind == ErrorKind::Environment || error.kind == ErrorKind::Internal;
  e.refuse(ours ? Outcome::InfrastructureError : why, error.message);
}

Outcome outcome_of(oracle::Outcome o) {
  switch (o) {
  case oracle::Outcome::Equivalent: return Outcome::Passed;
  case oracle::Outcome::AbiInvalid: return Outcome::AbiInvalid;
  case oracle::Outcome::Hazard: return Outcome::Hazard;
  case oracle::Outcome::Fault: return Outcome::Fault;
  case oracle::Outcome::Hang: return Outcome::Hang;
  case oracle::Outcome::GuardDamaged: return Outcome::GuardDamaged;
  case oracle::Outcome::Divergent: return Outcome::Divergent;
  case oracle::Outcome::Race: return Outcome::Race;
  }
  return Outcome::InfrastructureError;
}

// --- G0: the text, and whether it fits the base

std::optional<program::Program> gate_text(const Setup& setup, const program::Program& base, const Proposed& p,
                                          Evaluation& e) {
  e.gate = Gate::G0;
  auto spliced = program::splice(base, p.edit, p.node, setup.k0()->codec());
  if (spliced) return *std::move(spliced);
  const program::SpliceError& error = spliced.error();
  e.refuse(Outcome::AsmInvalid, error.describe());
  e.details = {
      {"change", error.change}, {"line", error.line}, {"column", error.column}, {"message", error.message}};
  return std::nullopt;
}

bool gate_rebuild(const Setup& setup, const program::Program& base, program::Program spliced,
                  const Proposed& p, Evaluation& e) {
  e.gate = Gate::G1;
  auto built = rebuild::build_spliced(setup.k0()->original(), base, std::move(spliced), p.edit);
  if (!built) {
    refuse(e, Outcome::AbiInvalid, built.error());
    return false;
  }
  e.object = std::move(built->object);
  e.object_hash = content_hash(e.object);
  e.built_by = built->route == rebuild::BuiltBy::Direct ? "direct" : "in place";
  for (const rebuild::ResourceChange& r : built->resources)
    e.resources.push_back({{"kernel", r.kernel}, {"field", r.field}, {"from", r.from}, {"to", r.to}});
  return true;
}

// --- G1: what host programs rely on, and what is wrong whatever a run shows

// What no case runs, or what was not to be touched, must be K0's.
bool only_what_is_tried(const Setup& setup, const std::vector<std::string>& changed, Evaluation& e) {
  for (const std::string& kernel : changed) {
    const bool launched =
        std::ranges::any_of(setup.cases(), [&](const auto& c) { return c->dispatch().kernel == kernel; });
    const std::string& wanted = setup.request().kernel;
    if (launched && (wanted.empty() || wanted == kernel)) continue;
    e.refuse(Outcome::AbiInvalid,
             fmt::format("kernel '{}' is not K0's {}", kernel,
                         launched ? "and is not the one to edit"
                                  : "and is not launched: nothing of it could be tried"));
    return false;
  }
  return true;
}

bool gate_statically(const Setup& setup, const oracle::Subject& candidate, Evaluation& e) {
  e.gate = Gate::G1;
  const auto verdict = oracle::compare_statically(*setup.k0(), candidate);
  if (!verdict) {
    refuse(e, Outcome::AbiInvalid, verdict.error());
    return false;
  }
  if (verdict->outcome == oracle::Outcome::Equivalent) return only_what_is_tried(setup, verdict->changed, e);
  if (verdict->outcome == oracle::Outcome::AbiInvalid) {
    Json fields = Json::array();
    std::string first;
    for (const codeobject::AbiDifference& d : verdict->abi.differences)
      if (d.frozen) {
        fields.push_back({{"where", d.where}, {"field", d.field}, {"k0", d.k0}, {"candidate", d.candidate}});
        if (first.empty())
          first = fmt::format("{}: {} is {} in K0, {} in the candidate", d.where, d.field, d.k0, d.candidate);
      }
    e.refuse(Outcome::AbiInvalid, first);
    e.details = {{"fields", fields}};
    return false;
  }
  e.refuse(Outcome::Hazard, verdict->findings.empty() ? "" : verdict->findings.front());
  e.details = {{"findings", verdict->findings}};
  return false;
}

// --- G2: runs

Json element(const oracle::ElementDifference& d, const oracle::ElementType& type) {
  return {{"index", d.index},
          {"k0", show(type, d.k0)},
          {"candidate", show(type, d.candidate)},
          {"distance", std::isfinite(d.distance) ? Json(d.distance) : Json(nullptr)}};
}

Json details_of(const oracle::CaseReport& report, oracle::Rule rule) {
  Json j = {{"case", report.name}};
  if (!report.buffer.empty()) j["buffer"] = report.buffer;
  for (const oracle::ViewReport& b : report.buffers) {
    if (b.name != report.buffer || b.comparison.equal(rule)) continue;
    j["elements"] = b.comparison.elements, j["beyond"] = b.comparison.beyond;
    j["cosine"] = b.comparison.cosine, j["max_absolute"] = b.comparison.max_absolute;
    if (b.comparison.first) j["first"] = element(*b.comparison.first, b.type);
    if (b.comparison.worst) j["worst"] = element(*b.comparison.worst, b.type);
  }
  if (!report.ended.completed())
    j["pc"] = report.ended.pc, j["address"] = report.ended.address, j["lane"] = report.ended.lane;
  return j;
}

bool run_cases(const Setup& setup, const oracle::PreparedCases& cases,
               const std::shared_ptr<const oracle::Subject>& candidate, Evaluation& e) {
  oracle::VerifyOptions options;
  options.rule = setup.rule();
  options.threads = 1; // as many candidates are judged at once as there are cores
  const auto reports = oracle::verify_cases(cases, candidate, options);
  if (!reports) {
    refuse(e, Outcome::AbiInvalid, reports.error());
    return false;
  }
  for (const oracle::CaseReport& r : *reports) {
    ++e.cases;
    e.instructions += r.candidate_instructions;
    for (const oracle::ViewReport& b : r.buffers) e.paper_rule &= b.comparison.paper;
    if (r.outcome == oracle::Outcome::Equivalent) continue;
    e.refuse(outcome_of(r.outcome), fmt::format("{}: {}", r.name, r.text));
    e.details = details_of(r, setup.rule());
    return false;
  }
  return true;
}

// --- G3: time

bool gate_time(const Setup& setup, const std::shared_ptr<const oracle::Subject>& candidate,
               std::span<const double> best, Evaluation& e) {
  e.gate = Gate::G3;
  const Stopwatch watch(e.timing_seconds);
  const auto go_on = [&](std::span<const double> so_far) {
    return best.empty() || may_suffice(best, so_far);
  };
  auto seconds = setup.times(candidate, setup.members(), go_on, setup.not_needed());
  if (!seconds) {
    refuse(e, Outcome::Fault, seconds.error()); // at the full shape, which no case runs whole
    return false;
  }
  e.seconds = *std::move(seconds);
  return true;
}

} // namespace

Result<program::Program> program_after(const oracle::Subject& k0, std::span<const Proposed::Step> chain) {
  program::Program program = k0.program();
  for (const Proposed::Step& step : chain) {
    auto next = program::splice(program, step.edit, step.node, k0.codec());
    if (!next) return bad_input("the edit of node {}: {}", step.node, next.error().describe());
    program = *std::move(next);
  }
  return program;
}

Evaluation build(const Setup& setup, const Proposed& p) {
  Evaluation e;
  const Stopwatch watch(e.wall_seconds);
  const auto base = program_after(*setup.k0(), p.chain);
  if (!base) {
    e.refuse(Outcome::InfrastructureError, base.error().message);
    return e;
  }
  auto spliced = gate_text(setup, *base, p, e);
  if (!spliced || !gate_rebuild(setup, *base, *std::move(spliced), p, e)) return e;
  const auto candidate = oracle::Subject::open(e.object);
  if (!candidate)
    refuse(e, Outcome::AbiInvalid, candidate.error());
  else
    gate_statically(setup, **candidate, e);
  return e;
}

Evaluation accept_object(const Setup& setup, Bytes object) {
  Evaluation e;
  const Stopwatch watch(e.wall_seconds);
  e.gate = Gate::G1;
  e.object = std::move(object);
  e.object_hash = content_hash(e.object);
  e.built_by = "given";
  const auto candidate = oracle::Subject::open(e.object);
  if (!candidate)
    refuse(e, Outcome::AbiInvalid, candidate.error());
  else
    gate_statically(setup, **candidate, e);
  return e;
}

void judge(const Setup& setup, Evaluation& e, std::span<const double> best) {
  const Stopwatch watch(e.wall_seconds);
  const auto candidate = oracle::Subject::open(e.object);
  if (!candidate) {
    refuse(e, Outcome::InfrastructureError, candidate.error());
    return;
  }
  e.gate = Gate::G2;
  if (run_cases(setup, setup.cases(), *candidate, e)) gate_time(setup, *candidate, best, e);
}

void hold_against(const Setup& setup, Evaluation& e) {
  const Stopwatch watch(e.wall_seconds);
  e.gate = Gate::G4;
  const auto candidate = oracle::Subject::open(e.object);
  if (!candidate) {
    refuse(e, Outcome::InfrastructureError, candidate.error());
    return;
  }
  // Its times are those of a run without arithmetic that K0's way does not depend on.
  const auto traces = setup.trace(*candidate, setup.model().nominal(), 0);
  if (!traces) {
    refuse(e, Outcome::InfrastructureError, traces.error());
    return;
  }
  if (!setup.goes_its_way_without(setup.not_needed(), *traces, *candidate)) {
    e.refuse(Outcome::TimingUnstable, "its way depends on what it computes, unlike K0's");
    return;
  }
  Evaluation own = e;
  if (run_cases(setup, setup.held_back(), *candidate, own)) {
    auto seconds = setup.replay(*traces, *candidate, setup.held_back_members(), 1);
    if (seconds)
      e.seconds = *std::move(seconds);
    else
      refuse(e, Outcome::InfrastructureError, seconds.error());
    return;
  }
  if (own.outcome == Outcome::InfrastructureError) {
    e.refuse(own.outcome, own.text);
    return;
  }
  e.refuse(Outcome::DivergentHeldBack, "a case that is held back: " + std::string(name(own.outcome)));
}

Result<std::vector<double>> structural_seconds(const Setup& setup, const Bytes& object) {
  ASMEVO_TRY(const auto subject, oracle::Subject::open(object));
  return setup.times(subject, timing::structural_ensemble(setup.model()));
}

} // namespace asmevo::gate
