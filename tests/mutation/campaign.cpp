#include "mutation/campaign.h"

#include "base/files.h"
#include "base/parallel.h"

#include <chrono>

namespace asmevo::mutation {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

oracle::PreparedCases of_kernel(const oracle::CaseSet& set, const std::string& kernel) {
  oracle::PreparedCases cases;
  for (const auto& c : set.cases)
    if (c->dispatch().kernel == kernel) cases.push_back(c);
  return cases;
}

// Built, checked and run as asmevo verify does it.
Verdict judge_untimed(const Bench& bench, const program::Edit& edit, unsigned threads) {
  Verdict verdict;
  const auto refuse = [&](const std::string& why) {
    verdict.built = false;
    verdict.text = why;
    return verdict;
  };
  const auto candidate = build(*bench.k0, edit);
  if (!candidate) return refuse(candidate.error().message);
  const auto checked = oracle::compare_statically(*bench.k0, **candidate);
  if (!checked) return refuse(checked.error().message);
  verdict.outcome = checked->outcome;
  if (!checked->findings.empty()) verdict.text = checked->findings.front();
  if (verdict.outcome != oracle::Outcome::Equivalent) return verdict;
  const auto reports = oracle::verify_cases(bench.cases, *candidate, {.threads = threads});
  if (!reports) return refuse(reports.error().message);
  if (reports->empty()) return verdict;
  verdict.outcome = reports->back().outcome;
  verdict.text = reports->back().text;
  verdict.at_case = reports->back().name;
  if (verdict.outcome != oracle::Outcome::Equivalent) return verdict;
  const std::string far = bench.reference->judge(*candidate);
  verdict.near_reference = far.empty();
  if (!far.empty()) verdict.text = far;
  return verdict;
}

} // namespace

Result<Bytes> read_suite_object(const std::string& name, const std::string& target) {
  return read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + "." + target + ".co");
}

Result<Bench> open_bench(const std::string& name, const std::string& kernel, const std::string& target,
                         unsigned one_in) {
  const double start = now();
  Bench bench;
  bench.name = name;
  bench.kernel = kernel;
  ASMEVO_TRY(Bytes bytes, read_suite_object(name, target));
  ASMEVO_TRY(bench.k0, oracle::Subject::open(std::move(bytes)));
  ASMEVO_TRY(bench.launch,
             oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml"));
  oracle::CaseSetOptions options;
  options.one_in = one_in;
  ASMEVO_TRY(const oracle::CaseSet set, oracle::make_case_set(bench.launch, bench.k0, options));
  bench.cases = of_kernel(set, kernel);
  if (bench.cases.empty()) return bad_input("{}: launches no kernel '{}'", name, kernel);
  bench.seconds = now() - start;
  ASMEVO_TRY(bench.reference, ReferenceCheck::make(name, bench.k0));
  return bench;
}

Result<std::shared_ptr<const oracle::Subject>> build(const oracle::Subject& k0, const program::Edit& edit) {
  ASMEVO_TRY(const auto codec, isa::Codec::borrow(k0.object().target()));
  ASMEVO_TRY(const rebuild::Built built, rebuild::apply_edit(k0.original(), k0.program(), edit, 1, *codec));
  return oracle::Subject::open(built.object);
}

Verdict judge(const Bench& bench, const program::Edit& edit, unsigned threads) {
  const double start = now();
  Verdict verdict = judge_untimed(bench, edit, threads);
  verdict.seconds = now() - start;
  return verdict;
}

Result<LongRun> LongRun::make(const Bench& bench) {
  LongRun made;
  oracle::CaseSetOptions options;
  options.held_back = true;
  options.seeds = 3;
  options.joint_sizes = 100;
  ASMEVO_TRY(const oracle::CaseSet set, oracle::make_case_set(bench.launch, bench.k0, options));
  made.cases_ = of_kernel(set, bench.kernel);
  return made;
}

LongRun::Differences LongRun::try_edit(const Bench& bench, const program::Edit& edit) const {
  Differences result;
  const auto candidate = build(*bench.k0, edit);
  if (!candidate) return result;
  const auto reports = oracle::verify_cases(cases_, *candidate, {.threads = 1});
  if (!reports) return {true, true, reports.error().message};
  for (const oracle::CaseReport& r : *reports) {
    for (const oracle::ViewReport& b : r.buffers)
      if (b.comparison.different != 0 && b.nondeterministic == 0 && !result.different) {
        result.different = true;
        result.text = fmt::format("{}: {}: {}", r.name, b.name, b.comparison.describe(b.type));
      }
    if (r.outcome != oracle::Outcome::Equivalent) return {true, true, r.name + ": " + r.text};
  }
  return result;
}

std::vector<Verdict> judge_all(const Bench& bench, const std::vector<program::Edit>& edits,
                               unsigned threads) {
  std::vector<Verdict> verdicts(edits.size());
  parallel_for(edits.size(), threads, [&](size_t i, unsigned) { verdicts[i] = judge(bench, edits[i]); });
  return verdicts;
}

} // namespace asmevo::mutation
