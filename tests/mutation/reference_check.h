// A candidate for a kernel of the suite against its reference in double precision: at most twice as far off
// as K0.
#pragma once

#include "device/emulated_device.h"
#include "oracle/subject.h"
#include "reference/suite_inputs.h"

#include <memory>
#include <string>
#include <vector>

namespace asmevo::mutation {

class ReferenceCheck {
 public:
  /// Runs K0's whole launch and the reference at the small shapes of kernels/suite/<name>.toml.
  static Result<std::unique_ptr<ReferenceCheck>> make(const std::string& name,
                                                      std::shared_ptr<const oracle::Subject> k0);
  /// Empty: near enough. Otherwise which output at which shape is how far off.
  std::string judge(const std::shared_ptr<const oracle::Subject>& candidate) const;

 private:
  // A launch that has run.
  struct Launch {
    std::unique_ptr<oracle::LaunchPlan> plan;
    std::unique_ptr<device::EmulatedDevice> device;
    std::unique_ptr<oracle::LaunchMemory> memory;
  };
  struct Shape {
    std::string name;
    Launch k0;
    reference::Expected expected;
  };
  Result<Launch> run(const std::string& shape, const std::shared_ptr<const oracle::Subject>&) const;

  oracle::LaunchSpec spec_;
  isa::Target target_;
  std::vector<Shape> shapes_;
};

} // namespace asmevo::mutation
