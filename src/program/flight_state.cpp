#include "program/flight_state.h"

#include <algorithm>

namespace asmevo::program {

namespace {

// How many operations of a class are told apart: of an unordered one none.
uint32_t capacity(FlightClass c) {
  return in_order(c) ? counter_capacity(c) : 1;
}

// Bits of the n youngest operations.
constexpr uint64_t youngest(unsigned n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

} // namespace

std::string_view counter_name(FlightClass c) {
  return c == FlightClass::Vmem || c == FlightClass::Flat ? "vmcnt" : "lgkmcnt";
}

unsigned counter_capacity(FlightClass c) {
  constexpr unsigned vmcnt_bits = 6, lgkmcnt_bits = 4;
  return (1U << (c == FlightClass::Vmem || c == FlightClass::Flat ? vmcnt_bits : lgkmcnt_bits)) - 1;
}

unsigned FlightState::age(FlightClass c, uint16_t unit) const {
  return in_order(c) ? line(c).upper - score(c, unit) : 0;
}

void FlightState::issue(FlightClass c) {
  Line& l = line(c);
  if (!in_order(c)) {
    l.upper = l.lower + 1;
    return;
  }
  ++l.upper;
  l.lower = std::max(l.lower, l.upper - std::min(l.upper, capacity(c)));
  uint64_t& history = lds_history_[static_cast<size_t>(c)];
  history = (history << 1) & youngest(capacity(c));
}

void FlightState::mark(FlightClass c, uint16_t unit, Index producer) {
  scores_[slot(c, unit)] = line(c).upper;
  producers_[slot(c, unit)] = producer;
  if (unit == lds_bytes) lds_history_[static_cast<size_t>(c)] |= 1;
}

void FlightState::complete(FlightClass c, unsigned n) {
  Line& l = line(c);
  if (!in_order(c) && n != 0) return;
  l.lower = std::max(l.lower, l.upper - std::min<uint32_t>(l.upper, n));
  lds_history_[static_cast<size_t>(c)] &= youngest(n);
}

void FlightState::forget(uint16_t unit) {
  for (size_t c = 0; c < class_count; ++c) scores_[c * unit_count + unit] = 0;
}

void FlightState::clear() {
  for (size_t c = 0; c < class_count; ++c) complete(static_cast<FlightClass>(c), 0);
}

bool FlightState::merge_class(FlightClass c, const FlightState& other) {
  if (idle(c) && other.idle(c)) return false;
  const Line mine = line(c), its = other.line(c);
  // Both lines move to (0, upper]: ages stay what they are.
  const uint32_t upper = std::max(mine.upper - mine.lower, its.upper - its.lower);
  const auto moved = [&](const Line& l, uint32_t score) {
    return score <= l.lower ? 0 : score + upper - l.upper;
  };
  uint64_t& history = lds_history_[static_cast<size_t>(c)];
  const uint64_t both = history | other.lds_history_[static_cast<size_t>(c)];
  bool changed = upper != mine.upper - mine.lower || both != history;
  history = both;
  line(c) = {upper, 0};
  for (size_t u = 0; u < unit_count; ++u) {
    const size_t at = static_cast<size_t>(c) * unit_count + u;
    if (scores_[at] == 0 && other.scores_[at] == 0) continue;
    const uint32_t mine_now = moved(mine, scores_[at]), its_now = moved(its, other.scores_[at]);
    if (its_now > mine_now) {
      changed = true;
      producers_[at] = other.producers_[at];
    }
    scores_[at] = std::max(mine_now, its_now);
  }
  return changed;
}

bool FlightState::merge(const FlightState& other) {
  if (!known_) {
    *this = other;
    known_ = true;
    return true;
  }
  bool changed = false;
  for (size_t c = 0; c < class_count; ++c)
    changed = merge_class(static_cast<FlightClass>(c), other) || changed;
  return changed;
}

} // namespace asmevo::program
