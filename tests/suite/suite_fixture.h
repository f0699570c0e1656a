// Runs a kernel of the suite as its launch file says, on the emulator, and compares what it computes with a
// reference in double precision.
#pragma once

#include "base/files.h"
#include "device/emulated_device.h"
#include "full_run.h"
#include "oracle/launch_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace asmevo::suite {

/// One run of kernels/suite/<name>.toml.
class SuiteRun {
 public:
  struct Options {
    std::string name, shape, target = "gfx942";
    uint64_t seed = 0;
    std::function<void(oracle::LaunchSpec&)> change = {}; // of the launch file
    std::vector<std::string> workgroups = {}; // only these by linear index, as expressions; none: all
  };

  explicit SuiteRun(const Options& options) : options_(options) { result_ = run(); }

  /// Of the launch: all kernels went to their end, nothing beside the buffers was touched.
  bool completed() const { return result_ && report_.outcome.completed() && report_.notes.empty(); }
  std::string error() const {
    if (!result_) return result_.error().message;
    if (!report_.outcome.completed()) return report_.outcome.text;
    return report_.notes.empty() ? "" : report_.notes.front();
  }
  const oracle::LaunchReport& report() const { return report_; }
  std::string label() const { return options_.name + " " + options_.shape + " " + options_.target; }

  /// A number of [sizes] for the shape.
  size_t size(const std::string& name) const {
    return static_cast<size_t>(
        oracle::evaluate_integer(name, plan_.sizes, 0, std::numeric_limits<int64_t>::max()).value());
  }
  /// Elements of a buffer, as they are now: all, or some of them.
  std::vector<double> values(const std::string& buffer) const {
    return values(buffer, 0, plan_.buffers[plan_.find(buffer).value()].layout.count());
  }
  std::vector<double> values(const std::string& buffer, size_t first, size_t count) const {
    const size_t index = plan_.find(buffer).value();
    const oracle::Layout& layout = plan_.buffers[index].layout;
    const auto codes = memory_->codes(index, first, count).value();
    std::vector<double> list(codes.size());
    for (size_t i = 0; i < list.size(); ++i) list[i] = oracle::decode(layout.type(), codes[i]);
    return list;
  }

 private:
  Status run() {
#ifdef ASMEVO_SUITE_MISSING
    return environment_error(ASMEVO_SUITE_MISSING);
#endif
    const std::string object_path =
        std::string(ASMEVO_BINARY_DIR) + "/kernels/suite/" + options_.name + "." + options_.target + ".co";
    ASMEVO_TRY(Bytes bytes, read_file(object_path));
    ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
    ASMEVO_TRY(oracle::LaunchSpec spec,
               oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + options_.name +
                                        ".toml"));
    if (options_.change) options_.change(spec);
    ASMEVO_TRY(plan_, oracle::LaunchPlan::make(std::move(spec), options_.shape, options_.seed));
    device::EmulatorOptions emulator;
    for (const std::string& workgroup : options_.workgroups) emulator.workgroups.push_back(size(workgroup));
    ASMEVO_TRY(device_, device::EmulatedDevice::create(object.target(), std::move(emulator)));
    ASMEVO_TRY(module_, device_->load(std::make_shared<const codeobject::CodeObject>(std::move(object))));
    ASMEVO_TRY(memory_, oracle::LaunchMemory::create(plan_, *device_));
    ASMEVO_TRY(report_, oracle::run_launch(plan_, *memory_, *module_));
    return {};
  }

  Options options_;
  Status result_;
  oracle::LaunchPlan plan_;
  std::unique_ptr<device::EmulatedDevice> device_;
  std::shared_ptr<device::Module> module_;
  std::unique_ptr<oracle::LaunchMemory> memory_;
  oracle::LaunchReport report_;
};

/// Every element within `absolute + relative * |reference|`. NaN equals NaN, an infinity itself.
inline void expect_close(const std::string& label, const std::vector<double>& got,
                         const std::vector<double>& reference, double relative, double absolute = 0) {
  ASSERT_EQ(got.size(), reference.size()) << label;
  size_t wrong = 0, worst = 0;
  double worst_excess = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == reference[i] || (std::isnan(got[i]) && std::isnan(reference[i]))) continue;
    const double allowed = absolute + relative * std::abs(reference[i]);
    const double excess = std::abs(got[i] - reference[i]) / allowed;
    if (excess <= 1) continue;
    if (wrong++ == 0 || !(excess <= worst_excess)) worst = i, worst_excess = excess;
  }
  EXPECT_EQ(wrong, 0U) << label << "[" << worst << "] is " << got[worst] << ", not " << reference[worst];
}
inline void expect_close(const SuiteRun& run, const std::string& buffer, const std::vector<double>& reference,
                         double relative, double absolute = 0) {
  expect_close(run.label() + ": " + buffer, run.values(buffer), reference, relative, absolute);
}

using test::full_run;

/// Where a kernel is run: a shape of its launch file, on a target.
struct Place {
  const char *shape, *target;
};
inline const std::vector<Place> all_targets{
    {"tiny", "gfx942"}, {"odd", "gfx942"}, {"tiny", "gfx90a"}, {"tiny", "gfx950"}};

/// Runs a kernel at all places, and in full runs at the shape `search` on the first one's target; `tiny` must
/// be small.
inline void on(const std::string& name, std::vector<Place> places,
               const std::function<void(const SuiteRun&, const Place&)>& check) {
  if (full_run()) places.push_back({"search", places.front().target});
  for (const Place& place : places) {
    const SuiteRun run({name, place.shape, place.target});
    ASSERT_TRUE(run.completed()) << run.label() << ": " << run.error();
    if (std::string(place.shape) == "tiny") {
      EXPECT_LE(run.report().outcome.instructions, 100'000U) << run.label();
    }
    check(run, place);
  }
}
inline void on_all(const std::string& name, const std::function<void(const SuiteRun&)>& check) {
  on(name, all_targets, [&](const SuiteRun& run, const Place&) { check(run); });
}

} // namespace asmevo::suite
