#include "sanitizer/in_flight.h"

#include "program/flight_doubt.h"

namespace asmevo::sanitizer {

using program::FlightClass;

namespace {

bool may_count_twice(const InFlight::Operation& o) {
  return program::most_it_counts(*o.info->op->instruction) > 1;
}

} // namespace

void InFlight::clear() {
  for (Queue& q : queues_) q.clear();
  pending_.clear();
}

void InFlight::collect_pending() {
  pending_.clear();
  for (const Queue& q : queues_)
    for (size_t i = 0; i < q.size(); ++i)
      if (q[i].info->brings) pending_ |= q[i].info->defs;
}

InFlight::Clash InFlight::find(const OpInfo& info, uint64_t exec) const {
  const uint64_t read = info.every_lane ? emulator::all_lanes : exec;
  const uint64_t written = info.defines_every_lane ? emulator::all_lanes : exec;
  // What a load overwrites in its own queue comes before its own result.
  const std::optional<FlightClass> own =
      info.load && info.flight && program::in_order(*info.flight) ? info.flight : std::nullopt;
  for (const FlightClass c : program::flight_classes) {
    const Queue& q = queue(c);
    const auto doubtful_from = [&](size_t i) {
      while (i < q.size() && !may_count_twice(q[i])) ++i;
      return i < q.size();
    };
    for (size_t i = q.size(); i-- > 0;) {
      const Operation& o = q[i];
      if (!o.info->brings || !o.info->defs.meets(info.touched)) continue;
      Clash clash;
      (o.info->defs & info.touched).for_each([&](unsigned u) {
        if (clash.operation != nullptr) return;
        const bool defined = info.defs.contains(u), used = info.uses.contains(u);
        const bool harmless = c == own && defined && (!used || info.keeps_part);
        const uint64_t lanes =
            is_row(u) ? o.lanes & ((used ? read : 0) | (defined ? written : 0)) : ~uint64_t{0};
        if (harmless || lanes == 0) return;
        clash = {&o, u, c, program::in_order(c) ? static_cast<unsigned>(q.size() - 1 - i) : 0,
                 doubtful_from(i)};
      });
      if (clash.operation != nullptr) return clash;
    }
  }
  return {};
}

void InFlight::issue_in(FlightClass c, const OpInfo& info, uint64_t exec, uint64_t number) {
  Queue& q = queue(c);
  if (q.size() >= program::counter_capacity(c)) { // a full counter stalls the wave
    q.drop_oldest(1);
    collect_pending();
  }
  q.push({&info, exec, number});
  if (info.brings) pending_ |= info.defs;
}

void InFlight::issue(const OpInfo& info, uint64_t exec, uint64_t number) {
  if (!info.flight) return;
  issue_in(*info.flight, info, exec, number);
  if (*info.flight == FlightClass::Flat) issue_in(FlightClass::Scalar, info, exec, number);
}

bool InFlight::retire(FlightClass c, unsigned n) {
  Queue& q = queue(c);
  if (q.size() <= n || (n != 0 && !program::in_order(c))) return false;
  q.drop_oldest(q.size() - n);
  return true;
}

void InFlight::complete(FlightClass c, unsigned n) {
  if (retire(c, n)) collect_pending();
}

void InFlight::wait(const isa::WaitcntFields& fields) {
  bool any = false;
  for (const FlightClass c : program::flight_classes) any |= retire(c, program::left_in_flight(fields, c));
  if (any) collect_pending();
}

bool InFlight::contains(FlightClass c, uint64_t number) const {
  const Queue& q = queue(c);
  for (size_t i = 0; i < q.size(); ++i)
    if (q[i].number == number) return true;
  return false;
}

} // namespace asmevo::sanitizer
