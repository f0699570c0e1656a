// The code of one kernel, translated on demand: MicroOps by guest address. Branches may go anywhere in the
// section, so an instruction is decoded when it is first reached, and stays. Safe to use from many threads.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "emulator/translate.h"
#include "isa/codec.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace asmevo::emulator {

class Code {
 public:
  /// `text` must outlive the Code. Environment where LLVM lacks the target.
  static Result<std::unique_ptr<Code>> create(ByteSpan text, uint64_t address, const RegisterLayout&);
  /// With a codec of the layout's target that nobody else uses while this Code does.
  Code(ByteSpan text, uint64_t address, const RegisterLayout& layout, std::shared_ptr<isa::Codec> codec);

  /// The instruction at `pc`, or null outside the code or off a dword boundary.
  const MicroOp* at(uint64_t pc) { return (pc & 3) != 0 ? nullptr : at_index((pc - address_) / 4); }
  /// The same by MicroOp::index; null beyond the end.
  const MicroOp* at_index(uint64_t index) {
    if (index >= ops_.size()) [[unlikely]]
      return nullptr;
    const MicroOp* op = ops_[index].load(std::memory_order_acquire);
    return op != nullptr ? op : translate_at(index);
  }

  uint64_t address() const { return address_; }
  uint64_t size() const { return text_.size(); }
  /// "v_add_f32_e32 v0, v1, v2"
  std::string print(const MicroOp&);

 private:
  const MicroOp* translate_at(uint64_t index);

  ByteSpan text_;
  uint64_t address_;
  RegisterLayout layout_;
  std::mutex mutex_; // the codec and the two below
  std::shared_ptr<isa::Codec> codec_;
  std::deque<MicroOp> translated_;
  std::vector<std::atomic<const MicroOp*>> ops_; // one a dword
};

} // namespace asmevo::emulator
