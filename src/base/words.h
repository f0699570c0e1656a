// Misspelt words: which known one was meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace asmevo {

/// For the end of a message that a word is unknown: "; did you mean 'latency'?" where a known one differs in
/// no more than every second letter, else "; there are 'latency', 'bytes'" with the first ones.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

} // namespace asmevo
