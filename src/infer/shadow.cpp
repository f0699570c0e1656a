#include "infer/shadow.h"

#include <algorithm>

namespace asmevo::infer {

SourceSet SourceSets::intern(std::vector<Source> members) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const Source s : members) hash = (hash ^ s) * 0x100000001b3;
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (sets_[at->second] == members) return at->second;
  sets_.push_back(std::move(members));
  const auto set = static_cast<SourceSet>(sets_.size() - 1);
  by_hash_.emplace(hash, set);
  return set;
}

SourceSet SourceSets::of(Source s) {
  const auto known = singles_.find(s);
  if (known != singles_.end()) return known->second;
  const SourceSet set = intern({s});
  singles_.emplace(s, set);
  return set;
}

SourceSet SourceSets::unite(SourceSet a, SourceSet b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const uint64_t key = uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  const auto known = unions_.find(key);
  if (known != unions_.end()) return known->second;
  std::vector<Source> members;
  std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(members));
  const SourceSet set = intern(std::move(members));
  unions_.emplace(key, set);
  return set;
}

bool SourceSets::has(SourceSet set, Source s) const {
  return std::ranges::binary_search(sets_[set], s);
}

Shadow unite(SourceSets& sets, const Shadow& a, const Shadow& b) {
  if (a == b) return a;
  Shadow both;
  both.raw = sets.unite(a.raw, b.raw);
  both.anything = sets.unite(a.anything, b.anything);
  both.base = sets.unite(a.base, b.base);
  // A constant beside it says nothing against a type.
  const auto says_nothing = [](const Shadow& s) { return s.type == ValueType::None && s.raw == 0; };
  both.type = says_nothing(a) ? b.type : says_nothing(b) || a.type == b.type ? a.type : ValueType::None;
  both.part = says_nothing(a) ? b.part : says_nothing(b) || a.part == b.part ? a.part : Part::Whole;
  return both;
}

Shadow LaneShadow::read(SourceSets& sets, uint64_t lanes) const {
  Shadow all;
  bool first = true;
  for (unsigned p = 0; p < count_; ++p) {
    if ((parts_[p].lanes & lanes) == 0) continue;
    all = first ? parts_[p].shadow : unite(sets, all, parts_[p].shadow);
    first = false;
  }
  return all;
}

void LaneShadow::write(SourceSets& sets, const Shadow& s, uint64_t lanes) {
  if (lanes == 0) return;
  if (~lanes == 0) return set(s);
  unsigned kept = 0;
  for (unsigned p = 0; p < count_; ++p) {
    Part part = parts_[p];
    if (part.shadow == s) lanes |= part.lanes;
    part.lanes &= ~lanes;
    if (part.lanes != 0) parts_[kept++] = part;
  }
  if (kept == parts_.size()) {
    Part& last = parts_[kept - 2];
    last = {unite(sets, last.shadow, parts_[kept - 1].shadow), last.lanes | parts_[kept - 1].lanes};
    --kept;
  }
  std::move_backward(parts_.begin(), parts_.begin() + kept, parts_.begin() + kept + 1);
  parts_[0] = {s, lanes};
  count_ = kept + 1;
}

} // namespace asmevo::infer
