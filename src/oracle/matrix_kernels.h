// The kernels that matrix_figures.h measures with: for each matrix instruction three, named k<number><letter>
// (i, a, c: independent, accumulating, chained), which run their body of `matrix_body` instructions as often
// as the first dword of their arguments says.
#pragma once

#include "isa/codec.h"
#include "isa/hazards.h"

#include <string>
#include <vector>

namespace asmevo::oracle {

inline constexpr unsigned matrix_body = 256;

/// One matrix instruction with registers that suit it.
class MatrixForm {
 public:
  /// Every matrix instruction of the codec's target; those that take 4-bit factors once more for them.
  static std::vector<MatrixForm> all(isa::Codec&);

  const std::string& opcode() const { return opcode_; }
  const isa::Instruction& instruction() const { return *instruction_; }
  /// Wait states that an accumulating and a chained pair need between them.
  unsigned accumulating_wait_states(isa::Codec&) const;
  unsigned chained_wait_states(isa::Codec&) const;

  /// The bodies.
  std::string independent() const;
  std::string accumulating(isa::Codec&) const;
  std::string chained(isa::Codec&) const;

 private:
  std::string text(unsigned result, unsigned factor_a, bool adds_to_result) const;
  unsigned wait_states(isa::Codec&, const std::string& first, const std::string& second) const;
  std::string repeated(const std::vector<std::string>& lines, unsigned wait_states) const;
  bool fit(isa::Codec&);

  std::string opcode_, mnemonic_, modifiers_;
  unsigned result_ = 0, factor_a_ = 0, factor_b_ = 0; // registers
  const isa::Instruction* instruction_ = nullptr;
};

/// A complete .s file with the kernels of these forms, in their order.
std::string matrix_kernels(const std::vector<MatrixForm>&, isa::Codec&);

} // namespace asmevo::oracle
