#include "rebuild/assembly_names.h"

#include <algorithm>
#include <array>

namespace asmevo::rebuild {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// v12, s4, a3, ttmp7, acc5: LLVM's operand parser tries registers before symbols.
bool numbered_register(std::string_view name) {
  constexpr std::array<std::string_view, 5> files = {"v", "s", "a", "ttmp", "acc"};
  const size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos || !std::ranges::all_of(name.substr(digits), is_digit)) return false;
  return std::ranges::find(files, name.substr(0, digits)) != files.end();
}

} // namespace

bool writable_name(std::string_view name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && !name.starts_with(".L") && std::ranges::none_of(name, control);
}

std::string quoted_name(std::string_view name) {
  const bool plain =
      !name.empty() && !is_digit(name.front()) && name.front() != '$' && name != "." &&
      std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; });
  if (plain) return std::string(name);
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

bool operand_name(std::string_view name) {
  constexpr std::array<std::string_view, 22> taken = {
      "exec", "exec_lo", "exec_hi", "execz",      "vcc",          "vcc_lo",     "vcc_hi", "vccz",
      "m0",   "scc",     "null",    "lds_direct", "flat_scratch", "xnack_mask", "abs",    "neg",
      "sext", "off",     "lit",     "lit64",      "tba",          "tma"};
  if (name.empty() || !is_letter(name.front())) return false;
  if (!std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); })) return false;
  if (numbered_register(name) || name.starts_with("src_")) return false;
  for (const std::string_view word : taken)
    if (name == word || (name.starts_with(word) && (name.ends_with("_lo") || name.ends_with("_hi"))))
      return false;
  return true;
}

} // namespace asmevo::rebuild
