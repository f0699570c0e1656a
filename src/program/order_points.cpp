#include "program/order_points.h"

#include "program/flight_doubt.h"
#include "program/pointer_roots.h"
#include "program/wait_placement.h"
#include "program/working_barriers.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::MemoryKind;

constexpr uint64_t bits_of_youngest(unsigned n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

bool is_cache_control(const Instruction& i) {
  const isa::MemoryAccess& m = i.memory;
  return m.kind != MemoryKind::None && !m.load && !m.store && !m.returns; // clocks return something
}

bool is_point(const Instruction& i) {
  return i.issue == IssueClass::Barrier ||
         (is_coherent(i) && (is_cache_control(i) || i.memory.load || i.memory.store));
}

bool writes_globally(const Instruction& i) {
  const MemoryKind k = i.memory.kind;
  return i.memory.store && (k == MemoryKind::Buffer || k == MemoryKind::Global || k == MemoryKind::Flat);
}

bool is_vector_load(const Instruction& i) {
  const auto c = flight_class(i);
  return (c == FlightClass::Vmem || c == FlightClass::Flat) && i.memory.load && !i.memory.store &&
         !i.memory.lds_dma;
}

// sc0 of an atomic only asks for the old value.
std::string words_of(const Instruction& i, isa::Gfx gfx) {
  const bool old_names = gfx == isa::Gfx::gfx90a;
  std::string text(i.base_mnemonic);
  if (i.mods.sc0 && !i.memory.atomic) text += old_names ? " glc" : " sc0";
  if (i.mods.sc1) text += old_names ? " scc" : " sc1";
  if (i.mods.nt) text += old_names ? " slc" : " nt";
  return text;
}

OrderPoint::Kind kind_of(const Instruction& i) {
  if (i.issue == IssueClass::Barrier) return OrderPoint::Kind::Barrier;
  if (is_cache_control(i)) return OrderPoint::Kind::CacheControl;
  return i.memory.kind == MemoryKind::Lds ? OrderPoint::Kind::LdsAtomic : OrderPoint::Kind::Access;
}

bool is_global(MemoryKind k) {
  return k == MemoryKind::Buffer || k == MemoryKind::Global || k == MemoryKind::Flat;
}

// Loads by size: the queue of those of at least so many bytes, and what such a one has more than the next
// smaller.
constexpr std::array<unsigned, 5> load_sizes = {1, 2, 4, 8, 16};
constexpr std::array<unsigned, 5> more_bytes = {1, 1, 2, 4, 8};
using LoadQueues = std::array<uint64_t, 5>;

unsigned rounded_bytes(unsigned bytes) {
  unsigned all = 1;
  for (size_t k = 1; k < load_sizes.size(); ++k)
    if (bytes > load_sizes[k - 1]) all += more_bytes[k];
  return all;
}

unsigned bytes_in(const LoadQueues& queues) {
  unsigned bytes = 0;
  for (size_t k = 0; k < queues.size(); ++k)
    bytes += static_cast<unsigned>(std::popcount(queues[k])) * more_bytes[k];
  return bytes;
}

// Bit k: the operation issued k ago may be in flight. Of what returns in any order only bit 0, for all.
struct OrderTraffic {
  LoadQueues loads{}, exposed{}; // exposed: those that other waves may write over
  uint64_t stores = 0, flat_loads = 0, flat_exposed = 0, flat_stores = 0, flat_lds = 0, lds = 0,
           lds_writes = 0, scalar = 0;
  uint64_t stale = 0; // bit 0: the scalar cache may hold what is in memory no more
  bool known = false;

  template <class F>
  static void each_pair(OrderTraffic& a, const OrderTraffic& b, F f) {
    for (size_t k = 0; k < a.loads.size(); ++k) f(a.loads[k], b.loads[k]), f(a.exposed[k], b.exposed[k]);
    for (uint64_t OrderTraffic::* bits :
         {&OrderTraffic::stores, &OrderTraffic::flat_loads, &OrderTraffic::flat_exposed,
          &OrderTraffic::flat_stores, &OrderTraffic::flat_lds, &OrderTraffic::lds, &OrderTraffic::lds_writes,
          &OrderTraffic::scalar, &OrderTraffic::stale})
      f(a.*bits, b.*bits);
  }

  template <class F>
  void each_vmem_queue(F f) {
    for (LoadQueues* queues : {&loads, &exposed})
      for (uint64_t& bits : *queues) f(bits);
    f(stores);
  }

  bool merge(const OrderTraffic& o) {
    bool grew = !std::exchange(known, true);
    each_pair(*this, o, [&](uint64_t& mine, uint64_t its) {
      grew |= (its & ~mine) != 0;
      mine |= its;
    });
    return grew;
  }

  void wait(const isa::WaitcntFields& n) {
    each_vmem_queue([&](uint64_t& bits) { bits &= bits_of_youngest(n.vmcnt); });
    for (uint64_t* bits : {&lds, &lds_writes}) *bits &= bits_of_youngest(n.lgkmcnt);
    if (n.vmcnt == 0) flat_loads = flat_exposed = flat_stores = 0;
    if (n.lgkmcnt == 0) flat_lds = scalar = 0;
  }

  void add_load(unsigned bytes, bool may_be_written) {
    for (size_t k = 0; k < load_sizes.size(); ++k) {
      if (k != 0 && bytes <= load_sizes[k - 1]) break;
      loads[k] |= 1;
      if (may_be_written) exposed[k] |= 1;
    }
  }

  void issue(const Instruction& i, FlightClass c, bool of_arguments, bool may_be_written) {
    const bool load = is_vector_load(i);
    if (c == FlightClass::Flat) {
      (load ? flat_loads : flat_stores) = 1;
      if (load && may_be_written) flat_exposed = 1;
      if (!load) flat_lds = 1;
    } else if (c == FlightClass::Vmem) {
      each_vmem_queue([&](uint64_t& bits) { bits = bits << 1 & bits_of_youngest(counter_capacity(c)); });
      if (load)
        add_load(i.memory.bytes, may_be_written);
      else if (!i.memory.lds_dma)
        stores |= 1;
    } else if (c == FlightClass::Lds) {
      for (uint64_t* bits : {&lds, &lds_writes}) *bits = *bits << 1 & bits_of_youngest(counter_capacity(c));
      lds |= 1;
      if (i.memory.store) lds_writes |= 1;
    } else if (!of_arguments) {
      scalar = 1;
    }
  }

  InFlight counted(bool at_barrier) const {
    const auto n = [](uint64_t a, uint64_t b) {
      return static_cast<unsigned>(std::popcount(a) + std::popcount(b));
    };
    const LoadQueues& q = at_barrier ? exposed : loads;
    const uint64_t flat = at_barrier ? flat_exposed : flat_loads;
    return {n(q[0], flat), bytes_in(q) + n(flat, 0), n(stores, flat_stores), n(lds_writes, flat_lds),
            n(scalar, 0)};
  }
};

class OrderAnalysis {
 public:
  OrderAnalysis(const Program& program, const Function& function, const Cfg& cfg, bool one_wave)
      : program_(program), function_(function), cfg_(cfg),
        roots_(PointerRoots::compute(program, function, cfg)),
        barriers_(working_barriers(program, function, cfg, one_wave)),
        of_arguments_(function.end - function.begin), exposed_(function.end - function.begin),
        point_of_(function.end - function.begin, no_index) {}

  MemoryOrder run() {
    list();
    entry_.resize(cfg_.blocks().size());
    std::vector<char> grown(cfg_.blocks().size());
    if (entry_.empty()) return std::move(result_);
    entry_[0].known = true;
    grown[0] = 1;
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order()) {
        if (!std::exchange(grown[b], 0)) continue;
        const OrderTraffic out = walk(b, false);
        for (const uint32_t next : cfg_.blocks()[b].successors)
          if (entry_[next].merge(out)) grown[next] = 1, again = true;
      }
    }
    for (uint32_t b = 0; b < entry_.size(); ++b)
      if (entry_[b].known) walk(b, true);
    std::ranges::sort(result_.stale_loads, {}, &PlainAccess::at);
    return std::move(result_);
  }

 private:
  // What does not depend on the way control takes. A scalar load is one of kernel arguments where nothing in
  // front of it writes its base.
  void list() {
    std::bitset<isa::unit::count> written;
    for (Index at = function_.begin; at < function_.padding; ++at) {
      const Instruction& i = program_.instruction(at);
      of_arguments_[at - function_.begin] = loads_arguments(i, written);
      if (never_runs(at)) continue;
      if (i.issue == IssueClass::Barrier ? std::ranges::binary_search(barriers_, at) : is_point(i))
        add_point(at, i);
      else if (i.memory.kind != MemoryKind::None)
        add_plain(at, i);
      for (const isa::RegRange& d : i.defs)
        for (isa::RegUnit u = d.first; u < d.first + d.count; ++u) written.set(u);
    }
    result_.past_caches = goes_past_caches();
    result_.relaxed = !any_store() && !result_.past_caches && !any_call();
    find_exposed();
    count_loads_before();
  }

  bool never_runs(Index at) const {
    return !cfg_.unknown_edges() && !cfg_.blocks()[cfg_.block_of(at)].reachable;
  }

  void add_point(Index at, const Instruction& i) {
    point_of_[at - function_.begin] = static_cast<Index>(result_.points.size());
    result_.points.push_back(
        {at, kind_of(i), i.memory.kind == MemoryKind::Scalar, words_of(i, program_.target.gfx), 0, {}});
    if (i.memory.store && i.memory.kind != MemoryKind::Lds) add_written(roots_.of(at));
  }

  void add_plain(Index at, const Instruction& i) {
    const bool scalar = i.memory.kind == MemoryKind::Scalar;
    if (i.memory.kind == MemoryKind::Lds && i.memory.store) ++result_.lds_writes;
    if (!is_global(i.memory.kind) && !scalar) return;
    if (of_arguments_[at - function_.begin] != 0 || (!i.memory.load && !i.memory.store)) return;
    // LDS-DMA stores in LDS only.
    const bool store = i.memory.store && !i.memory.lds_dma;
    result_.plain.push_back({at, store, scalar, i.memory.bytes, roots_.of(at)});
    if (store) add_written(roots_.of(at));
  }

  void add_written(uint64_t roots) {
    if (std::ranges::find(result_.written, roots) == result_.written.end()) result_.written.push_back(roots);
  }

  bool any_point(OrderPoint::Kind kind) const {
    return std::ranges::find(result_.points, kind, &OrderPoint::kind) != result_.points.end();
  }
  bool any_store() const { return std::ranges::any_of(result_.plain, &PlainAccess::store); }
  bool goes_past_caches() const {
    return any_point(OrderPoint::Kind::CacheControl) ||
           std::ranges::any_of(result_.points, [&](const OrderPoint& p) {
             return p.kind == OrderPoint::Kind::Access && !program_.instruction(p.at).memory.atomic;
           });
  }
  bool any_call() const {
    for (Index at = function_.begin; at < function_.padding; ++at)
      if (program_.instruction(at).call) return true;
    return false;
  }

  // Loads that are in flight at a barrier matter where some wave may write what they read: another of the
  // workgroup behind the barrier, or somebody else who is told that it has been read. On gfx90a a release
  // within a device shows no cache control.
  void find_exposed() {
    const bool tells =
        result_.past_caches || any_call() || !function_.kernel ||
        (program_.target.gfx == isa::Gfx::gfx90a && any_point(OrderPoint::Kind::Access) && any_store());
    for (Index at = function_.begin; at < function_.padding; ++at) {
      const Instruction& i = program_.instruction(at);
      exposed_[at - function_.begin] = is_vector_load(i) && i.memory.kind != MemoryKind::Scratch &&
                                       (tells || result_.may_be_written(roots_.of(at)));
    }
  }

  void count_loads_before() {
    unsigned all = 0, exposed = 0;
    for (Index at = function_.begin; at < function_.padding; ++at) {
      const Instruction& i = program_.instruction(at);
      if (const Index point = point_of_[at - function_.begin]; point != no_index) {
        OrderPoint& p = result_.points[point];
        p.bytes_before = p.kind == OrderPoint::Kind::Barrier ? exposed : all;
      }
      if (!is_vector_load(i)) continue;
      const unsigned bytes = rounded_bytes(i.memory.bytes);
      all += bytes;
      if (exposed_[at - function_.begin] != 0) exposed += bytes;
    }
  }

  static bool loads_arguments(const Instruction& i, const std::bitset<isa::unit::count>& written) {
    const isa::Operand* base = i.find(isa::Role::Sbase);
    if (i.memory.kind != MemoryKind::Scalar || !i.memory.load || base == nullptr) return false;
    for (isa::RegUnit u = base->reg.first; u < base->reg.first + base->reg.count; ++u)
      if (written.test(u)) return false;
    return true;
  }

  OrderTraffic walk(uint32_t b, bool report) {
    OrderTraffic now = entry_[b];
    for (Index at = cfg_.blocks()[b].begin; at < cfg_.blocks()[b].end; ++at) {
      const Instruction& i = program_.instruction(at);
      if (report) note(at, i, now);
      step(at, i, now);
    }
    return now;
  }

  void note(Index at, const Instruction& i, const OrderTraffic& now) {
    const Index point = point_of_[at - function_.begin];
    if (point != no_index) result_.points[point].in_flight = now.counted(i.issue == IssueClass::Barrier);
    if (now.stale != 0 && i.memory.kind == MemoryKind::Scalar && i.memory.load &&
        !of_arguments_[at - function_.begin])
      result_.stale_loads.push_back({at, false, true, i.memory.bytes, roots_.of(at)});
  }

  void step(Index at, const Instruction& i, OrderTraffic& now) const {
    if (i.issue == IssueClass::Waitcnt) now.wait(isa::WaitcntFields::of(i));
    if (i.call) {
      now = {}; // it comes back with nothing in flight, and may have stored
      now.known = true;
      now.stale = 1;
    }
    const bool lds = i.memory.kind == MemoryKind::Lds;
    if (writes_globally(i) || (is_point(i) && !lds && i.issue != IssueClass::Barrier)) now.stale = 1;
    if (i.base_mnemonic.starts_with("s_dcache_inv")) now.stale = 0;
    if (const auto c = flight_class(i))
      now.issue(i, *c, of_arguments_[at - function_.begin] != 0, exposed_[at - function_.begin] != 0);
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  PointerRoots roots_;
  std::vector<Index> barriers_;    // that order something
  std::vector<char> of_arguments_; // by entry of the function
  std::vector<char> exposed_;      // loads in flight at a barrier that somebody may write over
  std::vector<Index> point_of_;
  std::vector<OrderTraffic> entry_; // by block
  MemoryOrder result_;
};

} // namespace

MemoryOrder MemoryOrder::compute(const Program& program, const Function& function, const Cfg& cfg,
                                 bool one_wave) {
  return OrderAnalysis(program, function, cfg, one_wave).run();
}

bool MemoryOrder::may_be_written(uint64_t roots) const {
  return std::ranges::any_of(written, [&](uint64_t w) { return may_be_one_pointer(w, roots); });
}

} // namespace asmevo::program
