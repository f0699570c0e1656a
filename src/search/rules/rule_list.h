// The rules, each in the file of its name. For rules.cpp and tests.
#pragma once

#include "search/rules/rule.h"

namespace asmevo::search {

std::vector<Proposal> propose_fast_division(const RuleContext&);  // fast_division.cpp
std::vector<Proposal> propose_fast_functions(const RuleContext&); // fast_functions.cpp

} // namespace asmevo::search
