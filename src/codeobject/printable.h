// Names and texts out of a file, made fit for a line of output: they may hold anything.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace asmevo::codeobject {

/// Control characters as "\x0a"; nothing that ends the line or moves a terminal's cursor is left.
inline std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

/// An error whose message quotes such names, as one line of bounded length.
inline Error one_line(Error error) {
  constexpr size_t longest = 1000;
  error.message = printable(std::string_view(error.message).substr(0, longest));
  return error;
}

} // namespace asmevo::codeobject
