// A kernel's report from the cycle model, with everything that it points to.
#pragma once

#include "profile/kernel_report.h"

namespace asmevo::profile {

class ModelledReport {
 public:
  /// `times` are of the same traces and kernel; `code` and all others must outlive the result. `windows`: hot
  /// windows, at most.
  ModelledReport(const KernelCode& code, isa::Codec&, const oracle::LaunchTraces&, const oracle::LaunchTime&,
                 const KernelProfile& times, const timing::MachineModel&,
                 size_t windows = HotWindowOptions().windows);
  ModelledReport(const ModelledReport&) = delete;

  const KernelReport& report() const { return report_; }
  const WindowContext& context() const { return context_; }

 private:
  CodePath path_;
  RegisterPressure pressure_;
  WindowContext context_;
  KernelReport report_;
};

} // namespace asmevo::profile
