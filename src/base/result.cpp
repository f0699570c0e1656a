#include "base/result.h"

#include <cstdint>

namespace asmevo {

namespace {

uint8_t byte(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<uint8_t>(text[at]) : 0;
}

// U+0080 to U+009F in UTF-8.
bool is_c1(std::string_view text, size_t at) {
  return byte(text, at) == 0xc2 && byte(text, at + 1) >= 0x80 && byte(text, at + 1) < 0xa0;
}

} // namespace

std::string printable(std::string_view text, size_t longest) {
  const bool cut = text.size() > longest;
  if (cut) {
    while (longest > 0 && (byte(text, longest) & 0xc0) == 0x80) --longest; // not within a character
    text = text.substr(0, longest);
  }
  std::string out;
  out.reserve(text.size());
  for (size_t k = 0; k < text.size(); ++k) {
    const bool c1 = is_c1(text, k);
    if (c1) out += fmt::format("\\x{:02x}", byte(text, k++));
    if (c1 || byte(text, k) < 0x20 || byte(text, k) == 0x7f)
      out += fmt::format("\\x{:02x}", byte(text, k));
    else
      out += text[k];
  }
  return cut ? out + "..." : out;
}

Error one_line(Error error) {
  constexpr size_t longest = 1000;
  error.message = printable(error.message, longest);
  return error;
}

} // namespace asmevo
