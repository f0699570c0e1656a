// What the sanitizer needs to know of an instruction, worked out once for each that a run reaches.
#pragma once

#include "emulator/micro_op.h"
#include "isa/hazards.h"
#include "program/flight_state.h"
#include "sanitizer/units.h"

#include <memory>
#include <optional>
#include <vector>

namespace asmevo::sanitizer {

struct OpInfo {
  const emulator::MicroOp* op = nullptr;
  // What is asked each time stands together; the rest is for when there is something to be asked about.
  uint8_t wait_states = 1;
  bool simple = false;        // no wait, no barrier, nothing asynchronous, no lanes beyond EXEC
  bool seen_straight = false; // see `seen`
  uint64_t seen_last = 0;
  UnitSet touched; // uses and defs
  UnitSet uses, defs;
  isa::HazardTraits hazards;

  std::optional<program::FlightClass> flight; // the queue it is in when it has issued
  bool brings = false;                        // its defs are written when it completes
  bool load = false;       // a load: its own result comes after those of earlier ones of its queue
  bool keeps_part = false; // reads its result only to keep half of it
  bool waits = false;      // s_waitcnt
  isa::WaitcntFields wait;
  bool every_lane = false; // reads lanes that EXEC leaves out
  bool defines_every_lane = false;
  bool vector = false; // skipped by VSKIP
  bool valu = false;   // subject to VGPR indexing
  bool told = false;   // Collector::know

  // Of wait_states.h: the ways control reached it for which its hazards have been looked at (the last one,
  // and whether it was without a jump, apart).
  std::vector<uint64_t> seen;
};

/// The OpInfos of a Code.
class OpInfos {
 public:
  OpInfo& of(const emulator::MicroOp& op, const isa::HazardRules& rules, unsigned accum_offset) {
    if (op.index < infos_.size()) [[likely]]
      if (OpInfo* const info = infos_[op.index].get(); info != nullptr && info->op == &op) [[likely]]
        return *info;
    return make(op, rules, accum_offset);
  }
  /// By MicroOp::index, of an instruction that was asked for before.
  const OpInfo& at(uint32_t index) const { return *infos_[index]; }

 private:
  OpInfo& make(const emulator::MicroOp&, const isa::HazardRules&, unsigned accum_offset);

  std::vector<std::unique_ptr<OpInfo>> infos_;
};

/// `accum_offset`: row of a0.
OpInfo describe(const emulator::MicroOp&, const isa::HazardRules&, unsigned accum_offset);
/// The same with VGPR indexing on (s_set_gpr_idx_on): rows moved as M0 says.
OpInfo describe_indexed(const OpInfo&, uint32_t m0, unsigned rows);

} // namespace asmevo::sanitizer
