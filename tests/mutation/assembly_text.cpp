#include "mutation/assembly_text.h"

#include "isa/instruction.h"

#include <fmt/ranges.h>

namespace asmevo::mutation {

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

} // namespace

// Operands are separated by commas; what follows the last one after a blank are modifiers. Brackets hold
// commas of their own only in modifiers ("quad_perm:[1,0,3,2]", "op_sel:[0,1]"), which come last.
AssemblyText AssemblyText::parse(std::string_view text) {
  AssemblyText result;
  const size_t start = text.find_first_not_of(" \t");
  text.remove_prefix(start == std::string_view::npos ? text.size() : start);
  const size_t blank = std::min(text.find_first_of(" \t"), text.size());
  result.mnemonic = text.substr(0, blank);
  text.remove_prefix(blank);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty()) {
    const size_t comma = text.find(", ");
    const size_t space = text.find(' ');
    if (comma == std::string_view::npos || (space != std::string_view::npos && space < comma)) {
      const std::vector<std::string> words = words_of(text);
      if (words.empty()) break;
      result.operands.push_back(words.front());
      result.modifiers.assign(words.begin() + 1, words.end());
      break;
    }
    result.operands.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma + 2);
  }
  return result;
}

std::string AssemblyText::text() const {
  std::string all = mnemonic;
  if (!operands.empty()) all += fmt::format(" {}", fmt::join(operands, ", "));
  if (!modifiers.empty()) all += fmt::format(" {}", fmt::join(modifiers, " "));
  return all;
}

std::string AssemblyText::base() const {
  return std::string(isa::without_encoding_suffix(mnemonic));
}
std::string AssemblyText::suffix() const {
  return mnemonic.substr(base().size());
}

} // namespace asmevo::mutation
