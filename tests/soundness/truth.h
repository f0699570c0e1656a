// Whether a candidate really is wrong, found out without the gates: it is run beside K0 on the emulator with
// inputs of the test's own, and what both leave is compared element by element with a bound far above any
// rounding. A defect that does not show so is not counted as planted.
#pragma once

#include "oracle/case_run.h"
#include "oracle/input_variants.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace asmevo::soundness {

class Truth {
 public:
  /// BadInput: K0 does not complete on its own small shapes.
  static Result<std::unique_ptr<Truth>> make(const std::filesystem::path& launch, const std::string& kernel,
                                             std::shared_ptr<const oracle::Subject> k0);

  using Subject = std::shared_ptr<const oracle::Subject>;
  /// What is grossly wrong, in a line: an element, or how the run ended. Empty: nothing.
  std::string wrong(const Subject& candidate) const;
  /// A NaN of K0 that the candidate has not, with inputs that hold some here and there. Empty: none.
  std::string hidden_nan(const Subject& candidate) const;
  /// What differs where results of loads and LDS come as late as the waits allow
  /// (sanitizer/delayed_results.h).
  std::string wrong_when_delayed(const Subject& candidate) const;
  /// The same as wrong() on one case of K0.
  static std::string wrong_on(const oracle::Case&, const Subject& k0, const Subject& candidate);

  /// Buffers that K0 both reads and writes.
  bool works_in_place() const { return in_place_; }

 private:
  struct Run {
    oracle::Case dispatch;
    oracle::CaseRun left, delayed; // by K0
  };
  Status add_cases(const std::filesystem::path& launch, const std::string& kernel, const Subject& k0);
  Status run_delayed(const Subject& k0);

  std::vector<Run> plain_, special_;
  bool lds_writes_delayed_ = true, in_place_ = false;
};

} // namespace asmevo::soundness
