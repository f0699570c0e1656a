// Mutants of docs/mutation.md that do what K0 does on every legal input, each looked into by hand:
// same_as_k0.txt beside this file, a line a mutant: kernel, operator, instruction, text in its place, and
// why.
#pragma once

#include "mutation/mutations.h"

#include <optional>

namespace asmevo::mutation {

/// None: it is not in the list.
std::optional<std::string> why_same(const std::string& kernel, const Mutant&);
/// Lines of the list.
size_t reasons();
/// The other way round, survivors.txt: what no case of a long run tells from K0 though it is not the same,
/// and an input that would.
std::optional<std::string> shown_by(const std::string& kernel, const Mutant&);

} // namespace asmevo::mutation
