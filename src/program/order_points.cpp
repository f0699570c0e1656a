#include "program/order_points.h"

#include "program/flight_doubt.h"
#include "program/wait_placement.h"

#include <algorithm>
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

// Bit k: the operation issued k ago may be in flight. Of what returns in any order only bit 0, for all.
struct Traffic {
  uint64_t loads = 0, stores = 0, flat_loads = 0, flat_stores = 0, flat_lds = 0, lds = 0, lds_writes = 0,
           scalar = 0;
  uint64_t stale = 0; // bit 0: the scalar cache may hold what is in memory no more
  bool known = false;

  template <class F>
  static void each_pair(Traffic& a, const Traffic& b, F f) {
    for (uint64_t Traffic::* bits :
         {&Traffic::loads, &Traffic::stores, &Traffic::flat_loads, &Traffic::flat_stores, &Traffic::flat_lds,
          &Traffic::lds, &Traffic::lds_writes, &Traffic::scalar, &Traffic::stale})
      f(a.*bits, b.*bits);
  }

  bool merge(const Traffic& o) {
    bool grew = !std::exchange(known, true);
    each_pair(*this, o, [&](uint64_t& mine, uint64_t its) {
      grew |= (its & ~mine) != 0;
      mine |= its;
    });
    return grew;
  }

  void wait(const isa::WaitcntFields& n) {
    for (uint64_t* bits : {&loads, &stores}) *bits &= bits_of_youngest(n.vmcnt);
    for (uint64_t* bits : {&lds, &lds_writes}) *bits &= bits_of_youngest(n.lgkmcnt);
    if (n.vmcnt == 0) flat_loads = flat_stores = 0;
    if (n.lgkmcnt == 0) flat_lds = scalar = 0;
  }

  void issue(const Instruction& i, FlightClass c, bool of_arguments) {
    const bool load = is_vector_load(i);
    if (c == FlightClass::Flat) {
      (load ? flat_loads : flat_stores) = 1;
      if (!load) flat_lds = 1;
    } else if (c == FlightClass::Vmem) {
      for (uint64_t* bits : {&loads, &stores}) *bits = *bits << 1 & bits_of_youngest(counter_capacity(c));
      if (!i.memory.lds_dma) (load ? loads : stores) |= 1;
    } else if (c == FlightClass::Lds) {
      for (uint64_t* bits : {&lds, &lds_writes}) *bits = *bits << 1 & bits_of_youngest(counter_capacity(c));
      lds |= 1;
      if (i.memory.store) lds_writes |= 1;
    } else if (!of_arguments) {
      scalar = 1;
    }
  }

  InFlight counted() const {
    const auto n = [](uint64_t a, uint64_t b) {
      return static_cast<unsigned>(std::popcount(a) + std::popcount(b));
    };
    return {n(loads, flat_loads), n(stores, flat_stores), n(lds_writes, flat_lds), n(scalar, 0)};
  }
};

class OrderAnalysis {
 public:
  OrderAnalysis(const Program& program, const Function& function, const Cfg& cfg)
      : program_(program), function_(function), cfg_(cfg), of_arguments_(function.end - function.begin),
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
        const Traffic out = walk(b, false);
        for (const uint32_t next : cfg_.blocks()[b].successors)
          if (entry_[next].merge(out)) grown[next] = 1, again = true;
      }
    }
    for (uint32_t b = 0; b < entry_.size(); ++b)
      if (entry_[b].known) walk(b, true);
    std::ranges::sort(result_.stale_loads);
    return std::move(result_);
  }

 private:
  // What does not depend on the way control takes. A scalar load is one of kernel arguments where nothing in
  // front of it writes its base.
  void list() {
    std::bitset<isa::unit::count> written;
    unsigned loads = 0;
    for (Index at = function_.begin; at < function_.padding; ++at) {
      const Instruction& i = program_.instruction(at);
      if (is_point(i)) {
        point_of_[at - function_.begin] = static_cast<Index>(result_.points.size());
        result_.points.push_back({at,
                                  kind_of(i),
                                  i.memory.kind == MemoryKind::Scalar,
                                  words_of(i, program_.target.gfx),
                                  loads,
                                  {}});
      }
      loads += is_vector_load(i) ? 1 : 0;
      of_arguments_[at - function_.begin] = loads_arguments(i, written);
      for (const isa::RegRange& d : i.defs)
        for (isa::RegUnit u = d.first; u < d.first + d.count; ++u) written.set(u);
    }
  }

  static bool loads_arguments(const Instruction& i, const std::bitset<isa::unit::count>& written) {
    const isa::Operand* base = i.find(isa::Role::Sbase);
    if (i.memory.kind != MemoryKind::Scalar || !i.memory.load || base == nullptr) return false;
    for (isa::RegUnit u = base->reg.first; u < base->reg.first + base->reg.count; ++u)
      if (written.test(u)) return false;
    return true;
  }

  Traffic walk(uint32_t b, bool report) {
    Traffic now = entry_[b];
    for (Index at = cfg_.blocks()[b].begin; at < cfg_.blocks()[b].end; ++at) {
      const Instruction& i = program_.instruction(at);
      if (report) note(at, i, now);
      step(at, i, now);
    }
    return now;
  }

  void note(Index at, const Instruction& i, const Traffic& now) {
    const Index point = point_of_[at - function_.begin];
    if (point != no_index) result_.points[point].in_flight = now.counted();
    if (now.stale != 0 && i.memory.kind == MemoryKind::Scalar && i.memory.load &&
        !of_arguments_[at - function_.begin])
      result_.stale_loads.push_back(at);
  }

  void step(Index at, const Instruction& i, Traffic& now) const {
    if (i.issue == IssueClass::Waitcnt) now.wait(isa::WaitcntFields::of(i));
    if (i.call) {
      now = {}; // it comes back with nothing in flight, and may have stored
      now.known = true;
      now.stale = 1;
    }
    const bool lds = i.memory.kind == MemoryKind::Lds;
    if (writes_globally(i) || (is_point(i) && !lds && i.issue != IssueClass::Barrier)) now.stale = 1;
    if (i.base_mnemonic.starts_with("s_dcache_inv")) now.stale = 0;
    if (const auto c = flight_class(i)) now.issue(i, *c, of_arguments_[at - function_.begin]);
  }

  const Program& program_;
  const Function& function_;
  const Cfg& cfg_;
  std::vector<char> of_arguments_; // by entry of the function
  std::vector<Index> point_of_;
  std::vector<Traffic> entry_; // by block
  MemoryOrder result_;
};

} // namespace

MemoryOrder MemoryOrder::compute(const Program& program, const Function& function, const Cfg& cfg) {
  return OrderAnalysis(program, function, cfg).run();
}

} // namespace asmevo::program
