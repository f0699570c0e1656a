// Which registers hold a value that may still be read.
//
// A vector register has 64 lanes and EXEC decides which of them an instruction writes. A write under a
// narrowed EXEC kills the old value only in the lanes that are on. So for each vector register two facts are
// kept, going backwards: live in lanes that are on here, and live in lanes that are off here; EXEC writes
// move them into each other according to whether they narrow, widen or replace the mask (exec_change.h).
// Scalars have one fact. Where a mask is given back that was saved before (saved_masks.h), it is known which
// lanes come on: those that are off until then are told apart by the mask that turned them off.
#pragma once

#include "program/cfg.h"
#include "program/wave_state.h"

#include <vector>

namespace asmevo::program {

/// Live registers at one place, by the lanes that hold the value.
struct LiveSets {
  isa::RegSet on;  // vector registers, in some lane that is on; and scalars
  isa::RegSet off; // vector registers, in some lane that is off
  isa::RegSet any() const { return on | off; }
};

/// The lanes a wave starts with. Any: in a launch whose workgroups are not of whole waves some are never on,
/// and keep what instructions that do not heed EXEC read there. All: of launches that have no such wave.
enum class StartLanes : uint8_t { Any, All };

class Liveness {
 public:
  /// Conservative at calls and indirect jumps (everything is live before them), where vector instructions may
  /// be skipped (s_setvskip: they kill nothing) and where VGPRs are indexed (any may be read, none is
  /// killed). After s_endpgm nothing is live, after a return or a jump out of the function everything. A
  /// register that no path has written yet holds no value and is not live: reading it gives what the last
  /// wave left. `program` and `cfg` must outlive the result.
  static Liveness compute(const Program& program, const Function&, const Cfg& cfg,
                          StartLanes start = StartLanes::Any);

  /// Registers live before entry i (in any lane). Walks the block: for all entries of one, use before_each.
  isa::RegSet before(Index i) const;
  /// Registers live after entry i.
  isa::RegSet after(Index i) const;
  /// The same with lanes told apart. A register that is not live in lanes that are on can be used as scratch
  /// by vector instructions that respect EXEC, as long as EXEC is not changed.
  LiveSets lanes_before(Index i) const;
  LiveSets lanes_after(Index i) const;
  /// before() of each entry of a block, and after() of its last.
  std::vector<isa::RegSet> before_each(uint32_t block) const;

  /// What may be read after the function is left at the end of a block: nothing where it does not leave or
  /// ends the program, else everything that has been written.
  isa::RegSet live_at_exit(uint32_t block) const;

  /// Largest number of live VGPRs, AGPRs, SGPRs at once, in reachable code.
  struct Pressure {
    unsigned vgprs = 0, agprs = 0, sgprs = 0;
  };
  Pressure peak() const { return peak_; }

 private:
  friend class LivenessSolver;
  // Facts as they are worked out. `parts`: lanes that are off, but on in a mask which is given back later and
  // was saved at `at`, outer masks first; without those of the masks within it.
  struct Part {
    Index at = 0;
    isa::RegSet live;
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Facts {
    isa::RegSet on, off; // off: lanes of no part
    std::vector<Part> parts;
    LiveSets lanes() const;
    void join(Facts);
    void forget_parts(size_t from);
    friend bool operator==(const Facts&, const Facts&) = default;
  };
  // What an entry does to the sets; which registers, its instruction says.
  struct Transfer {
    uint8_t exec_change = 0;     // ExecChange
    bool everything : 1 = false; // call, indirect jump, data: all is live before it
    bool kills_on : 1 = false;   // vector results replace the whole value in lanes that are on
    bool kills_off : 1 = false;  // and in lanes that are off
    bool kills_scalars : 1 = false;
    bool uses_off : 1 = false;    // vector registers are read in lanes that are off too
    bool ignores_old : 1 = false; // the result's old value is named as an operand, but none of it lives on
    bool uses_all_vgprs : 1 = false, uses_all_agprs : 1 = false, uses_all_sgprs : 1 = false;
    bool widest : 1 = false; // lanes that are off here are never on (widest_exec.h)
  };
  void step_back(Facts&, Index) const;
  void change_lanes(Facts&, Index) const;
  Facts at_end(uint32_t block) const;
  Facts facts_at(Index, bool before) const;

  const Program* program_ = nullptr;
  const Cfg* cfg_ = nullptr;
  Index begin_ = 0;
  std::vector<Transfer> transfers_; // by entry, from begin_
  std::vector<Index> saved_;        // the entry that saved the mask which this one gives back
  std::vector<Facts> block_in_;
  isa::RegSet never_on_; // what lanes that are never on may hold of interest: registers read across lanes
  WaveStates waves_;
  Pressure peak_;
};

} // namespace asmevo::program
