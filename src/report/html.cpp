#include "report/html.h"

#include <fmt/format.h>

#include <cstdint>

namespace asmevo::report {

namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

uint32_t byte(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<uint8_t>(text[at]) : 0;
}

// Shortest forms only, no surrogates, nothing beyond U+10FFFF.
Character character_at(std::string_view text, size_t at) {
  const uint32_t first = byte(text, at);
  if (first < 0x80) return {first, 1, true};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {};
  uint32_t code = first & (0x7fU >> bytes);
  for (size_t n = 1; n < bytes; ++n) {
    if ((byte(text, at + n) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(text, at + n) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes, true};
}

bool turns_direction(uint32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

// U+FFFE, U+FFFF and their like are no characters of XML.
bool is_none(uint32_t c) {
  return (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

} // namespace

std::string html_text(std::string_view text, size_t longest) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (at + c.bytes > longest) {
      out += "\xe2\x80\xa6";
      break;
    }
    if (!c.valid || is_none(c.code))
      out += "\xef\xbf\xbd";
    else if (c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0))
      out += fmt::format("\\x{:02x}", c.code);
    else if (turns_direction(c.code))
      out += fmt::format("\\u{:04x}", c.code);
    else if (c.code == '&')
      out += "&amp;";
    else if (c.code == '<')
      out += "&lt;";
    else if (c.code == '>')
      out += "&gt;";
    else if (c.code == '"')
      out += "&quot;";
    else if (c.code == '\'')
      out += "&#39;";
    else
      out += text.substr(at, c.bytes);
    at += c.bytes;
  }
  return out;
}

std::string page_begin(std::string_view title, std::string_view style) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                     "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
                     title, style);
}

} // namespace asmevo::report
