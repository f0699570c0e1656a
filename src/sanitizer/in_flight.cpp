#include "sanitizer/in_flight.h"

#include "program/flight_doubt.h"

#include <algorithm>

namespace asmevo::sanitizer {

using program::FlightClass;

namespace {

bool may_count_twice(const InFlight::Operation& o) {
  return program::most_it_counts(*o.info->op->instruction) > 1;
}

} // namespace

void InFlight::clear() {
  for (auto& q : queues_) q.clear();
  pending_.clear();
}

void InFlight::collect_pending() {
  pending_.clear();
  for (const auto& q : queues_)
    for (const Operation& o : q) pending_ |= o.brings;
}

InFlight::Clash InFlight::find(const OpInfo& info, uint64_t exec) const {
  const uint64_t read = info.every_lane ? emulator::all_lanes : exec;
  const uint64_t written = info.defines_every_lane ? emulator::all_lanes : exec;
  // What a load overwrites in its own queue comes before its own result.
  const std::optional<FlightClass> own =
      info.load && info.flight && program::in_order(*info.flight) ? info.flight : std::nullopt;
  for (const FlightClass c : program::flight_classes) {
    const auto& q = queue(c);
    for (size_t i = q.size(); i-- > 0;) {
      const Operation& o = q[i];
      if (!o.brings.meets(info.touched)) continue;
      Clash clash;
      (o.brings & info.touched).for_each([&](unsigned u) {
        if (clash.operation != nullptr) return;
        const bool defined = info.defs.contains(u), used = info.uses.contains(u);
        const bool harmless = c == own && defined && (!used || info.keeps_part);
        const uint64_t lanes =
            is_row(u) ? o.lanes & ((used ? read : 0) | (defined ? written : 0)) : ~uint64_t{0};
        if (harmless || lanes == 0) return;
        clash = {&o, u, c, program::in_order(c) ? static_cast<unsigned>(q.size() - 1 - i) : 0,
                 std::any_of(q.begin() + static_cast<std::ptrdiff_t>(i), q.end(), may_count_twice)};
      });
      if (clash.operation != nullptr) return clash;
    }
  }
  return {};
}

void InFlight::issue_in(FlightClass c, const OpInfo& info, uint64_t exec, uint64_t number) {
  auto& q = queue(c);
  Operation o{&info, {}, exec, number};
  if (info.brings) o.brings = info.defs;
  q.push_back(o);
  if (info.brings) pending_ |= o.brings;
  if (q.size() > program::counter_capacity(c)) { // a full counter stalls the wave
    q.pop_front();
    collect_pending();
  }
}

void InFlight::issue(const OpInfo& info, uint64_t exec, uint64_t number) {
  if (!info.flight) return;
  issue_in(*info.flight, info, exec, number);
  if (*info.flight == FlightClass::Flat) issue_in(FlightClass::Scalar, info, exec, number);
}

void InFlight::complete(FlightClass c, unsigned n) {
  auto& q = queue(c);
  if (q.size() <= n || (n != 0 && !program::in_order(c))) return;
  q.erase(q.begin(), q.end() - static_cast<std::ptrdiff_t>(n));
  collect_pending();
}

void InFlight::wait(const isa::WaitcntFields& fields) {
  for (const FlightClass c : program::flight_classes) complete(c, program::left_in_flight(fields, c));
}

bool InFlight::contains(FlightClass c, uint64_t number) const {
  for (const Operation& o : queue(c))
    if (o.number == number) return true;
  return false;
}

} // namespace asmevo::sanitizer
