// Several drivers in one: each proposal comes from the one that has earned it, by what its proposals came to
// so far (the planner's bandit, over drivers). One that has nothing for an assignment is passed over.
#pragma once

#include "search/driver.h"

namespace asmevo::search {

/// The first is asked first as long as nothing is known.
std::unique_ptr<Driver> make_mixed(std::vector<std::unique_ptr<Driver>>);

} // namespace asmevo::search
