// Runs a kernel as its launch file says, on the emulator, and compares what it leaves with its reference in
// double precision: those of the suite, and others of which object and launch file are given.
#pragma once

#include "base/files.h"
#include "device/emulated_device.h"
#include "full_run.h"
#include "oracle/launch_run.h"
#include "oracle/workgroup_sample.h"
#include "reference/suite_inputs.h"
#include "suite/kernel_name.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace asmevo::suite {

using reference::SuiteKernel;
using test::full_run;

inline std::string object_path(const std::string& name, const std::string& target) {
  return std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + name + "." + target + ".co";
}
inline std::string launch_path(const std::string& name) {
  return std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml";
}

/// Where a kernel and its launch are, and what messages call it.
struct SuiteFiles {
  std::string name, object, launch;
};

/// One launch of a launch file: load(), then run().
class SuiteRun {
 public:
  /// The workgroups to run of each kernel, by linear index. Steps end at the first kernel that is not there.
  using Workgroups = std::map<std::string, std::set<uint64_t>>;

  /// Of kernels/suite/<name>.
  SuiteRun(const std::string& name, std::string shape, const std::string& target)
      : SuiteRun({name, object_path(name, target), launch_path(name)}, std::move(shape), target) {
#ifdef ASMEVO_SUITE_MISSING
    missing_ = ASMEVO_SUITE_MISSING;
#endif
  }
  SuiteRun(SuiteFiles files, std::string shape, std::string target)
      : files_(std::move(files)), shape_(std::move(shape)), target_(std::move(target)) {}

  /// `change`: of the launch file.
  Status load(const std::function<void(oracle::LaunchSpec&)>& change = {}) {
    if (!missing_.empty()) return environment_error("{}", missing_);
    ASMEVO_TRY(Bytes bytes, read_file(files_.object));
    ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
    ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(files_.launch));
    if (change) change(spec);
    ASMEVO_TRY(plan_, oracle::LaunchPlan::make(std::move(spec), shape_));
    ASMEVO_TRY(device_, device::EmulatedDevice::create(object.target()));
    ASMEVO_TRY(module_, device_->load(std::make_shared<const codeobject::CodeObject>(std::move(object))));
    ASMEVO_TRY(memory_, oracle::LaunchMemory::create(plan_, *device_));
    inputs_ = std::make_unique<reference::LaunchInputs>(*memory_, target_);
    return {};
  }

  /// All of it, or some workgroups. An error, too, where a kernel does not come to its end or touches what is
  /// not its own.
  Status run(const Workgroups* only = nullptr) {
    oracle::LaunchRunOptions options;
    if (only != nullptr)
      options.before_launch = [&](const std::string& kernel, const auto&,
                                  const auto&) -> Result<oracle::BeforeLaunch> {
        const auto found = only->find(kernel);
        if (found == only->end()) return oracle::BeforeLaunch::Stop;
        device_->options().workgroups.assign(found->second.begin(), found->second.end());
        return oracle::BeforeLaunch::Run;
      };
    ASMEVO_TRY(report_, oracle::run_launch(plan_, *memory_, *module_, options));
    if (!report_.outcome.completed()) return bad_input("{}", report_.outcome.text);
    if (!report_.notes.empty()) return bad_input("{}", report_.notes.front());
    return {};
  }

  const reference::SuiteInputs& inputs() const { return *inputs_; }
  oracle::LaunchMemory& memory() { return *memory_; }
  device::EmulatorOptions& options() { return device_->options(); }
  const oracle::LaunchPlan& plan() const { return plan_; }
  uint64_t instructions() const { return report_.outcome.instructions; }
  std::string label() const { return files_.name + " " + shape_ + " " + target_; }

  /// In workgroups.
  reference::Workgroup grid_of(const std::string& kernel) const {
    reference::Workgroup grid{1, 1, 1};
    for (const oracle::StepSpec& step : plan_.spec.steps)
      if (step.kernel == kernel)
        for (size_t i = 0; i < step.grid.size(); ++i) grid[i] = inputs_->size(step.grid[i].text);
    return grid;
  }

  /// Elements of a buffer as they are now.
  reference::Numbers now(const std::string& buffer, size_t first, size_t count) const {
    const size_t index = plan_.find(buffer).value();
    const auto codes = memory_->codes(index, first, count).value();
    reference::Numbers list(codes.size());
    for (size_t i = 0; i < list.size(); ++i)
      list[i] = oracle::decode(plan_.buffers[index].layout.type(), codes[i]);
    return list;
  }
  reference::Numbers now(const reference::Output& output) const {
    const size_t index = plan_.find(output.buffer).value();
    if (output.indices.empty()) return now(output.buffer, 0, plan_.buffers[index].layout.count());
    reference::Numbers all;
    for (size_t i = 0, end = 0; i < output.indices.size(); i = end) {
      for (end = i + 1; end < output.indices.size() && output.indices[end] == output.indices[end - 1] + 1;)
        ++end;
      const reference::Numbers part = now(output.buffer, output.indices[i], end - i);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  SuiteFiles files_;
  std::string shape_, target_;
  std::string missing_; // why the suite's objects are not there
  oracle::LaunchPlan plan_;
  std::unique_ptr<device::EmulatedDevice> device_;
  std::shared_ptr<device::Module> module_;
  std::unique_ptr<oracle::LaunchMemory> memory_;
  std::unique_ptr<reference::LaunchInputs> inputs_;
  oracle::LaunchReport report_;
};

/// Every element within what the reference allows. NaN equals NaN, an infinity itself.
inline void expect_output(const SuiteRun& run, const reference::Output& expected) {
  const std::string label = run.label() + ": " + expected.buffer;
  const reference::Numbers got = run.now(expected), &values = expected.values;
  ASSERT_EQ(got.size(), values.size()) << label;
  size_t wrong = 0, worst = 0;
  double worst_excess = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == values[i] || (std::isnan(got[i]) && std::isnan(values[i]))) continue;
    const double excess = std::abs(got[i] - values[i]) / expected.allowed(i);
    if (excess <= 1) continue;
    if (wrong++ == 0 || !(excess <= worst_excess)) worst = i, worst_excess = excess;
  }
  if (wrong == 0) return;
  ADD_FAILURE() << label << "[" << (expected.indices.empty() ? worst : expected.indices[worst]) << "] is "
                << got[worst] << ", not " << values[worst] << " (" << worst_excess
                << " times as far off as allowed); " << wrong << " of " << got.size() << " are wrong";
}
inline void expect(const SuiteRun& run, const reference::Expected& expected) {
  for (const std::string& doubt : expected.doubts) ADD_FAILURE() << run.label() << ": " << doubt;
  for (const reference::Output& output : expected.outputs) expect_output(run, output);
}

/// That bounds are close enough to tell right from wrong: zeros, or results all off by two percent, are out
/// of them somewhere.
inline void expect_close_bounds(const SuiteRun& run, const reference::Output& output) {
  bool zeros = true, zeros_rejected = false, scaled_rejected = false;
  for (size_t i = 0; i < output.values.size(); ++i) {
    const double value = std::abs(output.values[i]);
    zeros &= value == 0;
    zeros_rejected |= value > output.allowed(i);
    scaled_rejected |= 0.02 * value > output.allowed(i);
  }
  if (zeros) return;
  EXPECT_TRUE(zeros_rejected) << run.label() << ": " << output.buffer;
  EXPECT_TRUE(scaled_rejected) << run.label() << ": " << output.buffer;
}

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string test_name(const ::testing::TestParamInfo<SuiteKernel>& test) {
  return test.param.name;
}

} // namespace asmevo::suite
