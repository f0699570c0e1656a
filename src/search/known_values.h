// What is known of the values of registers when a kernel reaches an instruction: bounds, as unsigned 32-bit
// numbers. A constant has equal bounds; the high half of a 64-bit index that was zero-extended is 0 to 0; a
// work-item's number is 0 to 1023.
//
// Bounds of a vector register hold in the lanes that are on. Where EXEC widens they go on to hold if they do
// in all lanes that are ever on (the write happened under the widest mask, program/widest_exec.h), or in
// those of the mask that EXEC is restored from: of each mask that was saved in scalar registers it is
// remembered which vector registers have had the same bounds in all its lanes since.
#pragma once

#include "profile/kernel_code.h"

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace asmevo::search {

struct Bounds {
  uint32_t low = 0, high = ~uint32_t{0}; // inclusive
  bool everywhere = false;               // in lanes that are off, too
  bool anything() const { return low == 0 && high == ~uint32_t{0}; }
  std::optional<uint32_t> constant() const { return low == high ? std::optional(low) : std::nullopt; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

class KnownValues {
 public:
  struct State {
    /// Registers that are not there may hold anything.
    std::unordered_map<isa::RegUnit, Bounds> bounds;
    /// By the first register of a pair: vector registers whose bounds hold in all lanes of that mask.
    std::map<isa::RegUnit, isa::RegSet> masks;
  };

  explicit KnownValues(const profile::KernelCode&);

  /// Before an entry; walks its block.
  State before(program::Index i) const;
  /// Goes from before entry i to behind it.
  void step(State&, program::Index i) const;

  static Bounds bounds(const State&, isa::RegUnit);
  /// Of a source operand of 32 bits; anything where it is not one.
  static Bounds bounds(const State&, const isa::Operand&);

 private:
  State at_start() const;
  void step_masks(State&, const isa::Instruction&) const;
  const profile::KernelCode& code_;
  std::vector<bool> widest_; // by entry, from the function's first; empty: nowhere known
  std::vector<std::optional<State>> blocks_;
};

} // namespace asmevo::search
