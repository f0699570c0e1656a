#include "profile/in_flight.h"

#include <algorithm>

namespace asmevo::profile {

namespace {

using isa::Instruction;
using isa::IssueClass;
using program::Index;
using program::no_index;

constexpr size_t most_steps = 4096; // of a walk

isa::WaitcntFields wait_fields(const Instruction& i) {
  return isa::WaitcntFields::of(i);
}

// Going back: how many of each queue may still be in flight.
struct Open {
  size_t vector = 63, lds = 15;
  bool scalar = true;
};

void meet_wait(const Instruction& wait, const InFlight& seen, Open& open) {
  const isa::WaitcntFields f = wait_fields(wait);
  constexpr unsigned no_vector = 63, no_lds = 15;
  if (f.vmcnt != no_vector) open.vector = std::min(open.vector, seen.vector.size() + f.vmcnt);
  if (f.lgkmcnt != no_lds) open.lds = std::min(open.lds, seen.lds.size() + f.lgkmcnt);
  if (f.lgkmcnt == 0) open.scalar = false;
}

void meet_operation(const Instruction& i, Index at, InFlight& seen, const Open& open) {
  const bool vector = i.counters.vmcnt != 0, other = i.counters.lgkmcnt != 0;
  if (vector && seen.vector.size() < open.vector) seen.vector.push_back(at);
  if (!other) return;
  if (vector || i.memory.kind == isa::MemoryKind::Scalar) {
    if (open.scalar) seen.scalar.push_back(at);
  } else if (seen.lds.size() < open.lds) {
    seen.lds.push_back(at);
  }
}

void drop_youngest(std::vector<Index>& list, size_t n) {
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(n, list.size())));
}

} // namespace

InFlight in_flight_before(const CodePath& path, Index at) {
  InFlight seen;
  Open open;
  CodePath::Walk walk = path.back_from(at);
  for (size_t n = 0; n < most_steps; ++n) {
    const Index p = walk.next();
    if (p == no_index) break;
    const Instruction& i = path.code().instruction(p);
    if (i.issue == IssueClass::Waitcnt)
      meet_wait(i, seen, open);
    else
      meet_operation(i, p, seen, open);
    if (seen.vector.size() >= open.vector && seen.lds.size() >= open.lds && !open.scalar) break;
  }
  return seen;
}

InFlight awaited_by(const CodePath& path, Index at) {
  const Instruction& i = path.code().instruction(at);
  if (i.issue != IssueClass::Waitcnt && !i.ends_program) return {};
  InFlight all = in_flight_before(path, at);
  if (i.ends_program) return all;
  const isa::WaitcntFields f = wait_fields(i);
  drop_youngest(all.vector, f.vmcnt);
  drop_youngest(all.lds, f.lgkmcnt);
  if (f.lgkmcnt != 0) all.scalar.clear();
  return all;
}

Index barrier_before(const CodePath& path, Index at) {
  const Index before = path.back_from(at).next();
  const bool barrier = before != no_index && path.code().instruction(before).issue == IssueClass::Barrier;
  return barrier ? before : no_index;
}

std::vector<Producer> producers_of(const CodePath& path, Index at) {
  isa::RegSet wanted;
  for (const isa::RegRange& r : path.code().instruction(at).uses) wanted.insert(r);
  std::vector<Producer> found;
  CodePath::Walk walk = path.back_from(at);
  for (size_t n = 0; n < most_steps && !wanted.empty(); ++n) {
    const Index p = walk.next();
    if (p == no_index) break;
    for (const isa::RegRange& r : path.code().instruction(p).defs) {
      if (!wanted.overlaps(r)) continue;
      found.push_back({p, r});
      wanted.erase(r);
    }
  }
  return found;
}

} // namespace asmevo::profile
