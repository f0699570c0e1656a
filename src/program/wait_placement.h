// Where an s_waitcnt must stand, and for how many operations, if some of those that are there are taken away.
//
// A wait does two things. It brings results: what uses a register needs the load that fills it to be
// complete, and how many operations may be left in flight then, flight_state.h tells from the code alone. And
// it orders memory: in front of a barrier, an atomic or a cache instruction, other waves rely on accesses
// being done, and nothing in the code says on which. So an operation that a wait completed stays owed when
// that wait is taken away, until a later one completes it, and at such places everything that is owed is
// waited for:
//
//     ds_write_b32 v0, v1
//     s_waitcnt lgkmcnt(0)      <- taken away: the write is owed
//     v_add_f32 v2, v3, v4
//     s_barrier                 <- lgkmcnt(0) must stand in front of this
//
// Loops are such places too. A wait in front of a loop that moved to the first use, inside, would run at each
// turn and wait for what this turn has sent for.
#pragma once

#include "program/cfg.h"
#include "program/flight_state.h"

#include <functional>
#include <map>
#include <optional>

namespace asmevo::program {

/// What has to be known of a function as a whole.
struct WaitFacts {
  std::array<uint8_t, FlightState::class_count> traffic{}; // of all operations of each class
  bool synchronises =
      false; // has atomics, coherent accesses or cache control: stores may be signals to others
  bool loads_to_lds = false;  // has LDS-DMA
  bool counts_double = false; // has LDS loads that may count as two (flight_doubt.h)

  /// None where waits cannot be placed: VGPR indexing, s_setvskip, jumps that cannot be followed.
  static std::optional<WaitFacts> of(const Program&, const Function&, const Cfg&);
};

/// An atomic, an access that goes past caches, or cache control: other waves may be told something by it.
bool is_coherent(const isa::Instruction&);

/// Both counters. expcnt is left alone.
using WaitNeed = isa::WaitcntFields;
constexpr bool waits_for_nothing(const WaitNeed& n) {
  return n.vmcnt == WaitNeed{}.vmcnt && n.lgkmcnt == WaitNeed{}.lgkmcnt;
}
/// The larger wait of both.
WaitNeed both(const WaitNeed& a, const WaitNeed& b);
/// "s_waitcnt vmcnt(3) lgkmcnt(0)".
std::string text_of(const WaitNeed&);

/// A wave on its way through code whose waits are placed anew.
class WaitPlacer {
 public:
  explicit WaitPlacer(const WaitFacts& facts) : facts_(&facts) {}

  /// What has to be waited for before the instruction.
  WaitNeed needed(const isa::Instruction&) const;
  /// What all owed operations need.
  WaitNeed owed() const;

  /// An s_waitcnt that stands in the new code,
  void wait(const WaitNeed&);
  /// and one of the old code that does not.
  void forego(const WaitNeed&);
  /// `owed`: the old code has waited for the operation when it comes to the end of what is looked at, though
  /// the wait itself is not met with any more.
  void issue(Index at, const isa::Instruction&, bool owed = false);
  /// Registers are used by code behind what is looked at as they were: nothing of these is in flight.
  bool merge(const WaitPlacer&);
  bool known() const { return state_.known(); }
  void set_known() { state_.set_known(); }
  const FlightState& state() const { return state_; }

 private:
  // Operations of a class by what they do; bit k: the one issued k ago. Of classes that complete in any order
  // only bit 0 is used, for all of them.
  enum Kind : uint8_t { loads, writes, signals, kinds };
  using Ages = std::array<uint64_t, kinds>;
  static Kind kind_of(const isa::Instruction&);
  uint64_t owed_to(const isa::Instruction&, FlightClass) const;
  bool settles_everything(const isa::Instruction&) const;
  void issue_in(FlightClass, const isa::Instruction&, bool owed);
  static void need(WaitNeed&, FlightClass, uint64_t ages);

  const WaitFacts* facts_;
  FlightState state_;
  std::array<Ages, FlightState::class_count> in_flight_{}, owed_{};
};

/// Waits to put in; by entry.
struct WaitPlan {
  std::map<Index, WaitNeed> before, after; // after: at the end of a block that goes on without a branch
};

/// `freed`: the waits that are taken away. Code that is not reached keeps its waits.
WaitPlan place_waits(const Program&, const Cfg&, const WaitFacts&, const std::function<bool(Index)>& freed);

/// What a wave has in flight at the start of each block, all waits being where they are. Unknown of blocks
/// that are not reached.
std::vector<WaitPlacer> in_flight_at_blocks(const Program&, const Cfg&, const WaitFacts&);

/// Is the wait in code that place_waits looks at?
bool can_be_freed(const Program&, const Cfg&, Index wait);

} // namespace asmevo::program
