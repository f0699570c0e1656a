// Runs a loop over all cores. Results go where the index says, so they do not depend on the number of
// threads.
#pragma once

#include <cstddef>
#include <functional>

namespace asmevo {

/// Calls body(index, worker) for every index below `count`, each once, on `threads` threads (0: one a core).
/// `worker` is in [0, threads) and lets the body keep state of its own, such as a decoder.
void parallel_for(size_t count, unsigned threads,
                  const std::function<void(size_t index, unsigned worker)>& body);

/// What 0 threads stands for.
unsigned default_threads();

} // namespace asmevo
