// A value that the user gives an argument: --set n=1000, --set alpha=0.5. What its bits are depends on what
// the kernel takes the argument for, which shows only while it is probed.
#pragma once

#include "base/result.h"
#include "infer/kernarg_fields.h"
#include "infer/observations.h"

#include <map>
#include <string>

namespace asmevo::infer {

class GivenValue {
 public:
  /// A finite number, written as 12, -3, 0x1f or 2.5e-3. BadInput names the argument.
  static Result<GivenValue> parse(const std::string& argument, const std::string& text);

  /// An integer of at most 64 bits.
  bool whole() const { return whole_; }
  double number() const { return number_; }
  /// Of a whole one, in two's complement.
  uint64_t bits() const { return bits_; }
  const std::string& argument() const { return argument_; }

  /// The bits of an argument of `bytes` bytes that is taken for `type`. A number with a fraction is a float
  /// even where the type is not known to be one.
  uint64_t encoded(ValueType type, uint64_t bytes, isa::Gfx) const;
  /// BadInput where `type`, which the kernel takes the argument for, does not hold it. Integers may be meant
  /// as signed or unsigned.
  Status check(ValueType type, isa::Gfx) const;

 private:
  bool fits(ValueType, isa::Gfx) const;

  std::string argument_, text_;
  double number_ = 0;
  bool whole_ = false;
  uint64_t bits_ = 0;
};

/// By kernarg offset. Of a pointer: what each element is.
using GivenValues = std::map<uint64_t, GivenValue>;

/// By the names of arguments. BadInput: no such argument, no number.
Result<GivenValues> pin(const std::map<std::string, std::string>& values, KernargFields&);
/// Gives scalars the bits that they have by what is known of them so far.
void apply(const GivenValues&, KernargFields&, const Observations&, isa::Gfx);
/// BadInput where the kernel takes something for a type that does not hold what is given.
Status check(const GivenValues&, const KernargFields&, const Observations&, isa::Gfx);

/// The bits of a number in a float type.
uint64_t float_bits(ValueType, double, isa::Gfx);

} // namespace asmevo::infer
