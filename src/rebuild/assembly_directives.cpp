#include "rebuild/assembly_directives.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace asmevo::rebuild {

namespace {

constexpr std::string_view known =
    " .2byte .4byte .8byte .addrsig .addrsig_sym .align .amdgcn_target .amdgpu_lds"
    " .amdgpu_metadata .ascii .asciz .balign .balignl .balignw .bss .byte .comm .common .data"
    " .double .end_amdgpu_metadata .end_amdhsa_kernel .equ .file .fill .float .global .globl"
    " .hidden .hword .ident .int .internal .lcomm .loc .local .long .octa .p2align .p2alignl"
    " .p2alignw .popsection .previous .protected .pushsection .quad .rodata .section .set"
    " .short .single .size .skip .sleb128 .space .string .symver .text .type .uleb128 .value"
    " .weak .word .zero ";

constexpr uint64_t largest = uint64_t{1} << 30; // bytes that one directive makes

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '$' || c == '@' || c == '?';
}

bool taken(std::string_view directive) {
  return directive.starts_with(".amdhsa_") || directive.starts_with(".cfi_") ||
         known.find(fmt::format(" {} ", directive)) != std::string_view::npos;
}

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Status run() {
    while (at_ < text_.size()) {
      skip_blanks();
      if (peek() == '#')
        skip_line();
      else
        ASMEVO_CHECK(statement());
      while (at_ < text_.size() && !at_separator()) skip_token();
      if (fault_)
        return bad_input("{}:{}:{}: {}", file_name_, fault_->at.line, fault_->at.column, fault_->what);
      advance(1);
    }
    return {};
  }

 private:
  struct Place {
    size_t line = 1, column = 1;
  };
  struct Fault {
    Place at;
    std::string_view what;
  };
  Place place() const { return {line_, at_ - line_start_ + 1}; }

  void fault(Place at, std::string_view what) {
    if (!fault_) fault_ = Fault{at, what};
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool at_separator() const { return peek() == '\n' || peek() == '\r' || peek() == '\x1a'; }

  void advance(size_t n) {
    for (; n > 0 && at_ < text_.size(); --n)
      if (text_[at_++] == '\n') ++line_, line_start_ = at_;
  }

  void skip_line() {
    while (at_ < text_.size() && peek() != '\n' && peek() != '\r') advance(1);
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\0') {
        advance(1);
      } else if (c == ';' || (c == '/' && peek(1) == '/')) {
        skip_line();
      } else if (c == '/' && peek(1) == '*') {
        const Place start = place();
        advance(2);
        while (at_ < text_.size() && (peek() != '*' || peek(1) != '/')) advance(1);
        if (at_ == text_.size()) fault(start, "this comment has no end");
        advance(2);
      } else {
        return;
      }
    }
  }

  void skip_string() {
    const Place start = place();
    advance(1);
    while (at_ < text_.size() && peek() != '"') advance(peek() == '\\' ? 2 : 1);
    if (at_ == text_.size()) fault(start, "this string has no end");
    advance(1);
  }

  // A character in quotes takes three, or four with a backslash, whether or not the last is a quote.
  void skip_token() {
    const size_t before = at_;
    skip_blanks();
    if (at_ != before || at_separator()) return;
    if (peek() == '"')
      skip_string();
    else if (peek() == '\'')
      advance(peek(1) == '\\' ? 4 : 3);
    else {
      if (peek() == '\\' && !raw_) fault(place(), "a backslash outside of strings");
      advance(1);
    }
  }

  std::string_view word() {
    const size_t start = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  // Labels, then perhaps a directive; what is left of the statement stays.
  Status statement() {
    while (true) {
      skip_blanks();
      const Place start = place();
      std::string_view first;
      if (peek() == '"')
        skip_string();
      else
        first = word();
      skip_blanks();
      if (peek() == ':') {
        advance(1);
        continue;
      }
      if (!first.starts_with('.') || peek() == '=') return {};
      return directive(lower(first), start);
    }
  }

  Status directive(const std::string& name, Place start) {
    const bool ends_raw = name == ".end_amdgpu_metadata";
    if (raw_ && !ends_raw) return {};
    raw_ = name == ".amdgpu_metadata";
    if (!taken(name))
      return bad_input("{}:{}:{}: {} is not taken: only directives that 'recover' writes, and plain data",
                       file_name_, start.line, start.column, printable(name));
    if (const auto bytes = bytes_made(name); bytes && *bytes > largest)
      return bad_input("{}:{}:{}: {} of more than {} bytes", file_name_, start.line, start.column, name,
                       largest);
    return {};
  }

  // What a directive with plain numbers makes, at most.
  std::optional<uint64_t> bytes_made(std::string_view name) {
    const bool power = name.starts_with(".p2align"), fill = name == ".fill";
    const bool size = fill || name == ".zero" || name == ".space" || name == ".skip" || name == ".align" ||
                      name.starts_with(".balign");
    if (!power && !size) return std::nullopt;
    const std::optional<uint64_t> count = number();
    if (!count) return std::nullopt;
    if (power) return uint64_t{1} << std::min<uint64_t>(*count, 63);
    skip_blanks();
    if (!fill || peek() != ',') return count;
    advance(1);
    const uint64_t each = std::min<uint64_t>(number().value_or(1), 8); // LLVM makes larger ones 8
    return *count > largest ? *count : *count * each;
  }

  // A number too large for 64 bits counts as the largest.
  std::optional<uint64_t> number() {
    skip_blanks();
    std::string_view digits = word();
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (hex) digits.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (error == std::errc::result_out_of_range) return UINT64_MAX;
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }

  std::string_view text_, file_name_;
  size_t at_ = 0, line_ = 1, line_start_ = 0;
  std::optional<Fault>
      fault_;        // the first that LLVM's parser may stumble over and go on at another place, or nowhere
  bool raw_ = false; // within .amdgpu_metadata
};

} // namespace

Status check_directives(std::string_view text, std::string_view file_name) {
  return Scanner(text, file_name).run();
}

} // namespace asmevo::rebuild
