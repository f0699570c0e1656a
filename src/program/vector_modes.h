// Where instructions do not mean what their words say: VGPR indexing (s_set_gpr_idx_on: an operand is another
// register than the one named) and VSKIP (vector instructions are skipped). For checks that must know,
// instruction by instruction.
#pragma once

#include "program/cfg.h"

#include <vector>

namespace asmevo::program {

class VectorModes {
 public:
  static VectorModes compute(const Program&, const Function&, const Cfg&);

  /// The vector operands may be other registers than those named.
  bool indexed(Index i) const { return at(i, index_bit); }
  /// The instruction may be skipped.
  bool skipped(Index i) const { return at(i, skip_bit); }

 private:
  static constexpr uint8_t index_bit = 1, skip_bit = 2;
  bool at(Index i, uint8_t bit) const { return !bits_.empty() && (bits_[i - begin_] & bit) != 0; }

  std::vector<uint8_t> bits_; // empty: the function uses neither
  Index begin_ = 0;
};

} // namespace asmevo::program
