// Where what is done once for a loop can stand.
#pragma once

#include "search/rules/snippets.h"

namespace asmevo::search {

struct LoopEntry {
  program::Index last = 0; // of the only block from outside that goes to the header
  isa::RegSet live_around; // where control goes from there that does not enter the loop
  isa::RegSet in_flight;   // registers that loads have not written yet in front of the loop
};

/// Nothing where the loop is entered from several places, or otherwise than by falling through or a branch.
std::optional<LoopEntry> entry_of(const profile::KernelCode&, uint32_t loop);
/// In front of the branch to the header or past it. Where there is none, behind the last entry: in front of
/// the header would be in the loop.
void put_in_front(const RuleContext&, Rewrite&, const LoopEntry&, const std::string& text);

} // namespace asmevo::search
