// The way that waves mostly take through a kernel, forwards and backwards, for questions such as "what was
// loaded before this wait". Where several blocks come together, or a block has several ends, the one goes on
// that the profile has seen most often; where it does not know, the one that stands next to it in memory.
#pragma once

#include "profile/kernel_code.h"

namespace asmevo::profile {

class CodePath {
 public:
  /// Both must outlive the result.
  CodePath(const KernelCode&, const KernelProfile&);

  const KernelCode& code() const { return code_; }
  const KernelProfile& profile() const { return profile_; }
  /// Of the instruction; null where the profile has none.
  const InstructionTime* time(program::Index i) const { return profile_.at(code_.address(i)); }
  /// How often a block ran, or if that is not known, how much time it took.
  double weight(uint32_t block) const { return weights_[block]; }
  /// How often control went from one block to one of its successors, as far as the blocks' weights tell.
  double weight(uint32_t from, uint32_t to) const;

  /// Goes back or forth from an entry, one entry a step. A loop is gone round twice at most, so that what
  /// its last turn left is met, and then left by the way in or out that is taken most often. A way into a
  /// block of the same loop that is taken just as often as the one before goes on as that: the last turn of a
  /// loop that loads ahead branches around its loads, and then out.
  class Walk {
   public:
    Walk(const CodePath& path, program::Index from, bool back);
    /// no_index: the path ends here.
    program::Index next();

   private:
    program::Index across(uint32_t block);
    uint32_t way_out() const;
    bool goes_on(uint32_t block, uint32_t next) const;
    double edge(uint32_t block, uint32_t next) const;
    const std::vector<uint32_t>& next_of(uint32_t block) const;
    const CodePath& path_;
    program::Index at_;
    bool back_;
    std::vector<uint8_t> visits_; // by block
    double taken_ = 0;            // how often the way was taken by which it came to this block
  };
  Walk back_from(program::Index i) const { return {*this, i, true}; }
  Walk on_from(program::Index i) const { return {*this, i, false}; }

 private:
  const KernelCode& code_;
  const KernelProfile& profile_;
  std::vector<double> weights_;
};

} // namespace asmevo::profile
