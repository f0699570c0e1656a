// toml++, as all files here use it. Large: for .cpp files and headers that only they include.
#pragma once

#include "base/result.h"

#ifndef TOML_EXCEPTIONS
#define TOML_EXCEPTIONS 0
#endif
#define TOML_ENABLE_FORMATTERS 0
// toml++ 3.3 asserts, and with NDEBUG tells the optimiser, that a key starts with a letter before it has
// looked; its code behind copes with files where it does not.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace asmevo {

inline constexpr uint64_t most_toml_bytes = 1 << 20;

/// BadInput, "FILE:3: ...": not TOML, over `most_toml_bytes`, or a character beyond ASCII, which only
/// comments on lines of their own may have.
Result<toml::table> parse_toml(std::string_view text, const std::string& file);

inline unsigned line_of(const toml::node& node) {
  return node.source().begin.line;
}

} // namespace asmevo
