// Whether a page is well-formed as XML, looked at by a parser of a page's length: elements closed in order,
// attributes quoted, '<' and '&' only where markup is.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace asmevo::report {

/// What is wrong, with what stands there; nothing where the page is well-formed.
inline std::optional<std::string> markup_error(const std::string& page) {
  std::vector<std::string> open;
  const auto wrong = [&](const char* what, size_t at) {
    return std::string(what) + ": " + page.substr(at, 80);
  };
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  const auto entity_ends = [&](size_t at) {
    for (const char* e : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
      if (page.compare(at, std::string(e).size(), e) == 0) return true;
    return false;
  };
  size_t at = page.find("<html");
  if (at == std::string::npos) return "no <html";
  while (at < page.size()) {
    const char c = page[at];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return wrong("control character", at);
    if (c == '&' && !entity_ends(at)) return wrong("bare &", at);
    if (c == '>') return wrong("bare >", at);
    if (c != '<') {
      if (open.empty() && c != '\n') return wrong("text outside", at);
      ++at;
      continue;
    }
    const bool closing = page[at + 1] == '/';
    size_t p = at + (closing ? 2 : 1);
    std::string name;
    while (p < page.size() && is_name(page[p])) name += page[p++];
    if (name.empty()) return wrong("bare <", at);
    bool empty = false;
    while (p < page.size() && page[p] != '>') {
      if (page[p] == '/' && page[p + 1] == '>') {
        empty = true, ++p;
        break;
      }
      if (page[p] == ' ' || page[p] == '\n') {
        ++p;
        continue;
      }
      while (p < page.size() && is_name(page[p])) ++p;
      if (page.compare(p, 2, "=\"") != 0) return wrong("attribute", at);
      for (p += 2; p < page.size() && page[p] != '"'; ++p) {
        if (page[p] == '<' || page[p] == '>') return wrong("markup in an attribute", at);
        if (page[p] == '&' && !entity_ends(p)) return wrong("bare & in an attribute", at);
      }
      ++p;
    }
    if (p >= page.size()) return wrong("unfinished", at);
    if (closing) {
      if (open.empty() || open.back() != name) return wrong("closes what is not open", at);
      open.pop_back();
    } else if (!empty) {
      open.push_back(name);
      if (name == "style") p = page.find("</style>", p) - 1; // no markup within
    }
    at = p + 1;
  }
  if (!open.empty()) return "not closed: " + open.back();
  return std::nullopt;
}

} // namespace asmevo::report
