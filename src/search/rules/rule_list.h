// The rules, each in the file of its name. For rules.cpp and tests.
#pragma once

#include "search/rules/rule.h"

namespace asmevo::search {

std::vector<Proposal> propose_waits(const RuleContext&);              // waits.cpp
std::vector<Proposal> propose_schedules(const RuleContext&);          // schedule.cpp
std::vector<Proposal> propose_batched_loads(const RuleContext&);      // batched_loads.cpp
std::vector<Proposal> propose_unrolled(const RuleContext&);           // unrolled.cpp
std::vector<Proposal> propose_merged_accesses(const RuleContext&);    // merge_memory.cpp
std::vector<Proposal> propose_wait_states(const RuleContext&);        // wait_states.cpp
std::vector<Proposal> propose_priorities(const RuleContext&);         // priority.cpp
std::vector<Proposal> propose_short_branches(const RuleContext&);     // short_branches.cpp
std::vector<Proposal> propose_fast_division(const RuleContext&);      // fast_division.cpp
std::vector<Proposal> propose_fast_functions(const RuleContext&);     // fast_functions.cpp
std::vector<Proposal> propose_known_results(const RuleContext&);      // known_results.cpp
std::vector<Proposal> propose_repeated_work(const RuleContext&);      // repeated_work.cpp
std::vector<Proposal> propose_fused_integers(const RuleContext&);     // fused_integers.cpp
std::vector<Proposal> propose_fused_multiply_add(const RuleContext&); // fused_multiply_add.cpp
std::vector<Proposal> propose_packed_arithmetic(const RuleContext&);  // packed_arithmetic.cpp
std::vector<Proposal> propose_scalar_base(const RuleContext&);        // scalar_base.cpp
std::vector<Proposal> propose_folded_offsets(const RuleContext&);     // folded_offsets.cpp
std::vector<Proposal> propose_hoisted(const RuleContext&);            // hoisted.cpp
std::vector<Proposal> propose_hoisted_values(const RuleContext&);     // hoisted_values.cpp

} // namespace asmevo::search
