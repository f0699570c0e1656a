// What controller and workers say to one another, beyond Evaluation::json(): objects and chains of edits.
#pragma once

#include "gate/gated_eval.h"

namespace asmevo::gate {

/// With the object's bytes.
Json message_of(const Evaluation&);
Evaluation evaluation_in(const Json& message);

Json message_of(std::span<const Proposed::Step> chain);
/// Throws std::runtime_error where an edit is none.
std::vector<Proposed::Step> chain_in(const Json& message);

} // namespace asmevo::gate
