// Random small changes of a kernel's instructions after which it does the same: a verification that rejects
// one raises a false alarm.
#pragma once

#include "oracle/subject.h"

#include <string>
#include <vector>

namespace asmevo::mutation {

enum class RewriteKind : uint8_t {
  Encoding, // the 64-bit encoding for the 32-bit one
  Commute,  // operands exchanged where their order means nothing
  Identity, // another instruction for the same: a - b as a + -b, 2 x as x + x
  Rename,   // a value of one basic block in a register that nobody uses
  Reorder,  // two neighbours that do not depend on each other
  DeadCode, // an instruction more whose result nobody reads, or one less
};
std::string_view name(RewriteKind);

struct Rewrite {
  RewriteKind kind = RewriteKind::Encoding;
  std::string text; // for messages
  program::Edit edit;
};

/// `count` different rewrites that assemble, of all kinds equally often as far as there are places for them.
std::vector<Rewrite> equivalent_rewrites(const oracle::Subject& k0, const std::string& kernel, uint64_t seed,
                                         size_t count);

} // namespace asmevo::mutation
