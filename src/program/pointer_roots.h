// Which pointers among the kernel's arguments an address may have been made from. Two accesses of different
// pointers are taken to touch different memory: two arguments into one buffer, of which one is written, would
// make most of what compilers and kernels do to loads wrong.
//
// Followed are the upper halves of addresses: an offset only adds a carry to them, a pointer is all of it. So
// what an address holds beside its pointer (counts, ids) is left out where it is a 32-bit argument.
#pragma once

#include "program/cfg.h"

#include <vector>

namespace asmevo::program {

/// Bit k: 8 bytes of the argument segment, the k-th modulo 60. Equal in two programs of one ABI.
class PointerRoots {
 public:
  static constexpr uint64_t unknown = uint64_t{1} << 63;

  static PointerRoots compute(const Program&, const Function&, const Cfg&);
  /// Of the memory access at an entry (LDS-DMA: of its global side); unknown where it cannot be told.
  uint64_t of(Index at) const { return roots_[at - begin_]; }

 private:
  friend class RootAnalysis;
  Index begin_ = 0;
  std::vector<uint64_t> roots_; // by entry
};

constexpr bool may_be_one_pointer(uint64_t a, uint64_t b) {
  return ((a | b) & PointerRoots::unknown) != 0 || (a & b) != 0;
}

} // namespace asmevo::program
