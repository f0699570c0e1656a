// What gates and outcomes mean, in a sentence for people who have not read gate/outcome.h.
#pragma once

#include "gate/outcome.h"

namespace asmevo::report {

/// "The edited text does not assemble, or ..."
std::string_view meaning(gate::Outcome);
/// The gate that says it: "G2"; "" where none does.
std::string_view gate_of(gate::Outcome);

/// Committed first, then as the gates stand, then what is no verdict.
std::vector<gate::Outcome> outcomes_in_order();

} // namespace asmevo::report
