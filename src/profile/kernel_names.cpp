#include "profile/kernel_names.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace asmevo::profile {

namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

constexpr size_t longest_mangled = 1 << 16;

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > longest_mangled) return symbol;
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? std::string(text.get()) : symbol;
}

std::string_view without_suffixes(std::string_view name) {
  for (const std::string_view suffix : {" [clone .kd]", " (.kd)", ".kd"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

// ROCm's demangler and this machine's differ in spaces ("char const*", "unsigned int").
bool same_but_for_spaces(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  for (;;) {
    while (i < a.size() && a[i] == ' ') ++i;
    while (j < b.size() && b[j] == ' ') ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

} // namespace

std::string truncated_name(std::string_view text) {
  // Arguments and template arguments go, from the end; "(anonymous namespace)" is a name, not arguments.
  std::string flat;
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (depth == 0) flat += c;
    if ((c == '>' || c == ')') && depth > 0) --depth;
  }
  const size_t end = flat.find_last_not_of(' ') + 1;
  size_t begin = flat.find_last_of(" :", end == 0 ? 0 : end - 1);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return begin < end ? flat.substr(begin, end - begin) : std::string();
}

KernelName::KernelName(std::string symbol)
    : symbol_(std::move(symbol)), demangled_(demangled(symbol_)), truncated_(truncated_name(demangled_)) {}

NameMatch KernelName::match(std::string_view recorded) const {
  const std::string_view name = without_suffixes(recorded);
  if (name.empty()) return NameMatch::None;
  if (name == symbol_ || same_but_for_spaces(name, demangled_)) return NameMatch::Full;
  return name == truncated_ ? NameMatch::Truncated : NameMatch::None;
}

} // namespace asmevo::profile
