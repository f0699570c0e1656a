// Gathers the dependences of one instruction after the other and leaves out those that others imply. For
// dependences() only.
#pragma once

#include "program/dependences.h"

#include <array>
#include <span>

namespace asmevo::program {

class DependenceGraph {
 public:
  DependenceGraph(Index begin, Index end) : begin_(begin), ancestors_(end - begin) {}

  /// Wants `from` before the instruction now being looked at. Registers next to those of the same pair are
  /// joined.
  void want(Index from, DependenceKind kind, isa::RegRange reg = {});
  /// Ends what is wanted for `to`.
  void finish(Index to);
  /// Has some dependence to a later instruction.
  bool has_successor(Index i) const { return ancestors_[i - begin_].has_successor; }
  std::vector<Dependence> take() { return std::move(kept_); }

 private:
  // Ancestors among the last 2,000 or so instructions, as bits by position in the range: word k % words holds
  // positions 64k .. 64k+63 for the `words` newest k.
  static constexpr uint32_t words = 32;
  struct Ancestors {
    std::array<uint64_t, words> bits{};
    bool has_successor = false;
  };
  bool is_ancestor(uint32_t from, uint32_t to) const;
  void adopt(uint32_t from, uint32_t to);

  Index begin_;
  std::vector<Dependence> wanted_, kept_;
  std::vector<Ancestors> ancestors_;
};

} // namespace asmevo::program
