// Watches a run for mistakes that it does not suffer from itself, because the emulator completes everything
// at once and runs workgroups and waves in some order that is convenient: registers used while a load is in
// flight, missing wait states, races, reads of what nobody has written. docs/sanitizer.md says what each rule
// rests on and what it cannot see.
//
// One Session watches one launch; the result does not depend on the number of threads.
#pragma once

#include "emulator/dispatch.h"
#include "sanitizer/defect.h"

#include <functional>
#include <memory>

namespace asmevo::sanitizer {

struct Options {
  bool in_flight = true, wait_states = true, lds = true, global = true, uninitialised = true,
       convergence = true;
  bool possible = true; // what a run cannot settle, too
  /// The workgroups that are run, as emulator::RunOptions has them; empty: all, in ascending order.
  std::vector<uint64_t> workgroups = {};
};

class Session {
 public:
  explicit Session(const isa::Target&, Options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// For emulator::RunOptions::observer.
  std::function<emulator::Observer*(size_t slot)> observers();
  /// After the run. Environment where LLVM lacks the target.
  Result<Defects> take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace asmevo::sanitizer
