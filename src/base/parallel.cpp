#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace asmevo {

unsigned default_threads() {
  return std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(size_t count, unsigned threads, const std::function<void(size_t, unsigned)>& body) {
  if (threads == 0) threads = default_threads();
  threads = static_cast<unsigned>(std::min<size_t>(threads, std::max<size_t>(count, 1)));
  std::atomic<size_t> next{0};
  const auto work = [&](unsigned worker) {
    for (size_t i = next++; i < count; i = next++) body(i, worker);
  };
  std::vector<std::jthread> others;
  for (unsigned worker = 1; worker < threads; ++worker) others.emplace_back(work, worker);
  work(0);
}

} // namespace asmevo
