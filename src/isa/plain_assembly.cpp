// Edits come from outside: a driver, an agent, a file. LLVM's assembler is no place for hostile text
// (`.incbin` reads files, `.rept` runs on, some directives abort the process, deeply nested expressions
// overflow its stack), so before it sees anything each line must look like this:
//
//   [label:]... [mnemonic operands] [; comment or // comment]
//
// with a mnemonic of lower-case letters, digits and underscores, and operands without quotes, assignments,
// directives or the location counter.
#include "isa/codec.h"

#include <algorithm>

namespace asmevo::isa {

namespace {

constexpr size_t max_text = 64 * 1024, max_line = 1024;
constexpr int max_nesting = 8;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '$';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

class LineChecker {
 public:
  LineChecker(std::string_view line, unsigned number) : line_(line), number_(number) {}

  std::expected<void, TextError> check() {
    skip_blanks();
    while (!at_end()) {
      if (!is_letter(line_[at_]))
        return fail("expected an instruction or a label; directives are not allowed in an edit");
      const size_t start = at_;
      while (!at_end() && is_name(line_[at_])) ++at_;
      const size_t name_end = at_;
      skip_blanks();
      if (!at_end() && line_[at_] == ':' && (at_ + 1 >= line_.size() || line_[at_ + 1] != ':')) {
        ++at_;
        skip_blanks();
        continue;
      }
      at_ = name_end;
      return check_instruction(start);
    }
    return {};
  }

 private:
  std::expected<void, TextError> check_instruction(size_t start) {
    for (size_t k = start; k < at_; ++k)
      if (line_[k] >= 'A' && line_[k] <= 'Z') return fail_at(k, "mnemonics are lower case");
    if (!at_end() && !is_blank(line_[at_])) return fail("expected operands after the mnemonic");
    return check_operands();
  }

  std::expected<void, TextError> check_operands() {
    int depth = 0, unary = 0;
    for (; !at_end(); ++at_) {
      const char c = line_[at_];
      if (c == '.') {
        // A decimal point, never the location counter or a local symbol.
        const bool decimal =
            at_ > 0 && is_digit(line_[at_ - 1]) && at_ + 1 < line_.size() && is_digit(line_[at_ + 1]);
        if (!decimal) return fail("'.' is allowed only inside a number");
        continue;
      }
      if (c == '"') { // ds_swizzle's bit mask: "01pip"
        const size_t end = line_.find_first_not_of("01pi", at_ + 1);
        if (end == std::string_view::npos || line_[end] != '"' || end != at_ + 6)
          return fail("quotes are allowed only around the mask of ds_swizzle_b32");
        at_ = end;
        continue;
      }
      constexpr std::string_view allowed = " \t,:[]()+-*|&!~<>@";
      if (!is_name(c) && allowed.find(c) == std::string_view::npos)
        return fail(fmt::format("character '{}' is not allowed in an operand", c >= 32 && c < 127 ? c : '?'));
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      unary = c == '-' || c == '+' || c == '~' || c == '!' ? unary + 1 : is_blank(c) ? unary : 0;
      if (depth > max_nesting || unary > max_nesting) return fail("operand is nested too deeply");
    }
    return {};
  }

  bool at_end() const { return at_ >= line_.size(); }
  void skip_blanks() {
    while (!at_end() && is_blank(line_[at_])) ++at_;
  }
  std::unexpected<TextError> fail(std::string message) const { return fail_at(at_, std::move(message)); }
  std::unexpected<TextError> fail_at(size_t at, std::string message) const {
    return std::unexpected(TextError{number_, static_cast<unsigned>(at + 1), std::move(message)});
  }

  std::string_view line_;
  unsigned number_;
  size_t at_ = 0;
};

// What is left of a line without its comment. Bytes inside comments are free but for NUL.
std::string_view without_comment(std::string_view line) {
  const size_t end = std::min(line.find(';'), line.find("//"));
  return end == std::string_view::npos ? line : line.substr(0, end);
}

} // namespace

std::expected<void, TextError> check_plain_assembly(std::string_view text) {
  if (text.size() > max_text) return std::unexpected(TextError{1, 1, "more than 64 KiB of text"});
  unsigned number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() > max_line)
      return std::unexpected(TextError{number, max_line, "line of more than 1,024 characters"});
    for (size_t k = 0; k < line.size(); ++k)
      if (line[k] == '\0' || line[k] == '\r')
        return std::unexpected(TextError{number, static_cast<unsigned>(k + 1), "control character"});
    if (auto good = LineChecker(without_comment(line), number).check(); !good) return good;
  }
  return {};
}

} // namespace asmevo::isa
