#include "oracle/write_recorder.h"

#include "emulator/memory_access.h"

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
    emulator::for_each_lane(e.lanes, [&](unsigned l) { mark(e.addresses[l], e.bytes); });
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
  return &slots_.at(slot, [] { return std::make_shared<Slot>(); });
}

bool WriteRecorder::wrote(uint64_t address, uint64_t bytes) const {
  bool any = false;
  slots_.for_each([&](const Slot& slot) {
    for (uint64_t i = 0; i < bytes && !any; ++i) any = slot.wrote(address + i);
  });
  return any;
}

} // namespace asmevo::oracle
