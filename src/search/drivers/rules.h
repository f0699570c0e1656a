// Proposals by the transformations of search/rules/, on the fastest version so far: first everything that was
// found at once, then each rule by itself, then place by place, what promises most first. What was refused
// for what it does is not tried again on later versions; what was only not fast enough is, later. In the end,
// places that each win a little, but too little, are tried together.
#pragma once

#include "search/driver.h"
#include "search/rules/rule.h"

namespace asmevo::search {

struct RulesOptions {
  std::string kernel;             // only this one; empty: all that are launched
  std::vector<std::string> rules; // only these; empty: all
};

/// BadInput: no such rule.
Result<std::unique_ptr<Driver>> make_rules(timing::Machine, const RulesOptions&);

} // namespace asmevo::search
