#include "emulator/code.h"

namespace asmevo::emulator {

Code::Code(ByteSpan text, uint64_t address, const RegisterLayout& layout, std::shared_ptr<isa::Codec> codec)
    : text_(text), address_(address), layout_(layout), codec_(std::move(codec)), ops_(text.size() / 4) {}

Result<std::unique_ptr<Code>> Code::create(ByteSpan text, uint64_t address, const RegisterLayout& layout) {
  ASMEVO_TRY(auto codec, isa::Codec::borrow(layout.target));
  return std::make_unique<Code>(text, address, layout, std::move(codec));
}

const MicroOp* Code::translate_at(uint64_t index) {
  const std::scoped_lock lock(mutex_);
  if (const MicroOp* op = ops_[index].load(std::memory_order_relaxed)) return op;
  const isa::Instruction* instruction = codec_->decode(text_.subspan(index * 4));
  if (instruction == nullptr) return nullptr;
  translated_.push_back(translate(*instruction, address_ + index * 4, layout_));
  translated_.back().index = static_cast<uint32_t>(index);
  const MicroOp* op = &translated_.back();
  ops_[index].store(op, std::memory_order_release);
  return op;
}

std::string Code::print(const MicroOp& op) {
  const std::scoped_lock lock(mutex_);
  return codec_->print(*op.instruction);
}

} // namespace asmevo::emulator
