#include "base/toml.h"

namespace asmevo {

namespace {

// toml++ 3.3 runs into undefined behaviour on some characters beyond ASCII that stand outside strings.
// Nothing in our files needs them but comments; in those on lines of their own they become '?' here.
Result<std::string> only_ascii(std::string_view text, const std::string& file) {
  std::string ascii(text);
  unsigned line = 1;
  bool comment = false, blank = true; // the line so far
  for (char& c : ascii) {
    if (c == '\n') {
      ++line;
      comment = false;
      blank = true;
      continue;
    }
    comment |= blank && c == '#';
    blank &= c == ' ' || c == '\t' || c == '\r';
    if (static_cast<unsigned char>(c) < 128) continue;
    if (!comment) return bad_input("{}:{}: a character beyond ASCII outside a line of comment", file, line);
    c = '?';
  }
  return ascii;
}

} // namespace

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  if (text.size() > most_toml_bytes) return bad_input("{}: more than {} bytes", file, most_toml_bytes);
  ASMEVO_TRY(const std::string ascii, only_ascii(text, file));
  toml::parse_result parsed = toml::parse(ascii);
  if (!parsed)
    return bad_input("{}:{}: {}", file, parsed.error().source().begin.line,
                     printable(parsed.error().description()));
  return std::move(parsed).table();
}

} // namespace asmevo
