#include "program/memory_order.h"

#include "program/finding_list.h"
#include "program/order_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace asmevo::program {

namespace {

using Kind = OrderPoint::Kind;

// Accesses of one kind through one pointer; roots 0: through any.
using AccessKind = std::tuple<bool, bool, uint64_t>; // store, scalar, roots

// How much of each kind stands on either side of a place that only moves forward, in address order.
template <class Kind>
class Sides {
 public:
  Sides() = default;
  Sides(const Sides&) = delete; // items point to totals
  Sides& operator=(const Sides&) = delete;

  void add(Index at, const Kind& kind, unsigned amount) {
    auto& total = total_[kind];
    total.all += amount;
    items_.push_back({at, &total, amount});
  }
  void advance(Index at) {
    for (; next_ < items_.size() && items_[next_].at < at; ++next_)
      items_[next_].total->front += items_[next_].amount;
  }
  unsigned front(const Kind& k) const { return of(k).front; }
  unsigned behind(const Kind& k) const { return of(k).all - of(k).front; }

  std::vector<Kind> kinds() const {
    std::vector<Kind> all;
    for (const auto& [kind, total] : total_) all.push_back(kind);
    return all;
  }

 private:
  struct Total {
    unsigned all = 0, front = 0;
  };
  struct Item {
    Index at = 0;
    Total* total = nullptr;
    unsigned amount = 0;
  };
  Total of(const Kind& k) const {
    const auto found = total_.find(k);
    return found == total_.end() ? Total{} : found->second;
  }
  std::map<Kind, Total> total_; // does not move its elements
  std::vector<Item> items_;
  size_t next_ = 0;
};

// Points that have no order among themselves: they may be done in any number of instructions.
bool is_loose(const MemoryOrder& order, const OrderPoint& p) {
  return p.kind == Kind::LdsAtomic || order.relaxed_atomic(p);
}

// What stands around the points that have an order.
struct Surroundings {
  Sides<AccessKind> accesses;
  Sides<std::string> loose;

  explicit Surroundings(const MemoryOrder& order) {
    for (const PlainAccess& a : order.plain)
      for (const uint64_t roots : {a.roots, uint64_t{0}})
        accesses.add(a.at, {a.store, a.scalar, roots}, a.bytes);
    for (const OrderPoint& p : order.points)
      if (is_loose(order, p)) loose.add(p.at, p.what, 1);
  }
  void advance(Index at) {
    accesses.advance(at);
    loose.advance(at);
  }
};

std::string_view text(OrderLaw law) {
  switch (law) {
  case OrderLaw::Followed: return "followed by";
  case OrderLaw::FollowedNext: return "followed each time by";
  case OrderLaw::Preceded: return "preceded by";
  case OrderLaw::PrecededNext: return "preceded each time by";
  }
  return "?";
}

class OrderComparison {
 public:
  OrderComparison(const MemoryOrder& k0, const OrderLaws& k0_laws, const Program& candidate,
                  const Function& function, const MemoryOrder& order, const OrderLaws& laws)
      : k0_(k0), order_(order), k0_laws_(k0_laws), laws_(laws), last_(function.end - 1),
        findings_(candidate) {}

  std::vector<Finding> run() {
    if (!compare_counts()) {
      compare_sequence();
      compare_laws();
    }
    compare_scalar_loads();
    return findings_.take();
  }

 private:
  void report(Index at, std::string rule, std::string object, std::string missing) {
    Finding finding;
    finding.kind = FindingKind::MemoryOrder;
    finding.rule = std::move(rule);
    finding.consumer = std::min(at, last_);
    finding.object = std::move(object);
    finding.missing = std::move(missing);
    finding.possible = true;
    findings_.add(std::move(finding));
  }

  // Of LDS atomics and relaxed ones a candidate may have fewer: one in a loop, or one for two. Not where
  // plain writes come in their place.
  void find_loose() {
    for (const OrderPoint& p : k0_.points)
      if (is_loose(k0_, p) && (p.kind != Kind::LdsAtomic || order_.lds_writes <= k0_.lds_writes))
        loose_.insert(p.what);
  }

  static std::map<std::string, unsigned> counted(const MemoryOrder& order) {
    std::map<std::string, unsigned> count;
    for (const OrderPoint& p : order.points) ++count[p.what];
    return count;
  }

  // True where something is missing, barriers included, which removed_barriers() reports.
  bool compare_counts() {
    find_loose();
    auto there = counted(order_);
    bool any = false;
    std::string missing;
    for (const auto& [what, before] : counted(k0_)) {
      if (there[what] >= before) continue;
      if (there[what] != 0 && loose_.contains(what)) continue;
      any = true;
      if (what == "s_barrier") continue;
      missing +=
          fmt::format("{}{} {} where K0 has {}", missing.empty() ? "" : ", ", there[what], what, before);
    }
    if (!missing.empty()) report(last_, "memory-order-removed", missing, "");
    return any;
  }

  // K0's points are found again in K0's order; others may stand between them.
  void compare_sequence() {
    std::map<std::string_view, InFlight> most; // of K0's points of the kind
    for (const OrderPoint& before : k0_.points) {
      InFlight& m = most[before.what];
      const InFlight& n = before.in_flight;
      m = {std::max(m.loads, n.loads), std::max(m.load_bytes, n.load_bytes), std::max(m.stores, n.stores),
           std::max(m.lds_writes, n.lds_writes), std::max(m.scalar, n.scalar)};
    }
    size_t next = 0;
    for (const OrderPoint& before : k0_.points) {
      if (is_loose(k0_, before)) continue;
      for (; next < order_.points.size() && order_.points[next].what != before.what; ++next)
        compare_added(order_.points[next], most);
      if (next == order_.points.size())
        return report(last_, "memory-order",
                      fmt::format("K0's {} stands behind others than here", before.what), before.what);
      compare_at(before, order_.points[next++]);
    }
    for (; next < order_.points.size(); ++next) compare_added(order_.points[next], most);
  }

  void compare_at(const OrderPoint& before, const OrderPoint& now) {
    compare_waits(before, now);
    around_k0_.advance(before.at);
    around_.advance(now.at);
    compare_loose(now);
    if (now.kind != Kind::Barrier) compare_plain(now);
  }

  // Atomics without an order of their own stay on their side of what has one.
  void compare_loose(const OrderPoint& now) {
    const Sides<std::string>&was = around_k0_.loose, &is = around_.loose;
    for (const std::string& what : was.kinds()) {
      const unsigned front = was.front(what), behind = was.behind(what), front_now = is.front(what),
                     behind_now = is.behind(what);
      const bool gone = (front != 0 && front_now == 0) || (behind != 0 && behind_now == 0);
      if (gone || (front_now < front && behind_now > behind) || (front_now > front && behind_now < behind))
        report(now.at, "memory-order", fmt::format("{} on the other side of {}", what, now.what), "");
    }
  }

  // What K0 stores in front of a release is published by it, and what it loads behind an acquire may be news.
  // Loading is held back where there is something that acquires: no atomic does so without cache control.
  void compare_plain(const OrderPoint& now) {
    const Sides<AccessKind>&was = around_k0_.accesses, &is = around_.accesses;
    for (const AccessKind& kind : is.kinds()) {
      const auto& [store, scalar, roots] = kind;
      if (now.kind == Kind::CacheControl && scalar != now.scalar) continue;
      const unsigned front = was.front(kind), behind = was.behind(kind), front_now = is.front(kind),
                     behind_now = is.behind(kind);
      const bool late = store && front_now < front && behind_now > behind;
      const bool early =
          !store && k0_.past_caches && behind > 0 && front_now > front && (behind_now < behind || front == 0);
      if (!late && !early) continue;
      report(now.at, "memory-order-moved",
             fmt::format("a {} {} {} that K0 has {}", scalar ? "scalar" : "vector", store ? "store" : "load",
                         late ? "behind" : "in front", late ? "in front" : "behind"),
             "");
      return;
    }
  }

  void compare_laws() {
    for (const auto& [law, a, b] : k0_laws_)
      if (!laws_.contains({law, a, b}))
        report(first_of(a), "memory-order-branched-around",
               fmt::format("{} is not {} {} on all ways", a, text(law), b), b);
  }

  Index first_of(const std::string& what) const {
    const auto found = std::ranges::find(order_.points, what, &OrderPoint::what);
    return found == order_.points.end() ? last_ : found->at;
  }

  // One that K0 does not have there: as good as the worst of its kind.
  void compare_added(const OrderPoint& now, const std::map<std::string_view, InFlight>& most) {
    if (order_.relaxed_atomic(now)) return;
    const auto found = most.find(now.what);
    if (found == most.end()) return;
    OrderPoint limit = now;
    limit.in_flight = found->second;
    compare_waits(limit, now);
  }

  // Loads that stand in front of it in the candidate only are sent ahead, and what K0 has waited for they are
  // not. An invalidation is no place to send them past.
  void compare_waits(const OrderPoint& k0, const OrderPoint& now) {
    const InFlight &a = k0.in_flight, &b = now.in_flight;
    const bool strict = now.kind == Kind::CacheControl;
    const unsigned ahead = strict ? 0 : now.bytes_before - std::min(now.bytes_before, k0.bytes_before);
    const auto compare = [&](std::string_view what, std::string_view counter, unsigned before,
                             unsigned here) {
      if (here <= before) return;
      report(now.at, fmt::format("memory-order-{}", counter),
             fmt::format("{} {} in flight where K0 has {}", here, what, before),
             fmt::format("s_waitcnt {}({})", counter, before));
    };
    if (!now.scalar) {
      compare("vector stores", "vmcnt", a.stores, b.stores);
      if (now.kind != Kind::LdsAtomic && b.load_bytes > a.load_bytes + ahead)
        report(now.at, "memory-order-vmcnt",
               fmt::format("{} bytes of vector loads in flight where K0 has {}", b.load_bytes, a.load_bytes),
               fmt::format("s_waitcnt vmcnt({})", a.loads));
    }
    // LDS writes at barriers are a finding of the wait check.
    if (now.kind == Kind::Access || now.kind == Kind::CacheControl) {
      if (!now.scalar) compare("LDS writes", "lgkmcnt", a.lds_writes, b.lds_writes);
      compare("scalar accesses", "lgkmcnt", a.scalar, b.scalar);
    }
  }

  // Another copy of one that K0 has, of what the kernel does not write, is none the worse.
  bool is_known_table(const PlainAccess& load) const {
    return std::ranges::find(k0_.stale_loads, load.roots, &PlainAccess::roots) != k0_.stale_loads.end() &&
           !order_.may_be_written(load.roots) && !k0_.may_be_written(load.roots);
  }

  void compare_scalar_loads() {
    const auto doubtful = [&](const MemoryOrder& o) {
      std::vector<Index> places;
      for (const PlainAccess& load : o.stale_loads)
        if (!is_known_table(load)) places.push_back(load.at);
      return places;
    };
    const std::vector<Index> before = doubtful(k0_), now = doubtful(order_);
    if (now.size() <= before.size()) return;
    report(now.front(), "memory-order-scalar",
           fmt::format("{} scalar loads behind vector stores where K0 has {}", now.size(), before.size()),
           "s_dcache_inv");
  }

  const MemoryOrder &k0_, &order_;
  const OrderLaws &k0_laws_, &laws_;
  Surroundings around_k0_{k0_}, around_{order_};
  std::set<std::string> loose_; // kinds of points of which there may be fewer
  Index last_;
  FindingList findings_;
};

} // namespace

std::vector<Finding> lost_order(const Program& k0, const Function& k0_function, const Program& candidate,
                                const Function& function, bool one_wave) {
  if (function.begin == function.end) return {};
  const Cfg k0_cfg = Cfg::build(k0, k0_function), cfg = Cfg::build(candidate, function);
  MemoryOrder before = MemoryOrder::compute(k0, k0_function, k0_cfg, one_wave),
              now = MemoryOrder::compute(candidate, function, cfg, one_wave);
  before.relaxed = now.relaxed = before.relaxed && now.relaxed;
  const OrderLaws laws_before = order_laws(before, k0_cfg), laws_now = order_laws(now, cfg);
  return OrderComparison(before, laws_before, candidate, function, now, laws_now).run();
}

} // namespace asmevo::program
