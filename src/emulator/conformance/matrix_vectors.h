// Vectors of matrix instructions: whole products (A, B, C and the expected D as matrices), and single dot
// products with what a GPU gave for them. Formats: tests/emulator/data/README.md.
#pragma once

#include "emulator/conformance/outcome.h"

#include <nlohmann/json_fwd.hpp>

namespace asmevo::emulator::conformance {

bool is_matrix_vector(const nlohmann::json&);
bool is_observed_dot_product(const nlohmann::json&);

/// Lines that lack a key or name an unknown format fail, with a text that says so.
Outcome run_matrix_vector(const nlohmann::json&);
Outcome run_observed_dot_product(const nlohmann::json&);

} // namespace asmevo::emulator::conformance
