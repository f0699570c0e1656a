// Whether a case can tell a wrong kernel from a right one: whether K0's outputs are numbers, and whether they
// depend on the inputs.
#pragma once

#include "oracle/prepared_case.h"

namespace asmevo::oracle {

/// Of the elements of float outputs that K0 wrote.
struct OutputQuality {
  uint64_t elements = 0, not_finite = 0, at_limit = 0; // at_limit: the type's largest number, either sign
  bool all_same = true; // of each output; false where one has two different elements
};
Result<OutputQuality> output_quality(const PreparedCase&);

/// Views that are read (role In or InOut) and whether K0 leaves something else when the elements of the view
/// are other ones of its own elements. None: not all of its elements are the same, nor could K0 not run with
/// that.
Result<std::vector<std::pair<std::string, bool>>> input_influence(const PreparedCase&);

} // namespace asmevo::oracle
