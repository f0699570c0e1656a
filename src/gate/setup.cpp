#include "gate/setup.h"

#include "oracle/capture.h"
#include "rebuild/roundtrip.h"

#include <algorithm>
#include <set>

namespace asmevo::gate {

namespace {

using oracle::LaunchPlan;
using oracle::LaunchSpec;

constexpr uint64_t held_back_seed = 1'000'001;

// What times are taken at where nobody says: the size that the kernel is for.
std::string timed_shape(const LaunchSpec& spec, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  for (const char* shape : {"full", "search"})
    if (spec.shapes.contains(shape)) return shape;
  return "";
}

Status check_round_trip(const Bytes& k0, const oracle::Subject& subject) {
  ASMEVO_TRY(const rebuild::RoundTrip trip, rebuild::roundtrip(k0, rebuild::Route::Direct, subject.codec()));
  if (trip.identical) return {};
  return bad_input("K0 does not come back byte for byte: {}",
                   trip.differences.empty() ? "the file differs" : trip.differences.front().detail);
}

} // namespace

Json SetupRequest::json() const {
  return {{"k0", Json::binary(k0)},
          {"launch", launch.string()},
          {"capture", capture.string()},
          {"kernel", kernel},
          {"model", model},
          {"shape", shape},
          {"rule", rule},
          {"members", members},
          {"effort", effort},
          {"seed", seed},
          {"threads", threads},
          {"most_instructions", most_instructions}};
}

SetupRequest SetupRequest::from_json(const Json& j) {
  SetupRequest r;
  r.k0 = j.at("k0").get_binary();
  r.launch = j.at("launch").get<std::string>();
  r.capture = j.at("capture").get<std::string>();
  r.kernel = j.at("kernel"), r.model = j.at("model"), r.shape = j.at("shape"), r.rule = j.at("rule");
  r.members = j.at("members"), r.effort = j.at("effort"), r.seed = j.at("seed");
  r.threads = j.at("threads"), r.most_instructions = j.at("most_instructions");
  return r;
}

Status check_request(const SetupRequest& r, const oracle::Subject& k0) {
  const isa::Target& target = k0.object().target();
  ASMEVO_CHECK(oracle::rule_named(r.rule));
  ASMEVO_CHECK(timing::MachineModel::for_target(r.model, target));
  if (!r.kernel.empty() && k0.object().find_kernel(r.kernel) == nullptr)
    return bad_input("K0 has no kernel '{}'", printable(r.kernel));
  if (!r.capture.empty()) return {};
  ASMEVO_TRY(LaunchSpec spec, LaunchSpec::read(r.launch));
  ASMEVO_CHECK(spec.check_target(target, "K0"));
  const std::string shape = timed_shape(spec, r.shape);
  ASMEVO_CHECK(LaunchPlan::make(std::move(spec), shape, r.seed));
  return {};
}

Result<std::unique_ptr<const Setup>>
Setup::make(SetupRequest request, const std::function<void(std::string_view, size_t, size_t)>& progress) {
  std::unique_ptr<Setup> setup(new Setup);
  setup->request_ = std::move(request);
  ASMEVO_CHECK(setup->open());
  ASMEVO_CHECK(setup->make_cases(progress));
  if (progress) progress("timing K0", 0, 1);
  const unsigned threads = setup->request_.threads;
  ASMEVO_TRY(const oracle::LaunchTraces traces, setup->trace(setup->k0_, setup->model_->nominal(), 0));
  ASMEVO_TRY(setup->k0_seconds_, setup->replay(traces, setup->k0_, setup->members_, threads));
  ASMEVO_TRY(setup->k0_held_back_seconds_,
             setup->replay(traces, setup->k0_, setup->held_back_members_, threads));
  setup->find_not_needed(traces);
  return setup;
}

Status Setup::open() {
  ASMEVO_TRY(rule_, oracle::rule_named(request_.rule));
  ASMEVO_TRY(k0_, oracle::Subject::open(request_.k0));
  ASMEVO_CHECK(check_round_trip(request_.k0, *k0_));
  const isa::Target& target = k0_->object().target();
  ASMEVO_TRY(model_, timing::MachineModel::for_target(request_.model, target));
  members_ = timing::parameter_ensemble(*model_, request_.members);
  held_back_members_ = timing::parameter_ensemble(*model_, request_.members + 1, held_back_seed);
  held_back_members_.erase(held_back_members_.begin()); // the nominal one is among the others
  if (!request_.capture.empty()) {
    ASMEVO_TRY(captured_, oracle::read_capture(request_.capture));
    if (captured_->target.gfx != target.gfx)
      return bad_input("{}: for {}; K0 is for {}", request_.capture.string(), captured_->target.name(),
                       target.name());
    return {};
  }
  ASMEVO_TRY(LaunchSpec spec, LaunchSpec::read(request_.launch));
  ASMEVO_CHECK(spec.check_target(target, "K0"));
  if (!request_.kernel.empty() && !spec.launches(request_.kernel)) in_place_ = request_.kernel;
  const std::string shape = timed_shape(spec, request_.shape);
  ASMEVO_TRY(plan_, LaunchPlan::make(std::move(spec), shape, request_.seed));
  return {};
}

Status Setup::make_cases(const std::function<void(std::string_view, size_t, size_t)>& progress) {
  oracle::CaseSetOptions options;
  options.kernel = in_place_;
  options.prepare.rule = rule_;
  options.prepare.threads = request_.threads;
  options.prepare.most_instructions = request_.most_instructions;
  options.prepare.sanitize = captured_.has_value();
  if (captured_) {
    ASMEVO_TRY(auto prepared, oracle::PreparedCase::make(*captured_, k0_, options.prepare));
    cases_.cases.push_back(std::move(prepared));
    cases_.warnings.emplace_back(
        "one recorded dispatch is all that candidates are tried with; nothing is held back");
    return {};
  }
  for (oracle::CaseSet* set : {&cases_, &held_back_}) {
    options.held_back = set == &held_back_;
    // Every candidate meets the first set, few the second.
    constexpr unsigned some_sizes = 32;
    options.joint_sizes = options.held_back ? oracle::CaseSetOptions{}.joint_sizes : some_sizes;
    if (progress)
      options.progress = [&, what = options.held_back ? "K0, held-back cases" : "K0"](
                             size_t done, size_t of) { progress(what, done, of); };
    ASMEVO_TRY(*set, oracle::make_case_set(plan_->spec, k0_, options));
  }
  hold_back_expensive();
  return {};
}

// Cases that were made up, from the cheapest on, as long as all of them take a candidate some tenths of a
// second. The others are asked in the end, too.
void Setup::hold_back_expensive() {
  constexpr uint64_t most_instructions = 4'000'000;
  std::vector<std::shared_ptr<const oracle::PreparedCase>> order = cases_.cases, kept, others;
  std::ranges::stable_sort(order, {},
                           [](const auto& c) { return std::pair(c->dispatch().made_up, c->instructions()); });
  uint64_t instructions = 0;
  std::set<const oracle::PreparedCase*> expensive;
  for (const auto& c : order) {
    instructions += c->instructions();
    if (c->dispatch().made_up && instructions > most_instructions) expensive.insert(c.get());
  }
  for (const auto& c : cases_.cases) (expensive.contains(c.get()) ? others : kept).push_back(c);
  cases_.cases = std::move(kept);
  std::ranges::move(others, std::back_inserter(held_back_.cases));
}

bool Setup::goes_its_way_without(timing::LeftOut what, const oracle::LaunchTraces& whole,
                                 const std::shared_ptr<const oracle::Subject>& object) const {
  if (what == timing::LeftOut::Nothing) return true;
  const auto without = trace(object, model_->nominal(), 0, what);
  const auto same = [](const oracle::TracedLaunch& a, const oracle::TracedLaunch& b) {
    return timing::same_paths(a.trace, b.trace);
  };
  return without && !whole.depends_on_time() && std::ranges::equal(whole.launches, without->launches, same);
}

void Setup::find_not_needed(const oracle::LaunchTraces& whole) {
  for (const timing::LeftOut what : {timing::LeftOut::FloatArithmetic, timing::LeftOut::MatrixProducts})
    if (goes_its_way_without(what, whole, k0_)) {
      not_needed_ = what;
      return;
    }
}

Result<oracle::LaunchTraces> Setup::trace(const std::shared_ptr<const oracle::Subject>& object,
                                          const timing::Machine& machine, uint64_t schedule,
                                          timing::LeftOut left_out) const {
  oracle::LaunchTraceOptions options;
  options.kernel = in_place_;
  options.trace.effort = request_.effort;
  options.trace.threads = 1;
  options.trace.schedule = schedule;
  options.trace.left_out = left_out;
  options.known = first_contents_;
  if (captured_) return oracle::trace_case(*captured_, oracle::object_of(object), machine, options);
  return oracle::trace_launches(*plan_, oracle::object_of(object), machine, options);
}

Result<std::vector<double>> Setup::times(const std::shared_ptr<const oracle::Subject>& object,
                                         std::span<const timing::EnsembleMember> members,
                                         const std::function<bool(std::span<const double>)>& go_on,
                                         timing::LeftOut left_out) const {
  ASMEVO_TRY(const oracle::LaunchTraces traces, trace(object, model_->nominal(), 0, left_out));
  return replay(traces, object, members, 1, go_on, left_out);
}

Result<std::vector<double>> Setup::replay(const oracle::LaunchTraces& traces,
                                          const std::shared_ptr<const oracle::Subject>& object,
                                          std::span<const timing::EnsembleMember> members, unsigned threads,
                                          const std::function<bool(std::span<const double>)>& go_on,
                                          timing::LeftOut left_out) const {
  const oracle::TraceAgain again = [&](const timing::Machine& machine, uint64_t schedule) {
    return trace(object, machine, schedule, left_out);
  };
  std::vector<double> seconds;
  std::function<bool(const oracle::LaunchTime&)> after_each;
  if (go_on)
    after_each = [&](const oracle::LaunchTime& t) {
      seconds.push_back(t.seconds);
      return go_on(seconds);
    };
  ASMEVO_TRY(const auto times, oracle::launch_times(traces, members, threads, again, after_each));
  if (!go_on)
    for (const oracle::LaunchTime& t : times) seconds.push_back(t.seconds);
  return seconds;
}

Json Setup::report() const {
  std::vector<std::string> notes;
  for (const auto& c : cases_.cases)
    for (const std::string& n : c->notes())
      if (std::ranges::find(notes, n) == notes.end()) notes.push_back(n);
  return {{"target", k0_->object().target().name()},
          {"model", model_->name()},
          {"shape", plan_ ? plan_->shape : ""},
          {"rule", request_.rule},
          {"cases", cases_.cases.size()},
          {"held_back", held_back_.cases.size()},
          {"left_out", cases_.left_out},
          {"warnings", cases_.warnings},
          {"notes", notes},
          {"k0_seconds", k0_seconds_},
          {"k0_held_back_seconds", k0_held_back_seconds_}};
}

} // namespace asmevo::gate
