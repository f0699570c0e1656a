// Which mathematical function a few instructions compute, told by running them.
//
// Compilers write expf as ten to sixteen instructions, and not always the same ones: the library's version,
// scheduling, folded signs and factors, constants that were hoisted. What they compute is the same. So the
// instructions are run in the emulator on 128 arguments of all sizes and signs, and what comes out is
// compared with functions worth knowing. This proves nothing, of course: denormals, infinities and NaNs are
// not looked at, and whoever rewrites the code has to verify it.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"
#include "search/slices.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace asmevo::search {

struct Function {
  enum class Kind : uint8_t {
    Exp2,       // 2^(c x)
    Log2,       // c log2(x)
    Sqrt,       // c sqrt(x)
    Rsqrt,      // c / sqrt(x)
    Reciprocal, // c / x
    Tanh,       // tanh(x)
    TanhAbs,    // tanh(|x|)
    Erf,        // erf(x)
    ErfAbs,     // erf(|x|)
    Log1p,      // log(1 + x)
  } kind = Kind::Exp2;
  float c = 1;
  /// "2^(1.4427 x)"
  std::string text() const;
};

/// Instructions in the order in which they run, and what they take.
struct Experiment {
  isa::Target target;
  std::vector<uint32_t> words;
  isa::RegUnit argument = 0, result = 0;  // 32-bit registers; the result a VGPR
  std::vector<Slice::Constant> constants; // in other registers, before them; the rest are 0
  uint32_t mode = 0x3f0;                  // the MODE register: rounding and denormals
};

/// Nothing where they compute none of these functions, or do not come to an end.
std::optional<Function> observe(const Experiment&);

} // namespace asmevo::search
