#include "base/progress.h"
#include "cli/cli.h"
#include "cli/defect_report.h"
#include "cli/load.h"
#include "oracle/capture.h"
#include "oracle/case_set.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>

namespace asmevo::cli {

namespace {

using Json = nlohmann::ordered_json;
using oracle::CaseReport;
using oracle::Outcome;

constexpr uint64_t default_sample = 64; // workgroups; corners are 8 of them

struct VerifyArguments {
  std::string k0, candidate, launch, capture, shape, target, kernel, rule = "scaled", workgroups;
  unsigned seeds = 3, schedules = 8, threads = 0;
  bool as_given = false, held_back = false, list = false;
  uint64_t max_steps = uint64_t{1} << 32;
};

Result<uint64_t> sample_in(std::string_view text) {
  if (text.empty() || text == "all") return 0;
  if (text == "sample") return default_sample;
  constexpr std::string_view prefix = "sample:";
  uint64_t count = 0;
  const std::string_view digits = text.starts_with(prefix) ? text.substr(prefix.size()) : "";
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() ||
      count == 0 || count > 1'000'000)
    return bad_input("--workgroups: '{}' is not all, sample or sample:N", printable(text));
  return count;
}

class Verify {
 public:
  Verify(const VerifyArguments& options, bool json) : options_(options), json_(json) {}

  Result<Answer> run() {
    if (options_.launch.empty() == options_.capture.empty())
      return bad_input("verify: one of --launch and --capture is required");
    if (!options_.capture.empty() &&
        (!options_.shape.empty() || !options_.kernel.empty() || options_.held_back))
      return bad_input("verify: --shape, --kernel and --held-back go with --launch");
    ASMEVO_TRY(verify_.rule, oracle::rule_named(options_.rule));
    verify_.threads = options_.threads;
    verify_.most_instructions = options_.max_steps;
    prepare_.rule = verify_.rule;
    ASMEVO_TRY(prepare_.sample, sample_in(options_.workgroups));
    prepare_.schedules = options_.schedules;
    prepare_.threads = options_.threads;
    prepare_.most_instructions = options_.max_steps;
    ASMEVO_TRY(k0_, load_subject(options_.k0, options_.target));
    ASMEVO_TRY(candidate_, load_subject(options_.candidate, options_.target));
    ASMEVO_TRY(static_, oracle::compare_statically(*k0_, *candidate_));
    outcome_ = static_.outcome;
    if (outcome_ == Outcome::Equivalent) {
      ASMEVO_TRY(set_, options_.capture.empty() ? cases_of_launch() : case_of_capture());
      ASMEVO_CHECK(run_cases());
    }
    if (json_)
      print_as_json();
    else
      print_text();
    return outcome_ == Outcome::Equivalent ? Answer::Yes : Answer::No;
  }

 private:
  Result<oracle::CaseSet> case_of_capture() {
    ASMEVO_TRY(oracle::Case c, oracle::read_capture(options_.capture));
    if (c.target.gfx != k0_->object().target().gfx)
      return bad_input("{}: for {}; {} is for {}", options_.capture, c.target.name(), options_.k0,
                       k0_->object().target().name());
    oracle::CaseSet set;
    ASMEVO_TRY(auto prepared, oracle::PreparedCase::make(std::move(c), k0_, prepare_));
    set.cases.push_back(std::move(prepared));
    return set;
  }

  Result<oracle::CaseSet> cases_of_launch() {
    ASMEVO_TRY(const oracle::LaunchSpec spec, oracle::LaunchSpec::read(options_.launch));
    ASMEVO_CHECK(spec.check_target(k0_->object().target(), options_.k0));
    oracle::CaseSetOptions options;
    options.prepare = prepare_;
    options.kernel = options_.kernel;
    options.shape = options_.shape;
    options.seeds = options_.seeds;
    options.as_given = options_.as_given;
    options.held_back = options_.held_back;
    Progress progress("K0", oracle::recipes_of(spec, options).size());
    options.progress = [&progress](size_t, size_t) { progress.step(); };
    ASMEVO_TRY(oracle::CaseSet set, oracle::make_case_set(spec, k0_, options));
    warn_of_sample(spec, options, set);
    return set;
  }

  // Cases that only whole dispatches have.
  static void warn_of_sample(const oracle::LaunchSpec& spec, const oracle::CaseSetOptions& sampled,
                             oracle::CaseSet& set) {
    oracle::CaseSetOptions whole = sampled;
    whole.prepare.sample = 0;
    const auto made_up = [&](const oracle::CaseSetOptions& options) {
      return std::ranges::count_if(oracle::recipes_of(spec, options), &oracle::CaseRecipe::made_up);
    };
    if (const auto missing = made_up(whole) - made_up(sampled); missing > 0)
      set.warnings.push_back(
          fmt::format("--workgroups sample: {} made-up cases (other inputs and sizes than the launch file's) "
                      "are not tried",
                      missing));
  }

  Status run_cases() {
    Progress progress("verify", set_.cases.size());
    ASMEVO_TRY(cases_,
               oracle::verify_cases(set_.cases, candidate_, verify_, [&progress] { progress.step(); }));
    if (!cases_.empty()) outcome_ = cases_.back().outcome;
    std::set<std::string> launched;
    for (const auto& c : set_.cases) launched.insert(c->dispatch().kernel);
    for (const std::string& kernel : static_.changed)
      if (!launched.contains(kernel))
        set_.warnings.push_back(
            fmt::format("kernel '{}' is not K0's and is not launched: nothing of it was tried", kernel));
    return {};
  }

  void print_text() const {
    for (const codeobject::AbiDifference& d : static_.abi.differences)
      if (d.frozen)
        fmt::print("abi: {}: {}: {} -> {}\n", printable(d.where), printable(d.field), printable(d.k0),
                   printable(d.candidate));
    for (const std::string& finding : static_.findings) fmt::print("check: {}\n", printable(finding, 1000));
    for (const CaseReport& c : cases_)
      if (options_.list || has_something_to_say(c)) print_case(c);
    if (options_.list)
      for (const std::string& text : set_.left_out) fmt::print("left out: {}\n", printable(text, 400));
    else if (!set_.left_out.empty())
      fmt::print("left out: {} made-up cases (--list says why)\n", set_.left_out.size());
    for (const std::string& text : set_.warnings) fmt::print("warning: {}\n", printable(text, 400));
    const auto silent = static_cast<size_t>(std::ranges::count(cases_, true, &CaseReport::says_nothing));
    const size_t good =
        static_cast<size_t>(std::ranges::count(cases_, Outcome::Equivalent, &CaseReport::outcome)) - silent;
    fmt::print("{}: {} case{}, {} equivalent", oracle::name(outcome_), set_.cases.size(),
               set_.cases.size() == 1 ? "" : "s", good);
    const auto sampled = std::ranges::count_if(cases_, [](const CaseReport& c) { return !c.sample.empty(); });
    if (sampled != 0) fmt::print(", {} by sampled workgroups", sampled);
    if (silent != 0) fmt::print(", {} say nothing", silent);
    if (cases_.size() < set_.cases.size()) fmt::print(", {} not run", set_.cases.size() - cases_.size());
    fmt::print("\n");
  }

  bool has_something_to_say(const CaseReport& c) const {
    const auto differs = [](const oracle::ViewReport& b) { return b.comparison.different != 0; };
    return c.outcome != Outcome::Equivalent || !c.notes.empty() ||
           (prepare_.sample != 0 && !c.sample.empty()) || std::ranges::any_of(c.buffers, differs);
  }

  void print_case(const CaseReport& c) const {
    fmt::print("{}: {}", printable(c.name), oracle::name(c.outcome));
    if (!c.sample.empty()) fmt::print(", {} of {} workgroups", c.sample.size(), c.workgroups);
    fmt::print("; {} instructions, K0 {}\n", c.candidate_instructions, c.k0_instructions);
    for (const oracle::ViewReport& b : c.buffers) {
      const oracle::BufferComparison& r = b.comparison;
      if (r.different == 0) continue;
      fmt::print("  {} {}: {} of {} elements differ; cosine {:.8f}, max difference {:.6g} ({:.6g} relative); "
                 "scaled {}, paper {}{}\n",
                 printable(b.name), oracle::name_of(b.type), r.different, r.elements, r.cosine,
                 r.max_absolute, r.max_relative, r.scaled ? "equal" : "not equal",
                 r.paper ? "equal" : "not equal",
                 r.ulp_exceeds_paper ? " (one unit in the last place exceeds its bound)" : "");
    }
    for (const std::string& note : c.notes) fmt::print("  note: {}\n", printable(note, 400));
    if (!c.text.empty()) fmt::print("  {}\n", printable(c.text, 1000));
  }

  static Json element(const oracle::ElementDifference& d, const oracle::ElementType& t) {
    return {{"index", d.index}, {"k0", show(t, d.k0)}, {"candidate", show(t, d.candidate)}};
  }

  static Json as_json(const oracle::ViewReport& b) {
    const oracle::BufferComparison& r = b.comparison;
    Json json = {{"name", b.name},
                 {"dtype", oracle::name_of(b.type)},
                 {"scaled", r.scaled},
                 {"paper", r.paper},
                 {"elements", r.elements},
                 {"different", r.different},
                 {"beyond", r.beyond},
                 {"specials", r.specials},
                 {"unwritten", r.unwritten},
                 {"overwritten", r.overwritten},
                 {"nondeterministic", b.nondeterministic},
                 {"in_spread", r.in_spread},
                 {"cosine", r.cosine},
                 {"max_difference", r.max_absolute},
                 {"max_relative_difference", r.max_relative},
                 {"ulp_exceeds_paper", r.ulp_exceeds_paper},
                 {"ulp_histogram", r.ulps}};
    if (r.first) json["first"] = element(*r.first, b.type);
    if (r.worst) json["worst"] = element(*r.worst, b.type);
    return json;
  }

  void print_as_json() const {
    Json document = {{"k0", options_.k0},
                     {"candidate", options_.candidate},
                     {"rule", oracle::name(verify_.rule)},
                     {"outcome", oracle::name(outcome_)}};
    Json abi = Json::array(), cases = Json::array();
    for (const codeobject::AbiDifference& d : static_.abi.differences)
      if (d.frozen)
        abi.push_back({{"where", d.where}, {"field", d.field}, {"k0", d.k0}, {"candidate", d.candidate}});
    for (const CaseReport& c : cases_) {
      Json buffers = Json::array();
      for (const oracle::ViewReport& b : c.buffers) buffers.push_back(as_json(b));
      Json defects = Json::array();
      for (const sanitizer::Defect& d : c.defects) defects.push_back(defect_as_json(d));
      cases.push_back({{"name", c.name},
                       {"outcome", oracle::name(c.outcome)},
                       {"text", c.text},
                       {"defects", std::move(defects)},
                       {"buffer", c.buffer},
                       {"workgroups", c.workgroups},
                       {"sample", c.sample},
                       {"k0_instructions", c.k0_instructions},
                       {"candidate_instructions", c.candidate_instructions},
                       {"buffers", buffers},
                       {"says_nothing", c.says_nothing},
                       {"notes", c.notes}});
    }
    document["abi"] = abi;
    document["findings"] = static_.findings;
    document["cases"] = cases;
    document["cases_in_all"] = set_.cases.size();
    document["left_out"] = set_.left_out;
    document["warnings"] = set_.warnings;
    print_json(document);
  }

  const VerifyArguments& options_;
  bool json_;
  oracle::VerifyOptions verify_;
  oracle::PrepareOptions prepare_;
  std::shared_ptr<const oracle::Subject> k0_, candidate_;
  oracle::StaticVerdict static_;
  Outcome outcome_ = Outcome::Equivalent;
  oracle::CaseSet set_;
  std::vector<CaseReport> cases_;
};

} // namespace

void add_verify(Context& context) {
  auto options = std::make_shared<VerifyArguments>();
  Verb* verb = add_verb(context, "verify", "whether a candidate does what K0 does (exit 1 where it does not)",
                        "asmevo verify k0.co candidate.co --launch launch.toml");
  verb->add_option("K0", options->k0, "the original")->required();
  verb->add_option("CANDIDATE", options->candidate, "what is to replace it")->required();
  verb->add_option("--launch", options->launch, "launch file (docs/launch-spec.md)")->type_name("FILE");
  verb->add_option("--capture", options->capture, "recorded dispatch (docs/captures.md)")->type_name("DIR");
  verb->add_option("--shape", options->shape, "set of sizes in the launch file")->type_name("NAME");
  verb->add_option("--target", options->target, "the objects for this target id, where files hold several")
      ->type_name("ID");
  verb->add_option("--kernel", options->kernel, "kernel to run, in place of the launch file's")
      ->type_name("NAME");
  verb->add_option("--rule", options->rule, "scaled or paper")->capture_default_str();
  verb->add_option("--seeds", options->seeds, "inputs as the launch file gives them, from seeds 0, 1, ...")
      ->check(Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--list", options->list, "every case, also those of which there is nothing to say");
  verb->add_flag("--as-given", options->as_given, "no other inputs and sizes than the launch file gives");
  verb->add_flag("--held-back", options->held_back, "the second set of cases: other seeds and sizes");
  verb->add_option("--schedules", options->schedules, "runs of K0 with its waves in other orders")
      ->check(Range(1, 100))
      ->capture_default_str();
  verb->add_option("--workgroups", options->workgroups, "all, sample (64 of them) or sample:N")
      ->type_name("WHICH");
  verb->add_option("--threads", options->threads, "threads; 0: one a core")->capture_default_str();
  verb->add_option("--max-steps", options->max_steps,
                   "instructions of a workgroup before it counts as hanging")
      ->capture_default_str();
  verb->callback([&context, options] {
    context.action = [&context, options] { return Verify(*options, context.json).run(); };
  });
}

} // namespace asmevo::cli
