// What a result is made of: backwards from it, the instructions that it depends on, whatever stands between
// them, until one value and constants are all that comes in.
//
//   v_mul_f32   v2, 0x3fb8aa3b, v1     For v5 there is a slice of all four, whose argument is v1. v_exp
//   alone, v_rndne_f32 v3, v2                 or v_sub and v_exp, are none: v_sub takes two values. All but
//   the v_sub_f32   v4, v2, v3             v_mul are one, with v2 as argument. v_exp_f32   v5, v4
#pragma once

#include "search/known_values.h"
#include "search/value_flow.h"

#include <functional>
#include <map>
#include <set>

namespace asmevo::search {

struct Slice {
  std::set<program::Index> entries; // the result's included
  program::Index argument_writer = ValueFlow::incoming;
  isa::RegUnit argument = 0; // a 32-bit register
  struct Constant {
    isa::RegUnit unit = 0;
    uint32_t value = 0;
  };
  std::vector<Constant> constants; // that come in, too
};

class Slicer {
 public:
  /// `flow` must outlive it.
  Slicer(const ValueFlow& flow, const KnownValues&);

  /// Calls found(slice) for each slice of what `result` writes, the shortest first, up to `most` entries.
  void each_slice(program::Index result, size_t most, const std::function<void(const Slice&)>& found) const;

 private:
  struct Search;
  void take(Search&, program::Index) const;
  bool gives_constant(program::Index) const;
  bool argument_stays(const Slice&) const;

  const ValueFlow& flow_;
  KnownValues::State at_start_;
  std::vector<bool> constant_; // by entry of the stretch: computed from constants alone
};

} // namespace asmevo::search
