// Code in which parts run for some lanes only, as one stretch.
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
// and behind it are one stretch (straight_code.h). Between s_and_saveexec and the s_or that gives the lanes
// back, which stay together as one part, EXEC is another one; everywhere else in the stretch it is the same.
#pragma once

#include "search/rules/straight_code.h"

namespace asmevo::search {

struct MaskedStretch {
  Stretch stretch;
  std::vector<uint32_t> part; // by step: 0 of all lanes; else the number of its part, which are in order
  // In lanes that are on at either end. Nothing in it writes others.
  isa::RegSet live_before, live_after;
  uint32_t parts() const { return part.empty() ? 0 : *std::max_element(part.begin(), part.end()); }
};

/// Those with at least one part, in address order. None reads SCC from before; behind it may be live.
std::vector<MaskedStretch> masked_stretches(const RuleContext&, const StraightCode&);

} // namespace asmevo::search
