// What a wave has in flight at a place, and so what an s_waitcnt there waits for, along the way that waves
// mostly take (code_path.h). static_check.h knows what holds on every way; this is for showing.
#pragma once

#include "profile/code_path.h"

namespace asmevo::profile {

/// Entries, the youngest first.
struct InFlight {
  std::vector<program::Index> vector; // counted by vmcnt, complete in order
  std::vector<program::Index> lds;    // by lgkmcnt, in order
  std::vector<program::Index> scalar; // by lgkmcnt, in any order: scalar memory, and FLAT
  bool empty() const { return vector.empty() && lds.empty() && scalar.empty(); }
};

/// Of the operations in front of the entry, those that no wait has completed, in so far as the counters can
/// tell.
InFlight in_flight_before(const CodePath&, program::Index);

/// What the s_waitcnt at the entry waits for; of s_endpgm everything. Empty for other instructions.
InFlight awaited_by(const CodePath&, program::Index);

/// The s_barrier right in front of the entry: a wave that waits at a barrier stands behind it, at its next
/// instruction. no_index: there is none.
program::Index barrier_before(const CodePath&, program::Index);

/// The entries that compute what the entry reads, the nearest on the way: each with its register.
struct Producer {
  program::Index at = program::no_index;
  isa::RegRange reg;
};
std::vector<Producer> producers_of(const CodePath&, program::Index);

} // namespace asmevo::profile
