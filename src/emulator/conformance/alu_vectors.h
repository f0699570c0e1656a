// Conformance vectors of everything but matrix instructions: state before, instructions, state after. The
// format is that of the vectors' own README (docs/emulator.md, "Conformance vectors").
#pragma once

#include "emulator/conformance/outcome.h"

#include <nlohmann/json_fwd.hpp>

namespace asmevo::emulator::conformance {

/// Never throws; a vector that is not well-formed has Failed with the reason.
Outcome run_alu_vector(const nlohmann::json&);

} // namespace asmevo::emulator::conformance
