// Other first contents for the inputs of a launch than its file gives: what a kernel does with numbers of
// both signs, with zeros, ties, denormals and infinities shows only when it gets some.
#pragma once

#include "oracle/launch_plan.h"

#include <string_view>
#include <vector>

namespace asmevo::oracle {

enum class InputVariant : uint8_t {
  AsGiven,
  Signed,     // floats: both signs, as far from 0 as given
  FewValues,  // few different numbers, so many ties; integers stay within their range
  Zeros,      // integers: the smallest given
  Small,      // floats: around the smallest normal number
  Large,      // floats: 64 times as large
  Spikes,     // a few much larger than the rest: one that is left out, or taken twice, shows in any sum
  Negative,   // floats: all of them far below 0; scalars with the other sign
  Empty,      // the largest input 0, all others and the scalars large: what a sum starts from stands alone
  Boundary,   // here and there NaNs, infinities, -0, largest and smallest numbers; integers: extremes
  Extremes,   // nothing but these
  Magnitudes, // floats: of every size alike
};
std::string_view name(InputVariant);
/// All but AsGiven and Extremes, which make sense with more than a few elements.
const std::vector<InputVariant>& other_variants();

/// Whether NaNs and infinities among the outputs are what one wants to see.
bool wants_specials(InputVariant);

/// Gives outputs and workspace that start as poison numbers, for launches of which the ones before did not
/// run whole: what is worked out from NaNs is NaN, whatever is done with it.
void fill_unwritten(LaunchPlan&);

/// Changes the inputs of a plan that are made by a rule, and float arguments that are given as numbers. False
/// where that changes nothing.
bool apply(InputVariant, LaunchPlan&);

} // namespace asmevo::oracle
