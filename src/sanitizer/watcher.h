// Watches the workgroups that run in one place, one after another: an emulator::Observer.
#pragma once

#include "emulator/observer.h"
#include "emulator/workgroup.h"
#include "sanitizer/collector.h"
#include "sanitizer/in_flight.h"
#include "sanitizer/lds_shadow.h"
#include "sanitizer/sanitizer.h"
#include "sanitizer/wait_states.h"

#include <memory>
#include <vector>

namespace asmevo::sanitizer {

class Watcher final : public emulator::Observer {
 public:
  Watcher(const isa::Target& target, const Options& options, Collector& collector)
      : target_(target), options_(options), collector_(collector), rules_(target) {}

  void workgroup_started(emulator::Workgroup&) override;
  void workgroup_ended(emulator::Workgroup&) override;
  uint64_t run(emulator::Wave&, emulator::Code&, uint64_t budget) override;
  void before(emulator::Wave&, const emulator::MicroOp&) override;
  void memory(emulator::Wave&, const emulator::MicroOp&, const emulator::MemoryEvent&) override;
  void after(emulator::Wave&, const emulator::MicroOp&) override;
  void barrier(emulator::Workgroup&) override;
  /// Of a workgroup that has not come to its end: what there is of it.
  void give_up();

 private:
  // What is known of one wave.
  struct WaveWatch {
    InFlight flight;
    WaitStates states;
    UnitSet unknown;               // units that are not written in all lanes
    std::vector<uint64_t> written; // of each row, the lanes that are
    const OpInfo* at_barrier = nullptr;
    uint64_t operations = 0;
  };
  // LDS-DMA in flight: its bytes are in nobody's hands.
  struct DmaWrite {
    const OpInfo* info = nullptr;
    uint32_t wave = 0;
    uint64_t number = 0;                              // of the wave's operations
    std::vector<std::pair<uint64_t, uint64_t>> bytes; // from, to
  };
  // A byte of LDS written that another wave has written, to be looked at when that is done: it may change
  // nothing.
  struct WriteConflict {
    LdsShadow::Conflict with;
    uint8_t before = 0;
  };

  // LDS-DMA where another wave's is in flight.
  struct DmaConflict {
    RawDefect defect;
    std::vector<std::pair<uint32_t, uint8_t>> before; // bytes that both write, and what is there
  };

  OpInfo& info_of(const emulator::MicroOp& op) { return infos_.of(op, rules_, accum_offset_); }
  void start_wave_watch(WaveWatch&, uint32_t number, const emulator::Workgroup&);
  void look_at(emulator::Wave&, WaveWatch&, OpInfo&);
  void check_wait_states(const emulator::Wave&, WaveWatch&, OpInfo&);
  void check_flight(emulator::Wave&, WaveWatch&, const OpInfo&);
  void check_unknown(emulator::Wave&, WaveWatch&, const OpInfo&);
  void define(const emulator::Wave&, WaveWatch&, const OpInfo&);
  void check_lanes(emulator::Wave&, const OpInfo&);
  void lds_access(emulator::Wave&, const OpInfo&, const emulator::MemoryEvent&);
  RawDefect dma_defect(const emulator::Wave&, const OpInfo&, const DmaWrite&, uint64_t at,
                       unsigned lane) const;
  void check_dma(emulator::Wave&, const OpInfo&, const emulator::MemoryEvent&);
  void settle_conflicts(const emulator::Wave&, const OpInfo&);
  void retire_dma(uint32_t wave, const InFlight&);
  void report_lds(const emulator::Wave&, const OpInfo&, const LdsShadow::Conflict&, bool write,
                  bool possible);

  /// `first`: the other instruction, if any.
  RawDefect defect(DefectKind, std::string rule, bool possible, const OpInfo* first, const OpInfo& second,
                   const emulator::Wave&) const;
  void add(RawDefect d);
  uint64_t pc_of(const OpInfo& i) const { return i.op->pc - bias_; }

  isa::Target target_;
  const Options& options_;
  Collector& collector_;
  isa::HazardRules rules_;

  uint64_t bias_ = 0;
  unsigned accum_offset_ = 256, rows_ = 512;
  OpInfos infos_;
  OpInfo indexed_; // with VGPR indexing on

  uint64_t workgroup_ = 0;
  std::vector<WaveWatch> waves_;
  LdsShadow lds_;
  std::vector<DmaWrite> dma_;
  std::vector<WriteConflict> conflicts_; // of the instruction under way
  std::vector<DmaConflict> dma_conflicts_;
  std::unique_ptr<WorkgroupTouches> touches_;
  RawDefects defects_;
};

} // namespace asmevo::sanitizer
