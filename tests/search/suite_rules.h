// Rules applied to the kernels of the suite: each proposal built, verified and timed.
#pragma once

#include "base/files.h"
#include "oracle/case_set.h"
#include "profile/modelled_profile.h"
#include "search/rules/rule.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace asmevo::search::testing {

/// A kernel of the suite with its profile and cases.
class SuiteKernel {
 public:
  struct Options {
    std::string target = "gfx942", shape = "search", model = "mi308x";
    bool profile = true;  // model the launches: seconds for some kernels
    bool as_given = true; // only the inputs of the launch file, of one shape
    unsigned one_in = 1;  // of the other cases
    std::string verify_shape = "tiny";
  };

  static Result<std::unique_ptr<SuiteKernel>> open(const std::string& name, const Options& options) {
    auto k = std::unique_ptr<SuiteKernel>(new SuiteKernel(options));
    ASMEVO_TRY(k->bytes_, read_file(path(name, options.target)));
    ASMEVO_TRY(k->k0_, oracle::Subject::open(k->bytes_));
    const std::string launch = std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml";
    ASMEVO_TRY(k->spec_, oracle::LaunchSpec::read(launch));
    ASMEVO_TRY(const auto model, timing::MachineModel::for_target(options.model, k->k0_->object().target()));
    k->machine_ = model.nominal();
    ASMEVO_CHECK(k->go_on_from(k->k0_));
    oracle::CaseSetOptions cases;
    cases.as_given = options.as_given, cases.one_in = options.one_in, cases.shape = options.verify_shape;
    cases.seeds = 1;
    cases.prepare.schedules = 2, cases.prepare.sample = 16;
    ASMEVO_TRY(k->cases_, oracle::make_case_set(k->spec_, k->k0_, cases));
    return k;
  }

  static std::string path(const std::string& name, const std::string& target) {
    return std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + "." + target + ".co";
  }
  /// From here on, what rules see and change is this object. It is still compared with K0.
  Status go_on_from(std::shared_ptr<const oracle::Subject> object) {
    current_ = std::move(object);
    if (!options_.profile) return {};
    ASMEVO_TRY(traces_, trace(current_));
    time_ = oracle::launch_time(traces_, machine_);
    return {};
  }

  double seconds() const { return time_.seconds; }
  /// Of the object, those that are launched first where that is known.
  std::vector<std::string> kernels() const {
    std::vector<std::string> list;
    for (const program::Function& f : current_->program().functions)
      if (f.kernel && (traces_.launches.empty() || std::ranges::any_of(traces_.launches, [&](const auto& l) {
                         return l.kernel == f.name;
                       })))
        list.push_back(f.name);
    return list;
  }

  /// Calls f(context); for rules.
  template <class F>
  void with_context(const std::string& kernel, F f) {
    const auto code = profile::KernelCode::open(current_->original(), kernel);
    ASSERT_TRUE(code) << code.error().message;
    const size_t size = (*code)->function().end - (*code)->function().begin;
    RuleContext context{**code, current_->codec(), machine_, std::vector<double>(size),
                        std::vector<double>(size)};
    if (!traces_.launches.empty()) {
      const auto profile = profile::modelled_profile(traces_, time_, kernel, "x");
      const double total = profile.total();
      for (const auto& t : profile.instructions) {
        const program::Index i = (*code)->at(t.address);
        if (i == program::no_index || total <= 0) continue;
        context.time[i - (*code)->function().begin] = t.total() / total;
        context.issues[i - (*code)->function().begin] = t.issues;
      }
    }
    f(static_cast<const RuleContext&>(context));
  }

  /// "" where the proposal does what K0 does.
  std::string try_out(const std::string& kernel, const Proposal& p,
                      std::shared_ptr<const oracle::Subject>* built) {
    program::Edit edit;
    edit.kernel = kernel, edit.changes = p.changes, edit.resources = p.resources;
    const auto made =
        rebuild::apply_edit(current_->original(), current_->program(), edit, 1, current_->codec());
    if (!made) return "build: " + made.error().message;
    const auto candidate = oracle::Subject::open(made->object);
    if (!candidate) return "open: " + candidate.error().message;
    *built = *candidate;
    const auto statically = oracle::compare_statically(*k0_, **candidate);
    if (!statically) return "static: " + statically.error().message;
    if (statically->outcome != oracle::Outcome::Equivalent)
      return "static: " + std::string(oracle::name(statically->outcome)) +
             (statically->findings.empty() ? "" : " " + statically->findings.front());
    const auto reports = oracle::verify_cases(cases_.cases, *candidate);
    if (!reports) return "verify: " + reports.error().message;
    for (const oracle::CaseReport& r : *reports)
      if (r.outcome != oracle::Outcome::Equivalent && !r.says_nothing)
        return r.name + ": " + std::string(oracle::name(r.outcome)) + " " + r.text;
    return "";
  }

  Result<double> seconds_of(const std::shared_ptr<const oracle::Subject>& candidate) const {
    ASMEVO_TRY(const auto traces, trace(candidate));
    return oracle::launch_time(traces, machine_).seconds;
  }

 private:
  explicit SuiteKernel(Options options) : options_(std::move(options)) {}
  Result<oracle::LaunchTraces> trace(const std::shared_ptr<const oracle::Subject>& s) const {
    ASMEVO_TRY(const auto plan, oracle::LaunchPlan::make(oracle::LaunchSpec(spec_), options_.shape));
    oracle::LaunchTraceOptions tracing;
    return oracle::trace_launches(plan, oracle::object_of(s), machine_, tracing);
  }

  Options options_;
  Bytes bytes_;
  std::shared_ptr<const oracle::Subject> k0_, current_;
  oracle::LaunchSpec spec_;
  timing::Machine machine_;
  oracle::LaunchTraces traces_;
  oracle::LaunchTime time_;
  oracle::CaseSet cases_;
};

} // namespace asmevo::search::testing
