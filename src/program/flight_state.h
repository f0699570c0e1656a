// What is in flight when a wave reaches an instruction, counter by counter, as precisely as s_waitcnt can
// tell.
//
// Operations that return in the order they were issued form a queue: of those issued k operations ago,
// s_waitcnt n proves completion for k >= n. Vector memory other than FLAT is one queue (loads, stores,
// atomics, LDS-DMA and cache control alike), LDS another. FLAT and scalar memory return in any order: only a
// wait for 0 proves anything. They share counters with the queues, which does not weaken a wait for those: if
// at most n operations are in flight altogether, then at most n of the queue are, and these are its youngest.
//
// A counter that is full stalls the wave, so of a queue no more than 63 (vmcnt) or 15 (lgkmcnt) can be in
// flight.
#pragma once

#include "program/program.h"

#include <array>
#include <bit>
#include <vector>

namespace asmevo::program {

enum class FlightClass : uint8_t {
  Vmem,   // vmcnt, in order
  Flat,   // vmcnt and lgkmcnt; this is its vmcnt half
  Lds,    // lgkmcnt, in order
  Scalar, // lgkmcnt, any order: scalar memory, and the lgkmcnt half of FLAT
  count,
};

inline constexpr std::array flight_classes = {FlightClass::Vmem, FlightClass::Flat, FlightClass::Lds,
                                              FlightClass::Scalar};

/// Which counter completes the class: "vmcnt", "lgkmcnt".
std::string_view counter_name(FlightClass);
/// How far it counts.
unsigned counter_capacity(FlightClass);
/// Whether operations of the class complete in the order they were issued.
constexpr bool in_order(FlightClass c) {
  return c == FlightClass::Vmem || c == FlightClass::Lds;
}
/// How many of the class an s_waitcnt leaves in flight at most.
constexpr unsigned left_in_flight(const isa::WaitcntFields& fields, FlightClass c) {
  return c == FlightClass::Vmem || c == FlightClass::Flat ? fields.vmcnt : fields.lgkmcnt;
}

class FlightState {
 public:
  // Beside the registers: LDS bytes written by ds_write and atomics (in class Lds) or by LDS-DMA (in class
  // Vmem).
  static constexpr uint16_t lds_bytes = isa::unit::count;
  static constexpr size_t unit_count = isa::unit::count + 1U;
  static constexpr size_t class_count = static_cast<size_t>(FlightClass::count);

  bool in_flight(FlightClass c, uint16_t unit) const { return score(c, unit) > line(c).lower; }
  /// Nothing of the class is in flight.
  bool idle(FlightClass c) const { return line(c).upper == line(c).lower; }
  /// How many operations of its class were issued after it: the n of the s_waitcnt that completes it. 0 for
  /// classes that only a wait for 0 completes.
  unsigned age(FlightClass c, uint16_t unit) const;
  /// How many operations of the class that write LDS are in flight.
  unsigned lds_writes(FlightClass c) const {
    return static_cast<unsigned>(std::popcount(lds_history_[static_cast<size_t>(c)]));
  }
  Index producer(FlightClass c, uint16_t unit) const { return producers_[slot(c, unit)]; }

  /// An operation of the class issues; its results are marked with `mark` afterwards.
  void issue(FlightClass c);
  void mark(FlightClass c, uint16_t unit, Index producer);
  /// At most n operations of the class are in flight from here on.
  void complete(FlightClass c, unsigned n);
  void forget(uint16_t unit);
  void clear();

  /// Takes the worse of both for every unit. True where this changed.
  bool merge(const FlightState&);
  bool known() const { return known_; }
  void set_known() { known_ = true; }

 private:
  struct Line {
    uint32_t upper = 0, lower = 0; // scores in (lower, upper] are in flight
  };
  static size_t slot(FlightClass c, uint16_t unit) { return static_cast<size_t>(c) * unit_count + unit; }
  uint32_t score(FlightClass c, uint16_t unit) const { return scores_[slot(c, unit)]; }
  const Line& line(FlightClass c) const { return lines_[static_cast<size_t>(c)]; }
  Line& line(FlightClass c) { return lines_[static_cast<size_t>(c)]; }
  bool merge_class(FlightClass c, const FlightState& other);

  bool known_ = false; // some path has reached here
  std::array<Line, class_count> lines_{};
  std::array<uint64_t, class_count>
      lds_history_{}; // bit k: the operation issued k ago is in flight and writes LDS
  std::array<uint32_t, class_count * unit_count> scores_{};
  std::array<Index, class_count * unit_count> producers_{};
};

} // namespace asmevo::program
