#include "program/dependence_graph.h"

#include <algorithm>

namespace asmevo::program {

void DependenceGraph::want(Index from, DependenceKind kind, isa::RegRange reg) {
  constexpr size_t look_back = 16; // neighbouring registers come one after the other
  const size_t end = wanted_.size();
  for (size_t back = 1; back <= std::min(end, look_back); ++back) {
    Dependence& d = wanted_[end - back];
    if (d.from != from || d.kind != kind) continue;
    if (reg.count == 0) return;
    if (d.reg.first + d.reg.count == reg.first) {
      d.reg.count = static_cast<uint16_t>(d.reg.count + reg.count);
      return;
    }
  }
  wanted_.push_back({from, 0, kind, reg});
}

// Nearest first, so that a chain through a nearer instruction is known when a farther one is asked for.
void DependenceGraph::finish(Index to) {
  std::ranges::sort(wanted_, [](const Dependence& a, const Dependence& b) {
    return a.from != b.from ? a.from > b.from
                            : std::pair(a.kind, a.reg.first) < std::pair(b.kind, b.reg.first);
  });
  const size_t first = kept_.size();
  for (const Dependence& d : wanted_) {
    const bool known = is_ancestor(d.from - begin_, to - begin_);
    if (known && d.kind != DependenceKind::Raw) continue;
    kept_.push_back({d.from, to, d.kind, d.reg});
    if (!known) adopt(d.from - begin_, to - begin_);
  }
  std::reverse(kept_.begin() + static_cast<ptrdiff_t>(first), kept_.end());
  wanted_.clear();
}

bool DependenceGraph::is_ancestor(uint32_t from, uint32_t to) const {
  return to / 64 - from / 64 < words && (ancestors_[to].bits[from / 64 % words] >> (from % 64) & 1) != 0;
}

void DependenceGraph::adopt(uint32_t from, uint32_t to) {
  ancestors_[from].has_successor = true;
  const uint32_t newest = to / 64, oldest = newest >= words ? newest - words + 1 : 0;
  for (uint32_t k = std::max(oldest, from / 64 >= words ? from / 64 - words + 1 : 0); k <= from / 64; ++k)
    ancestors_[to].bits[k % words] |= ancestors_[from].bits[k % words];
  if (from / 64 >= oldest) ancestors_[to].bits[from / 64 % words] |= uint64_t{1} << (from % 64);
}

} // namespace asmevo::program
