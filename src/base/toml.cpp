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

// toml++ limits how deep values are nested, not keys: each part of a.b.c... is a table within another, which
// functions that call themselves build and take down again.
Status check_keys(std::string_view text, const std::string& file) {
  constexpr unsigned most_parts = 100;
  unsigned line = 1, dots = 0;
  char quote = 0;
  bool comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      dots = 0, comment = false;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == '.') {
      if (++dots > most_parts) return bad_input("{}:{}: a key of more than {} parts", file, line, most_parts);
    } else if (std::string_view(",=[]{}").contains(c)) {
      dots = 0;
    }
  }
  return {};
}

} // namespace

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  if (text.size() > most_toml_bytes) return bad_input("{}: more than {} bytes", file, most_toml_bytes);
  ASMEVO_TRY(const std::string ascii, only_ascii(text, file));
  ASMEVO_CHECK(check_keys(ascii, file));
  toml::parse_result parsed = toml::parse(ascii);
  if (!parsed)
    return bad_input("{}:{}: {}", file, parsed.error().source().begin.line,
                     printable(parsed.error().description()));
  return std::move(parsed).table();
}

} // namespace asmevo
