#include "sanitizer/delayed_results.h"

#include "codeobject/code_object.h"
#include "emulator/memory_access.h"
#include "emulator/slots.h"
#include "emulator/workgroup.h"
#include "sanitizer/op_info.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

namespace asmevo::sanitizer {

using emulator::MemoryEvent;
using emulator::MicroOp;
using emulator::Row;
using emulator::Wave;
using program::FlightClass;

namespace {

// The bits of a register that a load writes.
uint32_t loaded_bits(const isa::Instruction& i) {
  if (!i.partial_def) return ~uint32_t{0};
  return i.base_mnemonic.find("_d16_hi") != std::string_view::npos ? 0xffff0000U : 0x0000ffffU;
}

struct PendingRow {
  unsigned row = 0;
  uint64_t lanes = 0;
  uint32_t bits = 0;
  Row value;
};
struct PendingScalar {
  unsigned slot = 0;
  uint32_t value = 0;
};
// Bytes on their way to memory.
struct PendingBytes {
  bool lds = false;
  uint64_t address = 0;
  uint8_t count = 0;
  std::array<uint8_t, 16> before{}, bytes{};
};

struct Operation {
  std::vector<PendingRow> rows;
  std::vector<PendingScalar> scalars;
  std::vector<PendingBytes> memory;
  bool vector_half = false, lds_half = false; // FLAT: which of its two counters have been waited for
};

class Slot final : public emulator::Observer {
 public:
  Slot(const isa::Target& target, const DelayOptions& options) : rules_(target), options_(options) {}

  void workgroup_started(emulator::Workgroup& group) override {
    const emulator::Launch& launch = group.launch();
    accum_offset_ = codeobject::accum_offset(launch.kernel->descriptor, launch.target);
    waves_.clear();
    waves_.resize(launch.waves_per_group);
    noise_ = static_cast<uint32_t>(group.index()) * 0x9e3779b9U;
  }

  void before(Wave& wave, const MicroOp& op) override {
    const OpInfo& info = infos_.of(op, rules_, accum_offset_);
    if (info.waits) wait(wave, info.wait);
    if (!info.flight) return;
    // What the wave itself does in memory it does in order.
    if (*info.flight != FlightClass::Scalar) {
      write_memory(wave, *info.flight);
      write_memory(wave, FlightClass::Flat);
    }
    if (*info.flight == FlightClass::Flat) {
      write_memory(wave, FlightClass::Vmem);
      write_memory(wave, FlightClass::Lds);
    }
    now_ = {};
  }

  void memory(Wave& wave, const MicroOp& op, const MemoryEvent& e) override {
    const bool lds = e.space == isa::MemoryKind::Lds;
    const bool shared = e.space == isa::MemoryKind::Global || e.space == isa::MemoryKind::Buffer;
    if (!e.store || e.atomic || (!lds && !shared)) return;
    if (lds && !options_.lds_writes && !op.instruction->memory.lds_dma) return;
    emulator::for_each_lane(e.lanes, [&](unsigned l) {
      PendingBytes p{lds, e.addresses[l], static_cast<uint8_t>(e.bytes), {}, {}};
      if (read(wave, p, p.before)) now_.memory.push_back(p);
    });
  }

  void after(Wave& wave, const MicroOp& op) override {
    const OpInfo& info = infos_.of(op, rules_, accum_offset_);
    if (wave.state == Wave::State::Ended) {
      for (const FlightClass c : program::flight_classes) write_memory(wave, c);
      return;
    }
    if (!info.flight || wave.state == Wave::State::Faulted) return;
    if (info.brings) hold_registers(wave, info);
    // All of the new before any of the old: lanes may have written the same bytes.
    for (PendingBytes& p : now_.memory) (void)read(wave, p, p.bytes);
    for (const PendingBytes& p : now_.memory) write(wave, p, p.before);
    auto& queue = queues(wave)[static_cast<size_t>(*info.flight)];
    queue.push_back(std::move(now_));
    now_ = {};
    if (queue.size() > program::counter_capacity(*info.flight)) finish(wave, *info.flight, 1);
  }

 private:
  using Queues = std::array<std::deque<Operation>, program::flight_classes.size()>;
  Queues& queues(const Wave& wave) { return waves_[wave.number]; }

  uint32_t noise() { return emulator::noise_bits(++noise_); }

  void hold_registers(Wave& wave, const OpInfo& info) {
    const uint32_t bits = loaded_bits(*info.op->instruction);
    info.defs.for_each([&](unsigned u) {
      if (!is_row(u)) {
        uint32_t& value = wave.scalars[u - row_units];
        now_.scalars.push_back({u - row_units, value});
        value = noise();
        return;
      }
      Row& row = wave.vectors[u];
      now_.rows.push_back({u, wave.exec(), bits, row});
      emulator::for_each_lane(wave.exec(),
                              [&](unsigned l) { row.lane[l] = (row.lane[l] & ~bits) | (noise() & bits); });
    });
  }

  static bool read(const Wave& wave, const PendingBytes& p, std::array<uint8_t, 16>& into) {
    if (!p.lds) return wave.memory->read(p.address, std::span(into).first(p.count)).has_value();
    if (p.address + p.count > wave.lds_bytes) return false;
    std::memcpy(into.data(), wave.lds + p.address, p.count);
    return true;
  }
  static void write(const Wave& wave, const PendingBytes& p, const std::array<uint8_t, 16>& from) {
    if (p.lds)
      std::memcpy(wave.lds + p.address, from.data(), p.count);
    else
      (void)wave.memory->guest_write(p.address, from.data(), p.count); // written once already
  }

  void write_memory(Wave& wave, FlightClass c) {
    for (Operation& o : queues(wave)[static_cast<size_t>(c)]) {
      for (const PendingBytes& p : o.memory) write(wave, p, p.bytes);
      o.memory.clear();
    }
  }

  // The oldest `count` operations of a class.
  void finish(Wave& wave, FlightClass c, size_t count) {
    auto& queue = queues(wave)[static_cast<size_t>(c)];
    for (; count != 0; --count) {
      Operation o = std::move(queue.front());
      queue.pop_front();
      for (const PendingBytes& p : o.memory) write(wave, p, p.bytes);
      for (const PendingScalar& s : o.scalars) wave.scalars[s.slot] = s.value;
      for (const PendingRow& r : o.rows)
        emulator::for_each_lane(r.lanes, [&](unsigned l) {
          uint32_t& value = wave.vectors[r.row].lane[l];
          value = (value & ~r.bits) | (r.value.lane[l] & r.bits);
        });
    }
  }

  void wait(Wave& wave, const isa::WaitcntFields& fields) {
    for (const FlightClass c : {FlightClass::Vmem, FlightClass::Lds, FlightClass::Scalar})
      complete(wave, c, program::left_in_flight(fields, c));
    // Only both counters at 0 prove that a FLAT operation is complete.
    auto& flat = queues(wave)[static_cast<size_t>(FlightClass::Flat)];
    for (Operation& o : flat) o.vector_half |= fields.vmcnt == 0, o.lds_half |= fields.lgkmcnt == 0;
    while (!flat.empty() && flat.front().vector_half && flat.front().lds_half)
      finish(wave, FlightClass::Flat, 1);
  }

  void complete(Wave& wave, FlightClass c, unsigned n) {
    const size_t size = queues(wave)[static_cast<size_t>(c)].size();
    if (size > n && (n == 0 || program::in_order(c))) finish(wave, c, size - n);
  }

  isa::HazardRules rules_;
  const DelayOptions& options_;
  unsigned accum_offset_ = 256;
  OpInfos infos_;
  std::vector<Queues> waves_;
  Operation now_;
  uint32_t noise_ = 0;
};

} // namespace

class DelayedResults::Impl {
 public:
  Impl(const isa::Target& target, DelayOptions options) : target_(target), options_(options) {}
  emulator::Observer* observer(size_t slot) {
    return &slots_.at(slot, [this] { return std::make_shared<Slot>(target_, options_); });
  }

 private:
  isa::Target target_;
  DelayOptions options_;
  emulator::Slots<Slot> slots_;
};

DelayedResults::DelayedResults(const isa::Target& target, DelayOptions options)
    : impl_(std::make_unique<Impl>(target, options)) {}
DelayedResults::~DelayedResults() = default;

std::function<emulator::Observer*(size_t)> DelayedResults::observers() {
  return [this](size_t slot) { return impl_->observer(slot); };
}

} // namespace asmevo::sanitizer
