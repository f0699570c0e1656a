// Code that runs for some lanes only, as one stretch.
//
// Compilers put what is done under a condition into a block of its own, with a branch around it for waves in
// which no lane does it:
//
//     s_and_saveexec_b64 s[2:3], s[4:5]
//     s_cbranch_execz skip
//     global_load_dword v61, v[36:37], off
//   skip:
//     s_or_b64 exec, exec, s[2:3]
//
// Where what is skipped does nothing without lanes, the branch can go, and the blocks in front of it, in it
// and behind it are one stretch (straight_code.h). The masks are made explicit: each set of lanes, which is
// part of another one, gets a pair of scalar registers, and every step says in which of them it runs. Then
// EXEC is no register that steps depend on any more; whoever writes the steps puts it to the set that the
// next one wants:
//
//     s_and_b64 s[12:13], s[10:11], s[4:5]      in any: a set within the one of s[10:11]
//     global_load_dword v61, v[36:37], off      in that of s[12:13]
#pragma once

#include "search/rules/straight_code.h"

namespace asmevo::search {

struct LaneSet {
  uint32_t outer =
      0; // the set that it is part of; of the first one, which is all lanes of the stretch: itself
  isa::RegRange mask; // where a step of the stretch puts it
};

struct MaskedStretch {
  static constexpr uint32_t any = ~0U; // of steps that do the same whatever EXEC is
  static constexpr size_t most_sets = 64;

  Stretch stretch;               // steps write no EXEC
  std::vector<LaneSet> sets;     // those within another one behind it
  std::vector<uint32_t> lanes;   // by step: number of its set, or any
  uint32_t at_end = 0;           // the set that EXEC is behind the stretch
  isa::RegSet live_before;       // in lanes of the stretch
  isa::RegSet live_on, live_any; // behind it: in lanes that are on there, and in some lane

  /// Bit k: set k is part of set n.
  uint64_t within(uint32_t n) const;
};

/// Those with at least one set besides all, in address order. None reads SCC from before; behind it may be
/// live.
std::vector<MaskedStretch> masked_stretches(const RuleContext&, StraightCode&);

/// Steps of the stretch in some order, with `lanes` by step, as the program runs them: EXEC is changed where
/// the next one wants another set, and at the end.
std::vector<Step> with_exec(StraightCode&, const MaskedStretch&, const std::vector<Step>&,
                            const std::vector<uint32_t>& lanes);

/// Without lanes it writes at most scalars.
bool does_nothing_without_lanes(const isa::Instruction&);

/// SGPRs that cost no wave its place: eight waves have 800 between them, given out by 16s, the last six of
/// which are VCC and the like (LLVM, AMDGPUBaseInfo: getMaxNumSGPRs).
constexpr unsigned sgprs_for_free = 90;

} // namespace asmevo::search
