#include "search/slices.h"

#include <algorithm>

namespace asmevo::search {

using isa::Instruction;
using isa::RegUnit;
using program::Index;

struct Slicer::Search {
  Slice slice;
  std::map<Index, isa::RegSet, std::greater<>> open; // values not taken apart yet, by who wrote them
  std::set<RegUnit> outside;                         // that come in and are no constants
  bool failed = false;                               // something cannot be taken apart
};

namespace {

// Only registers: EXEC is the same for all, MODE nobody changes within plain arithmetic.
template <class F>
void each_source(const ValueFlow& flow, Index i, F f) {
  for (const isa::RegRange& r : flow.code().instruction(i).uses)
    for (RegUnit u = r.first; u < r.first + r.count; ++u)
      if (u != isa::unit::exec && u != isa::unit::exec + 1 && u < isa::unit::mode) f(u, flow.writer(i, u));
}

} // namespace

Slicer::Slicer(const ValueFlow& flow, const KnownValues& known)
    : flow_(flow), at_start_(known.before(flow.begin())) {
  for (Index i = flow.begin(); i < flow.end(); ++i) constant_.push_back(gives_constant(i));
}

bool Slicer::gives_constant(Index i) const {
  if (!is_plain_arithmetic(flow_.code().instruction(i))) return false;
  bool constant = true;
  each_source(flow_, i, [&](RegUnit u, Index writer) {
    constant &= writer == ValueFlow::incoming ? KnownValues::bounds(at_start_, u).constant().has_value()
                                              : constant_[writer - flow_.begin()];
  });
  return constant;
}

// Puts an entry into the slice, and the values it reads among the open ones; constants are taken apart at
// once.
void Slicer::take(Search& s, Index i) const {
  if (s.failed || !s.slice.entries.insert(i).second) return;
  s.failed = !is_plain_arithmetic(flow_.code().instruction(i));
  if (s.failed) return;
  each_source(flow_, i, [&](RegUnit u, Index writer) {
    if (writer != ValueFlow::incoming) {
      if (constant_[writer - flow_.begin()])
        take(s, writer);
      else
        s.open[writer].insert(u);
    } else if (const auto value = KnownValues::bounds(at_start_, u).constant()) {
      s.slice.constants.push_back({u, *value});
    } else {
      s.outside.insert(u);
    }
  });
}

// When the instructions run with the argument in its register from the start, none of them overwrites it
// before it is read; nor is what comes in that register a constant to some of them.
bool Slicer::argument_stays(const Slice& s) const {
  if (std::ranges::any_of(s.constants, [&](const auto& c) { return c.unit == s.argument; })) return false;
  return s.argument_writer == ValueFlow::incoming || std::ranges::none_of(s.entries, [&](Index i) {
           return i < s.argument_writer && flow_.code().instruction(i).writes({s.argument, 1});
         });
}

// The value that was written last is taken apart next. So when only one is left, everything goes through it.
void Slicer::each_slice(Index result, size_t most, const std::function<void(const Slice&)>& found) const {
  Search s;
  take(s, result);
  while (!s.failed && s.slice.entries.size() <= most) {
    if (s.open.empty() && s.outside.size() == 1) {
      s.slice.argument_writer = ValueFlow::incoming;
      s.slice.argument = *s.outside.begin();
      if (argument_stays(s.slice)) found(s.slice);
    }
    if (s.open.empty()) return;
    const auto [writer, units] = *s.open.begin();
    if (s.open.size() == 1 && s.outside.empty() && units.size() == 1) {
      s.slice.argument_writer = writer;
      units.for_each([&](RegUnit u) { s.slice.argument = u; });
      if (argument_stays(s.slice)) found(s.slice);
    }
    s.open.erase(s.open.begin());
    take(s, writer);
  }
}

} // namespace asmevo::search
