#include "timing/cache.h"

#include <algorithm>

namespace asmevo::timing {

Cache::Cache(uint64_t bytes, unsigned line, unsigned ways)
    : line_(line), ways_(ways), sets_(bytes / (uint64_t{line} * ways)), tags_(sets_ * ways) {}

bool Cache::find(uint64_t number, bool bring) {
  if (sets_ == 0) return false;
  uint64_t* const set = set_of(number);
  uint64_t* const end = set + ways_;
  uint64_t* const found = std::find(set, end, number + 1);
  const bool hit = found != end;
  if (!hit && !bring) return false;
  std::rotate(set, hit ? found : end - 1, hit ? found + 1 : end);
  *set = number + 1;
  return hit;
}

bool Cache::access(uint64_t address) {
  return find(address / line_, true);
}

bool Cache::touch(uint64_t address) {
  return find(address / line_, false);
}

void Cache::clear() {
  std::ranges::fill(tags_, 0);
}

} // namespace asmevo::timing
