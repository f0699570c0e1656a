// Which asynchronous operations of one wave are in flight, and which registers they will write: as precisely
// as s_waitcnt can tell (program/flight_state.h has the rule), and lane by lane.
#pragma once

#include "sanitizer/op_info.h"

#include <array>

namespace asmevo::sanitizer {

class InFlight {
 public:
  struct Operation {
    const OpInfo* info = nullptr;
    uint64_t lanes = 0;  // of the vector registers that it brings
    uint64_t number = 0; // of all the wave's operations
  };
  /// Something in flight that an instruction must not touch yet.
  struct Clash {
    const Operation* operation = nullptr;
    unsigned unit = 0;
    program::FlightClass in = program::FlightClass::Vmem;
    unsigned wait = 0;     // the n of the s_waitcnt that completes it
    bool doubtful = false; // a load that may count twice is among those that a wait would have to count
  };

  void clear();
  /// Registers that something in flight brings.
  const UnitSet& pending() const { return pending_; }
  /// The first clash with an instruction that runs with these lanes on; no operation: none.
  Clash find(const OpInfo&, uint64_t exec) const;
  /// The instruction has issued. `number` counts the wave's operations.
  void issue(const OpInfo&, uint64_t exec, uint64_t number);
  /// At most so many of the class are in flight from here on.
  void complete(program::FlightClass, unsigned n);
  void wait(const isa::WaitcntFields&);
  /// The operation of that number is still in flight.
  bool contains(program::FlightClass, uint64_t number) const;

 private:
  // The operations of one class, oldest first: no more than a counter counts.
  class Queue {
   public:
    size_t size() const { return size_; }
    const Operation& operator[](size_t i) const { return ring_[(first_ + i) % capacity]; }
    void push(const Operation& o) { ring_[(first_ + size_++) % capacity] = o; }
    void drop_oldest(size_t count) { first_ = (first_ + count) % capacity, size_ -= count; }
    void clear() { size_ = 0; }

   private:
    static constexpr size_t capacity = 64;
    std::array<Operation, capacity> ring_;
    size_t first_ = 0, size_ = 0;
  };
  Queue& queue(program::FlightClass c) { return queues_[static_cast<size_t>(c)]; }
  const Queue& queue(program::FlightClass c) const { return queues_[static_cast<size_t>(c)]; }
  void issue_in(program::FlightClass, const OpInfo&, uint64_t exec, uint64_t number);
  bool retire(program::FlightClass, unsigned n);
  void collect_pending();

  std::array<Queue, static_cast<size_t>(program::FlightClass::count)> queues_;
  UnitSet pending_;
};

} // namespace asmevo::sanitizer
