#include "program/memory_order.h"

#include "program/finding_list.h"
#include "program/order_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace asmevo::program {

namespace {

using Kind = OrderPoint::Kind;

class OrderComparison {
 public:
  OrderComparison(const MemoryOrder& k0, const Program& candidate, const Function& function,
                  const MemoryOrder& order)
      : k0_(k0), order_(order), last_(function.end - 1), findings_(candidate) {}

  std::vector<Finding> run() {
    if (!compare_counts()) compare_sequence();
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

  static std::map<std::string, unsigned> counted(const MemoryOrder& order) {
    std::map<std::string, unsigned> count;
    for (const OrderPoint& p : order.points) ++count[p.what];
    return count;
  }

  // True where something is missing, barriers included, which removed_barriers() reports.
  bool compare_counts() {
    auto there = counted(order_);
    bool any = false;
    std::string missing;
    for (const auto& [what, before] : counted(k0_)) {
      if (there[what] >= before) continue;
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
    size_t next = 0;
    for (const OrderPoint& before : k0_.points) {
      InFlight& m = most[before.what];
      const InFlight& n = before.in_flight;
      m = {std::max(m.loads, n.loads), std::max(m.stores, n.stores), std::max(m.lds_writes, n.lds_writes),
           std::max(m.scalar, n.scalar)};
    }
    for (const OrderPoint& before : k0_.points) {
      for (; next < order_.points.size() && order_.points[next].what != before.what; ++next)
        compare_added(order_.points[next], most);
      if (next == order_.points.size())
        return report(last_, "memory-order",
                      fmt::format("K0's {} stands behind others than here", before.what), before.what);
      compare_waits(before, order_.points[next++]);
    }
    for (; next < order_.points.size(); ++next) compare_added(order_.points[next], most);
  }

  // One that K0 does not have there: as good as the worst of its kind.
  void compare_added(const OrderPoint& now, const std::map<std::string_view, InFlight>& most) {
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
    const unsigned ahead = strict ? 0 : now.loads_before - std::min(now.loads_before, k0.loads_before);
    const auto compare = [&](std::string_view what, std::string_view counter, unsigned before, unsigned here,
                             unsigned allowed) {
      if (here <= before + allowed) return;
      report(now.at, fmt::format("memory-order-{}", counter),
             fmt::format("{} {} in flight where K0 has {}", here, what, before),
             fmt::format("s_waitcnt {}({})", counter, before));
    };
    if (!now.scalar) {
      compare("vector stores", "vmcnt", a.stores, b.stores, 0);
      if (now.kind != Kind::LdsAtomic) compare("vector loads", "vmcnt", a.loads, b.loads, ahead);
    }
    // LDS writes at barriers are a finding of the wait check.
    if (now.kind == Kind::Access || now.kind == Kind::CacheControl) {
      if (!now.scalar) compare("LDS writes", "lgkmcnt", a.lds_writes, b.lds_writes, 0);
      compare("scalar accesses", "lgkmcnt", a.scalar, b.scalar, 0);
    }
  }

  void compare_scalar_loads() {
    if (order_.stale_loads.size() <= k0_.stale_loads.size()) return;
    report(order_.stale_loads.front(), "memory-order-scalar",
           fmt::format("{} scalar loads behind vector stores where K0 has {}", order_.stale_loads.size(),
                       k0_.stale_loads.size()),
           "s_dcache_inv");
  }

  const MemoryOrder &k0_, &order_;
  Index last_;
  FindingList findings_;
};

} // namespace

std::vector<Finding> lost_order(const Program& k0, const Function& k0_function, const Program& candidate,
                                const Function& function) {
  if (function.begin == function.end) return {};
  const auto compute = [](const Program& p, const Function& f) {
    return MemoryOrder::compute(p, f, Cfg::build(p, f));
  };
  const MemoryOrder before = compute(k0, k0_function), now = compute(candidate, function);
  return OrderComparison(before, candidate, function, now).run();
}

} // namespace asmevo::program
