// Stretches of code that can be written anew: other instructions, in another order, with the waits and wait
// states that they then need. What rules about a block's order and its memory accesses have in common.
//
// A stretch lies within a block, between what must stay where it is: barriers, atomics and coherent accesses,
// changes of modes and priorities, addresses relative to the program counter. Its waits and s_nops are taken
// out, and put where the new code needs them. At its end everything is complete that was complete there
// before, and what was in flight still is, in the same order; so nothing outside of it has to change.
#pragma once

#include "program/dependences.h"
#include "program/wait_placement.h"
#include "program/wait_states_placement.h"
#include "search/rules/rule.h"

namespace asmevo::search {

/// An instruction of a stretch, neither a wait nor an s_nop.
struct Step {
  const isa::Instruction* instruction = nullptr;
  std::string text; // of it, without a newline
  // Of what raises a wait counter: at the end of the stretch the old code has waited for it. Others keep
  // their order.
  bool complete = false;
};

struct Stretch {
  program::Index begin = 0, end = 0; // entries [begin, end)
  std::vector<Step> steps;           // in their old order
};

class StraightCode {
 public:
  /// Null where waits cannot be placed (program::WaitFacts). The context must outlive the result.
  static std::unique_ptr<StraightCode> of(const RuleContext&);

  /// Must stay where it is, and nothing goes past it.
  bool is_border(program::Index) const;
  /// Entries [begin, end), which have no border but branches that can go: they are no steps, as waits and
  /// s_nops are not.
  Stretch stretch(program::Index begin, program::Index end) const;
  /// Of a block, in order, those of at least `least` instructions.
  std::vector<Stretch> stretches(uint32_t block, size_t least) const;
  /// Of all blocks that take time, or of all where that is not known; those that take most first, no more
  /// than `most`.
  std::vector<Stretch> hottest(size_t least, size_t most) const;

  struct Written {
    std::string text;                                  // with waits and wait states
    std::vector<const isa::Instruction*> instructions; // of it
  };
  Written write(const Stretch&, const std::vector<Step>& steps);
  /// As the program has it.
  Written old(const Stretch&) const;
  /// What has to keep its order among steps, by their numbers.
  std::vector<program::Dependence> dependences(const Stretch&, const std::vector<Step>& steps) const;
  /// An instruction for its text, which must be one line.
  const isa::Instruction* instruction(const std::string& text);
  /// Registers that are in flight when control comes to the stretch, by the class that brings them.
  const program::FlightState& flight_at(const Stretch& s) const { return wave_at(s.begin).state(); }
  /// Registers that the steps read or write, or that are in flight when control comes to the stretch.
  isa::RegSet in_use(const Stretch&, const std::vector<Step>& steps) const;

 private:
  StraightCode(const RuleContext& context, const program::WaitFacts& facts);
  void mark_complete(Stretch&, const std::vector<program::Index>& entries) const;
  const program::WaitPlacer& wave_at(program::Index begin) const;
  program::WaitNeed left_of_earlier(const Stretch&) const;

  const RuleContext& context_;
  program::WaitFacts facts_;
  program::WaitStates states_;
  program::WaveStates modes_;
  std::vector<program::WaitPlacer> blocks_;
  mutable std::map<program::Index, program::WaitPlacer> waves_;
  std::map<std::string, const isa::Instruction*> parsed_;
};

/// Cycles that the instructions take a wave which has the machine to itself, where vector memory answers
/// after so many.
double cycles_alone(const RuleContext&, const std::vector<const isa::Instruction*>&, double memory_latency);

} // namespace asmevo::search
