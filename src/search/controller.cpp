#include "search/controller.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "rebuild/assembly.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using gate::Evaluation;

constexpr std::string_view interrupted_text = "interrupted";

bool was_interrupted(const Evaluation& e) {
  return e.outcome == gate::Outcome::InfrastructureError && e.text == interrupted_text;
}

std::string edit_text(const Suggestion& s) {
  if (!s.object) return s.edit.json();
  return gate::Json({{"object_hash", content_hash(*s.object)},
                     {"rationale", s.edit.rationale},
                     {"direction", s.edit.direction}})
      .dump();
}

Result<std::string> assembly_of(const Bytes& object) {
  ASMEVO_TRY(const auto subject, oracle::Subject::open(object));
  ASMEVO_TRY(const rebuild::Recovery recovery, rebuild::recover(subject->object(), subject->codec()));
  return rebuild::write_assembly(subject->object(), recovery, subject->codec());
}

} // namespace

std::string_view name(End end) {
  switch (end) {
  case End::BudgetUsed: return "the budget is used up";
  case End::Converged: return "there are no more ideas";
  case End::Stalled: return "nothing came of it any more";
  case End::Interrupted: return "interrupted";
  }
  return "";
}

Result<End> Controller::run(std::shared_ptr<const oracle::Subject> k0,
                            const std::function<void(const Standing&)>& watch) {
  watch_ = watch;
  ASMEVO_CHECK(start(std::move(k0)));
  for (;; ++round_) {
    const bool recorded = recorded_.contains({round_, 0});
    if (options_.budget.attempts && attempts_ >= *options_.budget.attempts) return End::BudgetUsed;
    if (!recorded && out_of_time()) return End::BudgetUsed;
    if (pool_.interrupted()) return End::Interrupted;
    std::vector<Slot> slots;
    ASMEVO_CHECK(begin_round(slots));
    if (slots.empty()) {
      if (!react_to_stall(true)) return End::Converged;
      continue;
    }
    ASMEVO_CHECK(evaluate_round(slots));
    if (std::ranges::any_of(slots, [](const Slot& s) { return was_interrupted(s.attempt.evaluation); }))
      return End::Interrupted;
    ASMEVO_CHECK(apply_round(slots));
    if (pool_.interrupted()) return End::Interrupted;
    if (!react_to_stall(false)) return End::Stalled;
  }
}

// What was found is compared with K0: all of it, and its times, must be what they were.
Status Controller::check_same_k0(const oracle::Subject& k0, const run::Node& root) const {
  const std::string folder = folder_.path().string();
  if (content_hash(k0.object().bytes()) != root.object_hash)
    return bad_input("{}: k0.co is not the K0 of this run", folder);
  const auto times = [&](const char* key) { return pool_.report().at(key).get<std::vector<double>>(); };
  if (times("k0_seconds") != root.seconds || times("k0_held_back_seconds") != root.held_back_seconds)
    return bad_input(
        "{}: K0 takes another time than when the run began: its launch, the machine model or asmevo "
        "has changed; a new run is needed",
        folder);
  return {};
}

// What the run folder has of an earlier process, and node 0.
Status Controller::start(std::shared_ptr<const oracle::Subject> k0) {
  ASMEVO_TRY(const std::vector<run::Attempt> attempts, folder_.attempts());
  const uint32_t last_round = attempts.empty() ? 0 : attempts.back().round;
  for (const run::Attempt& a : attempts) {
    before_ = std::max(before_, a.at);
    // What failed because of the machine, maybe because all processes were ended at once, is tried again
    // where nothing has been built on it.
    if (a.outcome == gate::Outcome::InfrastructureError && a.round == last_round) continue;
    recorded_.emplace(std::pair(a.round, a.slot), a);
  }
  // What was attempted is not taken back by a smaller budget.
  if (options_.budget.attempts)
    options_.budget.attempts = std::max<uint64_t>(*options_.budget.attempts, recorded_.size());
  ASMEVO_TRY(const std::vector<run::Event> events, folder_.events());
  for (const run::Event& e : events) recorded_steps_.insert(e.text);
  ASMEVO_TRY(const std::vector<run::Node> nodes, folder_.nodes());
  for (const run::Node& n : nodes) recorded_nodes_.emplace(n.id, n);
  run::Node root;
  gate::NodeProfile profile;
  if (const auto found = recorded_nodes_.find(0); found != recorded_nodes_.end()) {
    root = found->second;
    ASMEVO_CHECK(check_same_k0(*k0, root));
    profile = gate::NodeProfile::from_json(root.profile);
  } else {
    const Bytes bytes(k0->object().bytes().begin(), k0->object().bytes().end());
    ASMEVO_TRY(profile, pool_.profile(0, bytes, std::vector<gate::Proposed::Step>()));
    root.object_hash = content_hash(bytes);
    root.seconds = pool_.report().at("k0_seconds").get<std::vector<double>>();
    root.held_back_seconds = pool_.report().at("k0_held_back_seconds").get<std::vector<double>>();
    root.profile = profile.json();
    ASMEVO_CHECK(folder_.record(root));
  }
  seen_.emplace(root.object_hash, 0);
  ASMEVO_TRY(lineage_, Lineage::start(std::move(k0), std::move(root), std::move(profile)));
  return {};
}

Status Controller::begin_round(std::vector<Slot>& slots) {
  size_t width = options_.width;
  if (options_.budget.attempts)
    width = static_cast<size_t>(std::min<uint64_t>(width, *options_.budget.attempts - attempts_));
  while (slots.size() < width) {
    std::optional<Slot> next = next_slot(slots.empty());
    if (!next) break;
    Slot& slot = *next;
    const Suggestion& s = slot.suggestion;
    slot.attempt.round = round_, slot.attempt.slot = static_cast<uint32_t>(slots.size());
    slot.attempt.base = s.edit.base;
    slot.attempt.driver = !slot.assignment ? Integrator::name : s.driver.empty() ? driver_.name() : s.driver;
    slot.attempt.direction = s.edit.direction, slot.attempt.rule = s.rule;
    slot.attempt.rationale = s.edit.rationale;
    slot.attempt.edit = edit_text(s);
    const auto found = recorded_.find({round_, slot.attempt.slot});
    if (found != recorded_.end()) {
      if (found->second.edit != slot.attempt.edit)
        return bad_input(
            "{}: attempt {} of round {} is not the one that this program would make: the run is of "
            "another version, or its settings or proposals were changed",
            folder_.path().string(), slot.attempt.slot, round_);
      const uint32_t base = slot.attempt.base;
      slot.attempt = found->second;
      slot.attempt.base = base; // it is the edit's, whatever stands there
      slot.known = true;
    }
    slots.push_back(std::move(slot));
  }
  // A step from which nothing follows is none.
  if (step_ && !slots.empty() && recorded_steps_.insert(step_->text).second)
    ASMEVO_CHECK(folder_.record(*step_));
  if (!slots.empty()) step_.reset();
  return {};
}

// One of a round's proposals may be a composition; more of them only where nobody has anything else.
std::optional<Controller::Slot> Controller::next_slot(bool first) {
  Slot slot;
  const auto compose = [&](bool last_ideas) {
    auto s = options_.steer ? integrator_.propose(*lineage_, last_ideas) : std::nullopt;
    if (s) slot.suggestion = *std::move(s);
    return s.has_value();
  };
  if (first && compose(false)) return slot;
  while (auto assignment = planner_.next(*lineage_)) {
    if (auto s = driver_.propose(*lineage_, *assignment)) {
      slot.suggestion = *std::move(s), slot.assignment = *std::move(assignment);
      return slot;
    }
    planner_.exhausted(*assignment);
  }
  return compose(true) ? std::optional(std::move(slot)) : std::nullopt;
}

// False: there is nothing more to do.
bool Controller::react_to_stall(bool ended) {
  if (!options_.steer) return !ended;
  const StallStep step = stall_.after_round(ended);
  if (step == StallStep::None) return !ended;
  if (step == StallStep::GiveUp) return false;
  std::string text = fmt::format("round {}: {}", round_, stall_.why());
  switch (step) {
  case StallStep::None:
  case StallStep::GiveUp:
  case StallStep::Redirect:
    if (const auto given_up = planner_.redirect(); !given_up.empty())
      text += fmt::format("; given up: {}", fmt::join(given_up, ", "));
    planner_.set_note(stall_.tried());
    break;
  case StallStep::Backtrack: planner_.start_from(2); break;
  case StallStep::Widen: planner_.start_from(std::max<size_t>(options_.width, 3)); break;
  }
  text += fmt::format("; tried since: {}", stall_.tried());
  step_ = run::Event{seconds(), std::string(name(step)), std::move(text)};
  return true;
}

gate::Proposed Controller::proposed(const Suggestion& s) const {
  gate::Proposed p;
  if (s.edit.base < lineage_->size()) p.chain = lineage_->at(s.edit.base).chain;
  p.edit = s.edit;
  p.node = lineage_->size();
  return p;
}

Status Controller::evaluate_round(std::vector<Slot>& slots) {
  std::vector<Status> recorded(slots.size());
  parallel_for(slots.size(), pool_.size(), [&](size_t n, unsigned worker) {
    Slot& slot = slots[n];
    if (!slot.known) {
      evaluate(slot, worker);
      if (was_interrupted(slot.attempt.evaluation)) return;
      slot.attempt.at = seconds();
      slot.attempt.outcome = slot.attempt.evaluation.outcome,
      slot.attempt.text = slot.attempt.evaluation.text;
      recorded[n] = folder_.record(slot.attempt);
    }
    count(slot);
  });
  for (const Status& s : recorded) ASMEVO_CHECK(s);
  return {};
}

void Controller::evaluate(Slot& slot, unsigned worker) {
  Evaluation& e = slot.attempt.evaluation;
  const Suggestion& s = slot.suggestion;
  const bool on_a_node = s.edit.base < lineage_->size() && lineage_->at(s.edit.base).editable;
  if (!s.object && !on_a_node) {
    e.refuse(gate::Outcome::AsmInvalid,
             fmt::format("base: there is no node {} that can be edited", s.edit.base));
    return;
  }
  e = s.object ? pool_.accept(worker, *s.object) : pool_.build(worker, proposed(s));
  if (!e.passed()) return;
  if (const auto found = seen_.find(e.object_hash); found != seen_.end()) {
    e.refuse(gate::Outcome::Duplicate,
             found->second == 0 ? "the bytes of K0" : fmt::format("the bytes of attempt {}", found->second));
    return;
  }
  // A worker that is lost may have been ended by somebody else; what ends workers itself does so again.
  const Evaluation built = e;
  for (unsigned tries = 0; tries < 2; ++tries) {
    e = built;
    pool_.judge(worker, e, lineage_->best().node.seconds);
    if (e.outcome != gate::Outcome::InfrastructureError || was_interrupted(e)) return;
  }
}

void Controller::count(const Slot& slot) {
  const std::lock_guard lock(mutex_);
  ++standing_.attempts;
  ++standing_.outcomes[static_cast<size_t>(slot.attempt.evaluation.outcome)];
  standing_.seconds = seconds();
  if (watch_) watch_(standing_);
}

Status Controller::apply_round(std::vector<Slot>& slots) {
  for (Slot& slot : slots) {
    ASMEVO_CHECK(apply(slot));
    if (pool_.interrupted() && slot.attempt.outcome == gate::Outcome::Passed) return {};
    teach(slot);
  }
  return {};
}

void Controller::teach(const Slot& slot) {
  const run::Attempt& a = slot.attempt;
  Outcome outcome{slot.suggestion, a.outcome, a.evaluation, slot.comparison, 0, a.node};
  if (!a.evaluation.seconds.empty() && a.base < lineage_->size())
    outcome.over_base = gate::compare_times(lineage_->k0_seconds(), lineage_->at(a.base).node.seconds,
                                            a.evaluation.seconds, options_.commit)
                            .over_best;
  memory_.learn(a, pattern_of(lineage_->at(std::min(a.base, lineage_->size() - 1)).node.profile));
  driver_.learn(outcome);
  integrator_.learn(*lineage_, outcome);
  if (slot.assignment) planner_.learn(*slot.assignment, outcome);
  stall_.see(outcome);
  if (a.node) planner_.start_from(1), planner_.set_note("");
}

Status Controller::apply(Slot& slot) {
  run::Attempt& a = slot.attempt;
  ++attempts_;
  a.outcome = a.evaluation.outcome, a.text = a.evaluation.text;
  if (!a.evaluation.seconds.empty()) {
    slot.comparison = gate::compare_times(lineage_->k0_seconds(), lineage_->best().node.seconds,
                                          a.evaluation.seconds, options_.commit);
    a.over_best = slot.comparison.over_best, a.speedup = slot.comparison.speedup;
  }
  if (a.evaluation.passed()) ASMEVO_CHECK(decide(slot));
  if (!a.evaluation.object_hash.empty() && a.outcome != gate::Outcome::InfrastructureError)
    seen_.try_emplace(a.evaluation.object_hash, static_cast<uint32_t>(attempts_));
  if (a.outcome != a.evaluation.outcome) {
    const std::lock_guard lock(mutex_);
    --standing_.outcomes[static_cast<size_t>(a.evaluation.outcome)];
    ++standing_.outcomes[static_cast<size_t>(a.outcome)];
    standing_.nodes = lineage_->size(), standing_.best = lineage_->best().node.speedup;
    if (watch_) watch_(standing_);
  }
  return folder_.record_decision(a); // an earlier process may have ended before it could
}

// G4.
Status Controller::decide(Slot& slot) {
  run::Attempt& a = slot.attempt;
  if (seen_.contains(a.evaluation.object_hash)) {
    a.outcome = gate::Outcome::Duplicate, a.text = "the bytes of another attempt of this round";
    return {};
  }
  if (!slot.comparison.sufficient) {
    a.outcome = gate::Outcome::InsufficientSpeedup, a.text = slot.comparison.describe();
    return {};
  }
  if (a.evaluation.object.empty()) {
    // Answered from the run folder, which has no objects.
    const Evaluation again = slot.suggestion.object ? pool_.accept(0, *slot.suggestion.object)
                                                    : pool_.build(0, proposed(slot.suggestion));
    a.evaluation.object = again.object;
  }
  if (!a.held_back) {
    Evaluation held = a.evaluation;
    pool_.hold_against(0, held);
    if (was_interrupted(held)) return {};
    a.held_back = std::move(held);
  }
  a.outcome = a.held_back->outcome, a.text = a.held_back->text;
  if (!a.held_back->passed()) return {};
  const gate::Comparison again =
      gate::compare_times(lineage_->at(0).node.held_back_seconds, lineage_->best().node.held_back_seconds,
                          a.held_back->seconds, options_.commit);
  if (again.sufficient) return commit(slot);
  a.outcome = gate::Outcome::InsufficientSpeedup;
  a.text = "on models that are held back: " + again.describe();
  return {};
}

// For people to read. An object that assembly cannot express is none the worse for it.
Status Controller::write_assembly(const std::filesystem::path& file, const Bytes& object) {
  const auto text = assembly_of(object);
  if (!text) return folder_.record(run::Event{seconds(), "note", "no candidate.s: " + text.error().message});
  return write_file(file, *text);
}

Status Controller::commit(Slot& slot) {
  run::Attempt& a = slot.attempt;
  run::Node node;
  node.id = lineage_->size(), node.parent = a.base;
  node.round = a.round, node.slot = a.slot;
  if (!slot.suggestion.object) node.edit = a.edit;
  node.object_hash = a.evaluation.object_hash;
  node.seconds = a.evaluation.seconds;
  node.held_back_seconds = a.held_back->seconds;
  node.speedup = slot.comparison.speedup;
  const auto& parent = lineage_->at(std::min(node.parent, lineage_->size() - 1)).node;
  node.over_parent =
      gate::compare_times(lineage_->k0_seconds(), parent.seconds, node.seconds, options_.commit).over_best;
  node.driver = a.driver, node.direction = a.direction, node.rule = a.rule, node.rationale = a.rationale;
  node.resources = a.evaluation.resources;
  node.at = a.at;
  gate::NodeProfile profile;
  const auto found = recorded_nodes_.find(node.id);
  const bool known = found != recorded_nodes_.end() && found->second.object_hash == node.object_hash;
  if (known) {
    node.profile = found->second.profile;
    profile = gate::NodeProfile::from_json(node.profile);
  } else {
    gate::Chain chain;
    if (!slot.suggestion.object) {
      chain = proposed(slot.suggestion).chain;
      chain->push_back({slot.suggestion.edit, node.id});
    }
    auto made = pool_.profile(0, a.evaluation.object, chain);
    if (!made && pool_.interrupted()) return {};
    if (!made) return failed(made.error());
    profile = *std::move(made);
    node.profile = profile.json();
  }
  const std::filesystem::path folder = folder_.path() / "nodes" / std::to_string(node.id);
  ASMEVO_CHECK(make_folder(folder));
  ASMEVO_CHECK(write_file(folder / "candidate.co", a.evaluation.object));
  ASMEVO_CHECK(write_file(folder / "edit.json", a.edit + "\n"));
  if (!known) ASMEVO_CHECK(write_assembly(folder / "candidate.s", a.evaluation.object));
  a.outcome = gate::Outcome::Committed, a.node = node.id;
  a.text = slot.comparison.describe();
  if (!known) {
    const run::Event event{node.at, "commit", fmt::format("node {}: {}", node.id, a.text)};
    ASMEVO_CHECK(folder_.record(node, event));
  }
  {
    const std::lock_guard lock(mutex_);
    standing_.last = fmt::format("{:.3f}x: {}", node.speedup, node.rationale);
  }
  return lineage_->add(std::move(node), a.evaluation.object, std::move(profile));
}

Standing Controller::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

double Controller::seconds() const {
  return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Controller::out_of_time() const {
  return options_.budget.seconds && seconds() >= *options_.budget.seconds;
}

} // namespace asmevo::search
