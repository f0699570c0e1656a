// Which bytes of memory a run wrote, to the byte: a value that is what was there before does not say whether
// somebody wrote it.
#pragma once

#include "emulator/observer.h"

#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace asmevo::oracle {

class WriteRecorder {
 public:
  /// The observer of one thread of a run.
  emulator::Observer* observer(unsigned worker);
  /// The same for emulator::RunOptions.
  std::function<emulator::Observer*(unsigned worker)> observers() {
    return [this](unsigned worker) { return observer(worker); };
  }
  /// Any of these bytes. After the run.
  bool wrote(uint64_t address, uint64_t bytes) const;

 private:
  class Worker;
  std::mutex mutex_;
  std::map<unsigned, std::shared_ptr<Worker>> workers_;
};

} // namespace asmevo::oracle
