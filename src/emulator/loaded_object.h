// A code object in guest memory: its segments mapped and relocated, as the loader does before a launch
// (AMDGPUUsage, "Relocation Records"; System V gABI).
#pragma once

#include "codeobject/code_object.h"
#include "emulator/address_space.h"
#include "emulator/code.h"

#include <map>
#include <memory>
#include <mutex>

namespace asmevo::emulator {

class LoadedObject {
 public:
  /// Maps the object's segments at addresses that keep their distances; `at` 0 chooses a free place.
  /// BadInput: segments that do not fit the address space. Unsupported: a relocation of a kind the loader
  /// does not know, or against a symbol that the object does not define.
  static Result<std::unique_ptr<LoadedObject>> load(std::shared_ptr<const codeobject::CodeObject>,
                                                    AddressSpace&, uint64_t at = 0);

  const codeobject::CodeObject& object() const { return *object_; }
  /// Guest address minus address in the object.
  uint64_t bias() const { return bias_; }
  /// The code that `kernel` runs in, ready to execute; made once for each register layout. Thread-safe.
  Result<Code*> code(const codeobject::Kernel& kernel);

 private:
  LoadedObject() = default;
  Status map_segments(AddressSpace&, uint64_t at);
  Status relocate(AddressSpace&) const;

  std::shared_ptr<const codeobject::CodeObject> object_;
  uint64_t bias_ = 0;
  std::mutex mutex_;
  // section, accum_offset, allocated VGPRs
  std::map<std::tuple<size_t, unsigned, unsigned>, std::unique_ptr<Code>> codes_;
};

} // namespace asmevo::emulator
