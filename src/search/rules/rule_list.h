// The rules, each in the file of its name. For rules.cpp and tests.
#pragma once

#include "search/rules/rule.h"

namespace asmevo::search {

std::vector<Proposal> propose_waits(const RuleContext&);           // waits.cpp
std::vector<Proposal> propose_schedules(const RuleContext&);       // schedule.cpp
std::vector<Proposal> propose_merged_accesses(const RuleContext&); // merge_memory.cpp
std::vector<Proposal> propose_wait_states(const RuleContext&);     // wait_states.cpp
std::vector<Proposal> propose_priorities(const RuleContext&);      // priority.cpp
std::vector<Proposal> propose_short_branches(const RuleContext&);  // short_branches.cpp

} // namespace asmevo::search
