#include "program/flight_doubt.h"

#include <algorithm>
#include <optional>

namespace asmevo::program {

using isa::Family;
using isa::Instruction;
using isa::MemoryKind;

std::optional<FlightClass> flight_class(const Instruction& i) {
  if (i.counters.vmcnt != 0) return i.memory.kind == MemoryKind::Flat ? FlightClass::Flat : FlightClass::Vmem;
  if (i.counters.lgkmcnt == 0) return std::nullopt;
  return i.family == Family::Ds && i.memory.kind != MemoryKind::Gds ? FlightClass::Lds : FlightClass::Scalar;
}

unsigned most_it_counts(const Instruction& i) {
  return i.family == Family::Ds && i.base_mnemonic.find("_tr_") != std::string_view::npos ? 2 : 1;
}

namespace {

// Operations issued since, as its counter counts them; `complete` when a wait has proved it.
constexpr unsigned complete = 1000, unreached = 0xffffffff;

class BestCase {
 public:
  BestCase(const Program& program, const Cfg& cfg, Index producer, Index consumer, FlightClass c,
           uint16_t unit)
      : program_(program), cfg_(cfg), producer_(producer), consumer_(consumer), class_(c), unit_(unit) {}

  bool run() {
    const uint32_t first = cfg_.block_of(producer_);
    if (first == no_index) return false;
    entry_.assign(cfg_.blocks().size(), unreached);
    walk(first, producer_ + 1, 0);
    while (!work_.empty()) {
      const uint32_t b = work_.back();
      work_.pop_back();
      walk(b, cfg_.blocks()[b].begin, entry_[b]);
    }
    return at_consumer_;
  }

 private:
  void walk(uint32_t b, Index from, unsigned age) {
    const Block& block = cfg_.blocks()[b];
    for (Index i = from; i < block.end; ++i) {
      if (i == consumer_) {
        at_consumer_ = at_consumer_ || age >= complete;
        return;
      }
      const Instruction& instruction = program_.instruction(i);
      if (i == producer_ || rewritten(instruction)) return;
      age = after(instruction, age);
    }
    for (const uint32_t next : block.successors) {
      if (entry_[next] != unreached && entry_[next] >= age) continue;
      entry_[next] = age;
      work_.push_back(next);
    }
  }

  bool rewritten(const Instruction& i) const {
    return unit_ < isa::unit::count && i.writes({static_cast<isa::RegUnit>(unit_), 1});
  }

  unsigned after(const Instruction& i, unsigned age) const {
    if (age >= complete || i.call) return complete;
    const bool ordered = in_order(class_);
    if (i.issue == isa::IssueClass::Waitcnt) {
      const auto fields = isa::WaitcntFields::of(i);
      const unsigned n = left_in_flight(fields, class_);
      return n == 0 || (ordered && age >= n) ? complete : age;
    }
    if (ordered && flight_class(i) == class_) age += most_it_counts(i);
    return ordered && age >= counter_capacity(class_) ? complete : age;
  }

  const Program& program_;
  const Cfg& cfg_;
  Index producer_, consumer_;
  FlightClass class_;
  uint16_t unit_;
  std::vector<unsigned> entry_; // per block: the most of any path
  std::vector<uint32_t> work_;
  bool at_consumer_ = false;
};

} // namespace

bool may_be_complete(const Program& program, const Cfg& cfg, Index producer, Index consumer, FlightClass c,
                     uint16_t unit) {
  return BestCase(program, cfg, producer, consumer, c, unit).run();
}

} // namespace asmevo::program
