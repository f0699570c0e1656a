#include "oracle/write_recorder.h"

#include <bit>

namespace asmevo::oracle {

namespace {

constexpr uint64_t page = 4096;

} // namespace

class WriteRecorder::Slot final : public emulator::Observer {
 public:
  void memory(emulator::Wave&, const emulator::MicroOp&, const emulator::MemoryEvent& e) override {
    using isa::MemoryKind;
    if ((!e.store && !e.atomic) || e.space == MemoryKind::Lds || e.space == MemoryKind::Scratch ||
        e.space == MemoryKind::Gds)
      return;
    if (e.space == MemoryKind::Scalar) return mark(e.addresses[0], e.bytes);
    for (uint64_t lanes = e.lanes; lanes != 0; lanes &= lanes - 1)
      mark(e.addresses[std::countr_zero(lanes)], e.bytes);
  }
  bool wrote(uint64_t address) const {
    const auto found = pages_.find(address / page);
    return found != pages_.end() && found->second.test(address % page);
  }

 private:
  void mark(uint64_t address, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i) pages_[(address + i) / page].set((address + i) % page);
  }
  std::unordered_map<uint64_t, std::bitset<page>> pages_;
};

emulator::Observer* WriteRecorder::observer(size_t slot) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<Slot>& made = slots_[slot];
  if (!made) made = std::make_shared<Slot>();
  return made.get();
}

bool WriteRecorder::wrote(uint64_t address, uint64_t bytes) const {
  for (const auto& [number, slot] : slots_)
    for (uint64_t i = 0; i < bytes; ++i)
      if (slot->wrote(address + i)) return true;
  return false;
}

} // namespace asmevo::oracle
