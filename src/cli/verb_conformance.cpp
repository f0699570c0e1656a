#include "cli/cli.h"
#include "emulator/conformance/runner.h"

#include <map>
#include <memory>

namespace asmevo::cli {

namespace {

namespace conformance = emulator::conformance;

struct Arguments {
  std::vector<std::filesystem::path> paths;
  std::string exceptions, filter;
  size_t most_failures = 20;
  unsigned threads = 0;
  bool no_exceptions = false; // those built in
};

void print_text(const conformance::Report& report, size_t most_failures) {
  size_t shown = 0;
  for (const conformance::Outcome& o : report.outcomes) {
    if (o.kind == conformance::Outcome::Kind::Skipped) fmt::print("skipped  {}: {}\n", o.id, o.text);
    if (o.kind == conformance::Outcome::Kind::Failed && shown++ < most_failures)
      fmt::print("failed   {}: {}\n", o.id, o.text);
  }
  if (report.failed > most_failures) fmt::print("... and {} more failures\n", report.failed - most_failures);
  struct Count {
    size_t vectors = 0, passed = 0;
  };
  std::map<std::string, Count> families;
  for (const conformance::Outcome& o : report.outcomes) {
    Count& c = families[o.family];
    ++c.vectors;
    c.passed += o.kind == conformance::Outcome::Kind::Passed ? 1 : 0;
  }
  for (const auto& [family, c] : families)
    fmt::print("{:<40} {:>6} vectors {:>6} passed\n", family, c.vectors, c.passed);
}

nlohmann::ordered_json as_json(const conformance::Report& report) {
  nlohmann::ordered_json failures = nlohmann::ordered_json::array(), skipped = failures;
  for (const conformance::Outcome& o : report.outcomes)
    if (o.kind != conformance::Outcome::Kind::Passed)
      (o.kind == conformance::Outcome::Kind::Failed ? failures : skipped)
          .push_back({{"id", o.id}, {"family", o.family}, {"text", o.text}});
  return {{"vectors", report.outcomes.size()}, {"passed", report.passed}, {"failed", report.failed},
          {"skipped", report.skipped},         {"failures", failures},    {"exceptions", skipped}};
}

Result<Answer> run(const Arguments& arguments, bool json) {
  conformance::Options options;
  if (arguments.no_exceptions) options.exceptions.clear();
  options.filter = arguments.filter;
  options.threads = arguments.threads;
  if (!arguments.exceptions.empty()) {
    ASMEVO_TRY(const auto more, conformance::read_exceptions(arguments.exceptions));
    options.exceptions.insert(options.exceptions.end(), more.begin(), more.end());
  }
  ASMEVO_TRY(const conformance::Report report, conformance::run(arguments.paths, options));
  if (json)
    print_json(as_json(report));
  else {
    print_text(report, arguments.most_failures);
    fmt::print("{} vectors, {} passed, {} failed, {} skipped\n", report.outcomes.size(), report.passed,
               report.failed, report.skipped);
  }
  return report.failed == 0 ? Answer::Yes : Answer::No;
}

} // namespace

void add_conformance(Context& context) {
  auto arguments = std::make_shared<Arguments>();
  Verb* verb = add_verb(context, "conformance", "run instruction vectors on the emulator",
                        "asmevo conformance vectors/alu vectors/mfma");
  verb->add_option("paths", arguments->paths, "files or folders of .jsonl or .jsonl.zst vectors")->required();
  verb->add_option("--exceptions", arguments->exceptions,
                   "more of them: a JSON list of {ops, condition, reason, source}");
  verb->add_flag("--no-exceptions", arguments->no_exceptions, "count the vectors that are judged wrong too");
  verb->add_option("--filter", arguments->filter, "only vectors whose id contains this");
  verb->add_option("--fail", arguments->most_failures, "how many failures to print")->capture_default_str();
  verb->add_option("--threads", arguments->threads, "threads; 0: one a core")->capture_default_str();
  verb->callback([&context, arguments] {
    context.action = [&context, arguments] { return run(*arguments, context.json); };
  });
}

} // namespace asmevo::cli
