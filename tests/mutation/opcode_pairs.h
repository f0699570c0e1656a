// Which instructions may stand in another's place in a mutant: they take the same operands and compute
// something else.
#pragma once

#include <string_view>
#include <vector>

namespace asmevo::mutation {

/// Base mnemonics, without encoding suffix.
std::vector<std::string_view> opcodes_in_place_of(std::string_view base);

} // namespace asmevo::mutation
