// What runs in the processes that judge candidates. Candidates come from outside: LLVM may abort on their
// text, their runs may want all memory. So each is judged in a process of its own kind that can be lost.
//
// One process makes the Setup, and then only forks: workers share K0's cases with it, page by page, cost
// nothing to start, and are replaced at once. It never has more than one thread when it forks. When whoever
// asked for it is gone, it ends, and its workers with it.
#pragma once

#include "gate/channel.h"

namespace asmevo::gate {

/// Serves until the other end closes. The exit code of the process.
int serve_workers(Channel);

} // namespace asmevo::gate
