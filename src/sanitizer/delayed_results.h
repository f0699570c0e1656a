// Runs a kernel as the slowest memory would: what an asynchronous operation brings comes at the last moment
// that the waits allow, and until then its registers hold noise. Global stores and LDS-DMA reach memory as
// late. A wait that is missing then changes what the kernel leaves. The second, independent way to find one:
// it knows nothing of the rules by which the sanitizer and the static check look for them.
#pragma once

#include "emulator/dispatch.h"

#include <functional>
#include <memory>

namespace asmevo::sanitizer {

struct DelayOptions {
  /// LDS writes, too, reach LDS at the wait only and not before the next LDS instruction of any wave. On a
  /// GPU LDS serves the waves of a compute unit in the order their instructions reach it, and shipped kernels
  /// rely on that.
  bool lds_writes = true;
};

class DelayedResults {
 public:
  explicit DelayedResults(const isa::Target&, DelayOptions = {});
  ~DelayedResults();
  DelayedResults(const DelayedResults&) = delete;
  DelayedResults& operator=(const DelayedResults&) = delete;

  /// For emulator::RunOptions::observer.
  std::function<emulator::Observer*(size_t slot)> observers();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace asmevo::sanitizer
