// Which bytes of memory a run wrote, to the byte: a value that is what was there before does not say whether
// somebody wrote it.
#pragma once

#include "emulator/observer.h"
#include "emulator/slots.h"

#include <bitset>
#include <functional>
#include <memory>
#include <unordered_map>

namespace asmevo::oracle {

class WriteRecorder {
 public:
  /// What watches the workgroups of one slot.
  emulator::Observer* observer(size_t slot);
  /// The same for emulator::RunOptions.
  std::function<emulator::Observer*(size_t slot)> observers() {
    return [this](size_t slot) { return observer(slot); };
  }
  /// Any of these bytes. After the run.
  bool wrote(uint64_t address, uint64_t bytes) const;

 private:
  class Slot;
  emulator::Slots<Slot> slots_;
};

} // namespace asmevo::oracle
