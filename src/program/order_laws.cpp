#include "program/order_laws.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace asmevo::program {

namespace {

// One way through the code, forward or back: where from does a way lead out of the function, or to another of
// the kind, that meets no point of the other kind?
class LawSearch {
 public:
  LawSearch(const Cfg& cfg, const std::vector<std::vector<const OrderPoint*>>& points, bool forward)
      : cfg_(cfg), points_(points), forward_(forward) {}

  bool holds(const std::string& a, const std::string& b, bool next) {
    spread_from_ends(a, b, next);
    for (uint32_t block = 0; block < points_.size(); ++block) {
      if (!cfg_.blocks()[block].reachable) continue;
      const std::vector<const OrderPoint*> way = in_order(block);
      for (size_t k = 0; k < way.size(); ++k)
        if (way[k]->what == a && escapes_behind(block, std::span(way).subspan(k + 1), a, b, next))
          return false;
    }
    return true;
  }

 private:
  std::vector<const OrderPoint*> in_order(uint32_t block) const {
    std::vector<const OrderPoint*> way = points_[block];
    if (!forward_) std::ranges::reverse(way);
    return way;
  }

  const std::vector<uint32_t>& onward(uint32_t block) const {
    return forward_ ? cfg_.blocks()[block].successors : cfg_.blocks()[block].predecessors;
  }
  const std::vector<uint32_t>& back(uint32_t block) const {
    return forward_ ? cfg_.blocks()[block].predecessors : cfg_.blocks()[block].successors;
  }
  bool is_end(uint32_t block) const { return forward_ ? cfg_.blocks()[block].leaves : block == 0; }

  // Behind these points of the block; -1 where none of them decides.
  static int decided(std::span<const OrderPoint* const> way, const std::string& a, const std::string& b,
                     bool next) {
    for (const OrderPoint* p : way) {
      if (p->what == b) return 0;
      if (next && p->what == a) return 1;
    }
    return -1;
  }

  bool escapes_behind(uint32_t block, std::span<const OrderPoint* const> way, const std::string& a,
                      const std::string& b, bool next) const {
    if (const int known = decided(way, a, b, next); known >= 0) return known == 1;
    return is_end(block) || std::ranges::any_of(onward(block), [&](uint32_t n) { return escapes_[n] != 0; });
  }

  // From its beginning (the end, going back) a block lets out what its points let through and its end or a
  // block behind it lets out.
  void spread_from_ends(const std::string& a, const std::string& b, bool next) {
    escapes_.assign(points_.size(), 0);
    std::vector<uint32_t> work;
    std::vector<char> open(points_.size()); // no point in it decides
    for (uint32_t block = 0; block < points_.size(); ++block) {
      const int known = decided(in_order(block), a, b, next);
      open[block] = known < 0 ? 1 : 0;
      if (known == 1 || (known < 0 && is_end(block))) escapes_[block] = 1, work.push_back(block);
    }
    while (!work.empty()) {
      const uint32_t block = work.back();
      work.pop_back();
      for (const uint32_t p : back(block))
        if (open[p] != 0 && escapes_[p] == 0) escapes_[p] = 1, work.push_back(p);
    }
  }

  const Cfg& cfg_;
  const std::vector<std::vector<const OrderPoint*>>& points_; // by block
  bool forward_;
  std::vector<char> escapes_;
};

bool is_strict(const MemoryOrder& order, const OrderPoint& p) {
  return p.kind != OrderPoint::Kind::LdsAtomic && !order.relaxed_atomic(p);
}

} // namespace

OrderLaws order_laws(const MemoryOrder& order, const Cfg& cfg) {
  std::vector<std::vector<const OrderPoint*>> points(cfg.blocks().size());
  std::map<std::string, OrderPoint::Kind> kinds;
  for (const OrderPoint& p : order.points) {
    if (!is_strict(order, p)) continue;
    points[cfg.block_of(p.at)].push_back(&p);
    kinds.emplace(p.what, p.kind);
  }
  OrderLaws laws;
  LawSearch forward(cfg, points, true), backward(cfg, points, false);
  const auto look = [&](const std::string& a, const std::string& b, bool next) {
    if (forward.holds(a, b, next)) laws.emplace(next ? OrderLaw::FollowedNext : OrderLaw::Followed, a, b);
    if (backward.holds(a, b, next)) laws.emplace(next ? OrderLaw::PrecededNext : OrderLaw::Preceded, a, b);
  };
  for (const auto& [a, kind_a] : kinds)
    for (const auto& [b, kind_b] : kinds) {
      if (a == b || kind_a == OrderPoint::Kind::CacheControl) continue;
      look(a, b, false);
      if (kind_b != OrderPoint::Kind::Access) look(a, b, true);
    }
  return laws;
}

} // namespace asmevo::program
