// Proposals by the transformations of search/rules/, on the best version: first everything that was found at
// once, then each direction and each rule by itself, then place by place, what promises most first; what a
// rule was worth on kernels like this one (memory.h) counts in that. What was refused for what it does is not
// tried again on later versions; what was only not fast enough is, later.
#pragma once

#include "search/driver.h"
#include "search/memory.h"
#include "search/rules/rule.h"

namespace asmevo::search {

struct RulesOptions {
  std::string kernel;             // only this one; empty: all that are launched
  std::vector<std::string> rules; // only these; empty: all
};

/// The memory must outlive it. BadInput: no such rule.
Result<std::unique_ptr<Driver>> make_rules(timing::Machine, const Memory&, const RulesOptions&);

} // namespace asmevo::search
