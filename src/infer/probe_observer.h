// Watches a probe run: follows where values come from, from register to register and through LDS, and notes
// what instructions take them for.
#pragma once

#include "emulator/observer.h"
#include "emulator/workgroup.h"
#include "infer/observations.h"

#include <array>
#include <bitset>
#include <memory>

namespace asmevo::infer {

/// Where the region of a pointer lies, and where in it the pointer points: far from one another, with room
/// in front.
inline constexpr uint64_t region_bytes = uint64_t{1} << 38, region_lead = uint64_t{1} << 34;
inline constexpr uint64_t region_start(unsigned region) {
  return uint64_t{region + 1} << 40;
}
inline constexpr uint64_t region_pointer(unsigned region) {
  return region_start(region) + region_lead;
}

/// For runs on one thread: what is read before it is written depends on the order of workgroups.
class ProbeObserver final : public emulator::Observer {
 public:
  /// `pointers`: the regions that pointers at dwords of the kernarg segment point to. A run that touches more
  /// than `most_pages` pages is ended.
  ProbeObserver(std::map<Source, unsigned> pointers, size_t most_pages)
      : pointers_(std::move(pointers)), most_pages_(most_pages) {}

  void before(emulator::Wave&, const emulator::MicroOp&) override;
  void memory(emulator::Wave&, const emulator::MicroOp&, const emulator::MemoryEvent&) override;
  void after(emulator::Wave&, const emulator::MicroOp&) override;
  void workgroup_started(emulator::Workgroup&) override;

  Observations take() { return std::move(seen_); }

 private:
  struct Operand {
    unsigned role = 0; // 0 to 4: Src0 to Src4
    isa::RegRange reg; // count 0: a constant
    uint64_t value = 0;
  };
  // What need not be worked out each time an instruction runs.
  struct Plan {
    ValueUse use;
    std::vector<Operand> sources;
    isa::RegRange result; // count 0: none
    std::vector<isa::RegRange> other_results, reads;
    std::vector<isa::RegRange> address, index; // of memory: base (a pair), what is added to it
    isa::RegRange data;                        // stored
    isa::RegRange data1;
    ValueType atomic = ValueType::None;
    Part loaded_part = Part::Whole;
    Evidence evidence;
  };
  struct WaveState {
    const emulator::Workgroup* group = nullptr;
    std::array<LaneShadow, isa::unit::count> registers;
    std::unordered_map<uint32_t, Shadow> kept_lanes; // written by v_writelane: unit * 64 + lane
  };
  struct GroupState {
    std::vector<Shadow> lds; // by dword
    std::vector<WaveState> waves;
  };
  struct WrittenPage {
    std::bitset<emulator::page_bytes> written, read;
  };

  const Plan& plan_of(const emulator::Wave&, const emulator::MicroOp&);
  void plan_memory(const isa::Instruction&, Plan&) const;
  void start_wave(const emulator::Wave&);
  WaveState& state_of(const emulator::Wave&);

  Shadow read(isa::RegUnit);
  Shadow read(const isa::RegRange&);
  void write(isa::RegUnit, const Shadow&);
  uint64_t constant_of(const emulator::Wave&, const Operand&) const;
  SourceSet everything(const Plan&);
  SourceSet of_lower_halves(const Plan&);

  // Arithmetic
  bool move_lane(const emulator::Wave&, const isa::Instruction&, const Plan&);
  void run_alu(const emulator::Wave&, const emulator::MicroOp&, const Plan&);
  void vote(const Shadow&, ValueType, TypeVotes::Strength, const Evidence&);
  void vote_sources(const Plan&);
  Shadow moved(const Plan&, unsigned unit);
  Shadow with_bits(const emulator::Wave&, const isa::Instruction&, const Plan&, unsigned unit);
  Shadow part_of(const emulator::Wave&, const isa::Instruction&, const Plan&, const Operand&, Shadow);
  void vote_wide_shift(const emulator::Wave&, const Plan&);
  Shadow sum(const emulator::Wave&, const Plan&, unsigned unit);
  Shadow computed(const Plan&, unsigned unit);

  // Memory
  void look_at_address(const emulator::Wave&, const emulator::MicroOp&, const Plan&);
  void find_base(const emulator::Wave&, const isa::RegRange& pair, const Plan&);
  std::optional<unsigned> region_of(uint64_t address) const;
  void touch(unsigned region, uint64_t address, unsigned bytes, const emulator::MemoryEvent&, const Plan&);
  void note_stored(unsigned region, const Plan&, bool narrow);
  Shadow narrowed(const Shadow&, const isa::Instruction&, unsigned bytes) const;
  void finish_load(const emulator::Wave&, const emulator::MicroOp&, const Plan&);
  void move_lds(emulator::Wave&, const emulator::MicroOp&, const emulator::MemoryEvent&, const Plan&);

  std::map<Source, unsigned> pointers_;
  size_t most_pages_;
  SourceSets sets_;
  Observations seen_;
  std::unordered_map<const isa::Instruction*, std::unordered_map<uint64_t, Plan>> plans_;
  std::unordered_map<const emulator::Workgroup*, GroupState> groups_;
  std::unordered_map<uint64_t, Shadow> scratch_;
  std::unordered_map<uint64_t, WrittenPage> pages_;
  // Of the instruction that is running:
  WaveState* wave_ = nullptr;
  uint64_t lanes_ = 0;             // that it reads and writes
  std::optional<unsigned> region_; // that its base address points to
  std::vector<unsigned> bases_;    // regions of the pointers that are summands of its base address
  SourceSet loaded_ = 0;           // sources of loaded data
  std::vector<Source> placed_by_;  // regions that its addresses depend on
  std::vector<Shadow> loaded_dwords_;
};

} // namespace asmevo::infer
