// Where values come from and where they go, in a stretch of code: entries that run one after another without
// EXEC changing in between, so that what one of them writes the next ones read, in the same lanes.
#pragma once

#include "profile/kernel_code.h"

#include <span>
#include <vector>

namespace asmevo::search {

class ValueFlow {
 public:
  static constexpr program::Index incoming = program::no_index; // written before the stretch

  /// Entries [begin, end), a stretch of stretches_of().
  ValueFlow(const profile::KernelCode&, program::Index begin, program::Index end);

  const profile::KernelCode& code() const { return code_; }
  program::Index begin() const { return begin_; }
  program::Index end() const { return end_; }

  /// The entry that wrote what `at` finds in a register; or incoming.
  program::Index writer(program::Index at, isa::RegUnit) const;
  /// The first entry of [from, to) that writes the register; or no_index.
  program::Index next_writer(isa::RegUnit, program::Index from, program::Index to) const;
  /// The first entry of [from, to) that reads it, or no_index.
  program::Index next_reader(isa::RegUnit, program::Index from, program::Index to) const;
  /// Entries of the stretch that read some result of `i` before it is overwritten.
  const std::vector<program::Index>& readers(program::Index i) const { return readers_[i - begin_]; }
  /// Some result of `i` may be read behind the stretch.
  bool escapes(program::Index i) const { return escapes_[i - begin_]; }

 private:
  const profile::KernelCode& code_;
  program::Index begin_, end_;
  std::vector<std::vector<program::Index>> writers_; // by register unit
  std::vector<std::vector<program::Index>> readers_; // by entry
  std::vector<bool> escapes_;                        // by entry
};

struct EntryRange {
  program::Index begin = 0, end = 0; // [begin, end)
};
/// The reachable code of the kernel, cut at the ends of blocks and behind what writes EXEC. None where vector
/// registers are indexed or vector instructions may be skipped: operands do not say what is read, then.
std::vector<EntryRange> stretches_of(const profile::KernelCode&);

/// VALU or SALU work whose results depend on its operands and on MODE alone, lane by lane, so that the same
/// instruction with the same operands gives the same again.
bool is_plain_arithmetic(const isa::Instruction&);

} // namespace asmevo::search
