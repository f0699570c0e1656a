// Wait states between the instructions that one wave executes (isa/hazards.h has the rules).
//
// What an instruction may be too close to are the last twenty or so before it, and these follow from where it
// stands and from the jumps on the way. So each instruction is looked at once for each way control has
// reached it, and a loop costs no more than its first rounds.
#pragma once

#include "sanitizer/op_info.h"

#include <array>
#include <functional>

namespace asmevo::sanitizer {

class WaitStates {
 public:
  struct Broken {
    const OpInfo* first = nullptr;
    isa::Hazard hazard;
    unsigned missing = 0;
    bool possible = false; // of a contested rule
  };
  using Report = std::function<void(const Broken&)>;

  void clear();
  /// The wave is about to execute the instruction. False: control has come to it on a new way, and look() is
  /// called for.
  bool arrive(OpInfo& info) {
    if (info.op->pc != next_pc_ || executed_ >= way_until_) [[unlikely]]
      find_way(info.op->pc);
    if (way_ == 0 ? info.seen_straight : info.seen_last == way_) [[likely]]
      return true;
    return been_here(info);
  }
  /// `report` is called for each rule that it breaks.
  void look(const OpInfo&, const isa::HazardRules&, const isa::Target&, const Report& report) const;
  /// `known`: false where it goes by other registers than it names (VGPR indexing): nothing is known of it.
  void execute(const OpInfo& info, bool known = true) {
    recent_[executed_ % depth] = {known ? &info : nullptr, states_};
    ++executed_;
    states_ += info.wait_states;
    next_pc_ = info.op->pc + info.op->dwords * 4U;
  }

 private:
  static constexpr size_t depth = 32; // a power of two beyond isa::max_hazard_wait_states
  struct Recent {
    const OpInfo* info = nullptr;
    uint64_t at = 0; // wait states executed before it
  };
  struct Jump {
    uint64_t instruction = 0; // how many were executed before the target
    uint64_t key = 0;         // of where it came from and went
  };
  void find_way(uint64_t pc);
  bool been_here(OpInfo&) const;
  isa::Hazard across_dgemm(const Recent& first, unsigned since, const OpInfo& second,
                           const isa::HazardRules&) const;
  bool written_since(const Recent& first, const isa::RegRange& accumulator) const;
  std::array<Recent, depth> recent_{};
  std::array<Jump, depth> jumps_{};
  uint64_t executed_ = 0, states_ = 0, jump_count_ = 0;
  uint64_t next_pc_ = 0;
  // The jumps among the last instructions as one number; 0: none. It holds until so many are executed.
  uint64_t way_ = 0, way_until_ = 0;
};

} // namespace asmevo::sanitizer
