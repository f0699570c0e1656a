#include "search/start_points.h"

#include <algorithm>
#include <set>

namespace asmevo::search {

namespace {

using Touched = std::set<std::pair<std::string, program::InstrId>>;

// Where its edits begin: two versions with the same beginnings changed the same places.
Touched touched(const Lineage::Version& v) {
  Touched places;
  for (const gate::Proposed::Step& step : v.chain)
    for (const program::Change& c : step.edit.changes)
      if (const auto at = c.before ? c.before : c.first) places.emplace(step.edit.kernel, *at);
  return places;
}

// Of the changes of either, the share that only one of them has.
double distance(const Touched& a, const Touched& b) {
  size_t both = 0;
  for (const auto& place : a) both += b.contains(place);
  const size_t all = a.size() + b.size() - both;
  return all == 0 ? 0 : 1 - static_cast<double>(both) / static_cast<double>(all);
}

} // namespace

std::vector<uint32_t> start_points(const Lineage& lineage, size_t count) {
  std::vector<uint32_t> chosen;
  if (!lineage.best().editable) return chosen;
  std::vector<Touched> places;
  for (uint32_t id = 0; id < lineage.size(); ++id) places.push_back(touched(lineage.at(id)));
  const double best = lineage.best().node.speedup;
  chosen.push_back(lineage.best().node.id);
  while (chosen.size() < count) {
    std::optional<uint32_t> next;
    double most = 0;
    for (uint32_t id = 0; id < lineage.size(); ++id) {
      if (!lineage.at(id).editable || std::ranges::find(chosen, id) != chosen.end()) continue;
      double nearest = 1;
      for (const uint32_t other : chosen) nearest = std::min(nearest, distance(places[id], places[other]));
      const double score = lineage.at(id).node.speedup / best + nearest;
      if (!next || score > most) next = id, most = score;
    }
    if (!next) break;
    chosen.push_back(*next);
  }
  return chosen;
}

} // namespace asmevo::search
