// `optimize` for a folder of kernels: a run folder for each, one after another, and what is known of them all
// in one file, so that the whole goes on after being stopped or killed at any moment.
//
//   batch.json            what was asked for; the kernels, and why those that failed did
//   <name>/               the run of a kernel (run/run_folder.h)
//   <name>.launch.toml    its launch, where that was inferred
//   lock                  held by the process that works on the batch
//
// One kernel that fails is recorded and does not stop the others.
#pragma once

#include "search/batch_input.h"
#include "search/optimization.h"

namespace asmevo::search {

/// Why there is no result for a kernel.
struct BatchFailure {
  int exit_code = 2; // of `optimize` on this kernel alone
  std::string reason;
};

struct BatchKernel {
  BatchInput input;
  std::string name;      // of its run folder
  std::string same_as;   // name of another kernel whose run stands for this one's; empty: it has its own
  bool finished = false; // its run came to its end with `given`, or to where no budget would help it
  Budget given;
  std::optional<BatchFailure> failure;
};

struct Batch {
  std::filesystem::path folder; // of the inputs; absolute
  std::string command;          // for people
  BatchSelection selection;
  OptimizationSettings settings; // of each run; budget: of each kernel
  std::vector<BatchKernel> kernels;

  gate::Json json() const;
  static Batch from_json(const gate::Json&);

  static bool is_there(const std::filesystem::path& runs);
  /// BadInput: no batch, or not one of this version.
  static Result<Batch> read(const std::filesystem::path& runs);
  Status write(const std::filesystem::path& runs) const;
};
/// Whether a process works on it.
bool batch_in_use(const std::filesystem::path& runs);

struct BatchHooks {
  const std::atomic<bool>* interrupted = nullptr;
  /// Before a kernel's run; number: from 1, of those that have runs of their own.
  std::function<OptimizationHooks(const BatchKernel&, size_t number, size_t of)> begin = {};
  /// After it, also where it failed or was interrupted; batch.json says so by then.
  std::function<void(const Batch&, const BatchKernel&)> end = {};
};

/// Starts a batch in the folder `runs`, or goes on with the one that is there; kernels that came to the
/// folder since are taken in. Of an interrupted one, what is there. BadInput: no code object; `runs` is no
/// batch, or one with other settings (the budget apart). Environment: batch.json cannot be written; another
/// process works on it.
Result<Batch> optimize_batch(const std::filesystem::path& runs, Batch, const BatchHooks&);

} // namespace asmevo::search
