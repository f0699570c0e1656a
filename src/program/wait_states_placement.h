// Where wait states are missing (isa/hazards.h) if instructions that make some are taken away, put in or
// moved: the other side of hazard_check.h, for those who write code. An s_nop makes as many as it says,
// everything else one; so an s_waitcnt that goes may leave its neighbours too close to each other:
//
//     v_add_f32 v2, v2, v3
//     v_mov_b32 v9, v8
//     s_waitcnt lgkmcnt(0)                 <- without it one wait state is missing
//     v_add_f32_dpp v2, v2, v2 row_shr:1   <- 2 wait states after what it reads has been written
//
// Rules that shipped kernels break (is_contested) are kept, too.
#pragma once

#include "isa/hazards.h"
#include "program/cfg.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>

namespace asmevo::program {

/// Instructions that the next one may be too close to, on some path.
class HazardWindow {
 public:
  /// More wait states that it needs than there are.
  unsigned missing(const isa::HazardRules&, const isa::HazardTraits&) const;
  void issue(const isa::HazardTraits&, unsigned wait_states);
  /// Nothing but time.
  void pass(unsigned wait_states);
  bool merge(const HazardWindow&);
  bool empty() const { return recent_.empty(); }

 private:
  struct Recent {
    const isa::HazardTraits* traits = nullptr;
    unsigned since = 0; // wait states
  };
  bool written_since(const Recent&, const isa::RegRange& accumulator) const;
  unsigned across_dgemm(const isa::HazardRules&, const Recent&, const isa::HazardTraits& second) const;
  std::vector<Recent> recent_; // oldest first, but for what came in at a join
};

/// "s_nop 3"; several lines where one does not suffice.
std::string nops(unsigned wait_states);

class WaitStates {
 public:
  WaitStates(const Program&, const Cfg&);

  /// How code differs from what the program has.
  struct Change {
    std::function<unsigned(Index)> made;          // wait states of an entry now; 0 where it is gone
    std::function<unsigned(Index)> before, after; // that are put in around it
  };
  /// Wait states to put in, in front of entries. Without a change: where the program itself is short of some.
  std::map<Index, unsigned> missing() { return missing(Change{}); }
  std::map<Index, unsigned> missing(const Change&);

  /// What an entry of the program itself must keep its distance from.
  HazardWindow before(Index);
  /// How many more the code from the entry on needs, along all ways, behind `window`.
  unsigned missing_behind(const HazardWindow& window, Index from);
  const isa::HazardRules& rules() const { return rules_; }
  const isa::HazardTraits& traits(const isa::Instruction&);

 private:
  void solve(const Change&, std::vector<HazardWindow>& entry, std::map<Index, unsigned>* found);
  void walk(const Change&, const Block&, HazardWindow&, std::map<Index, unsigned>* found);
  unsigned look_on(HazardWindow window, Index from, unsigned states_left);

  const Program& program_;
  const Cfg& cfg_;
  isa::HazardRules rules_;
  std::unordered_map<const isa::Instruction*, isa::HazardTraits> traits_;
  std::vector<HazardWindow> entry_; // by block, of the program itself; made when first asked for
};

} // namespace asmevo::program
