// The order that s_waitcnt needs among the instructions that raise its counters. For dependences() only.
#pragma once

#include "program/wave_state.h"

#include <vector>

namespace asmevo::program {

/// For one counter over entries [begin, end): which raising instructions every wait completes together.
struct WaitOrder {
  struct Group {
    std::vector<Index> members;
    // Its members keep their order among themselves: waits behind the range may fall between any two.
    bool ordered = false;
  };
  // In program order. A group and the one before it keep their order unless a wait stands between them, which
  // does so by itself.
  std::vector<Group> groups;
  // By wait, in program order: what it completes that no earlier wait did.
  struct Completion {
    Index wait = 0;
    std::vector<Index> members;
    bool earlier_ones = false; // everything raised before the range is complete too
  };
  std::vector<Completion> completions;

  /// `certain`: no instruction of the range may be skipped (VSKIP). Otherwise counts say little: there is one
  /// ordered group and no completions.
  static WaitOrder compute(const Program&, Index begin, Index end, Counter, bool certain);
};

} // namespace asmevo::program
