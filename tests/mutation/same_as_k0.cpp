#include "mutation/same_as_k0.h"

#include "base/files.h"

#include <fmt/format.h>

#include <map>

namespace asmevo::mutation {

namespace {

std::string key_of(const std::string& kernel, const Mutant& m) {
  return fmt::format("{} | {} | {} | {}", kernel, name(m.op), m.at.text(),
                     m.after.empty() ? "(dropped)" : m.after);
}

// "kernel | operator | id | text | why"; lines of comment begin with '#'.
const std::map<std::string, std::string>& list() {
  static const std::map<std::string, std::string> made = [] {
    std::map<std::string, std::string> all;
    const auto text = read_file(std::string(ASMEVO_SOURCE_DIR) + "/tests/mutation/same_as_k0.txt");
    std::string line;
    for (const uint8_t byte : text.value()) {
      if (byte != '\n') {
        line += static_cast<char>(byte);
        continue;
      }
      const size_t last = line.rfind(" | ");
      if (!line.starts_with('#') && last != std::string::npos)
        all[line.substr(0, last)] = line.substr(last + 3);
      line.clear();
    }
    return all;
  }();
  return made;
}

} // namespace

std::optional<std::string> why_same(const std::string& kernel, const Mutant& m) {
  const auto found = list().find(key_of(kernel, m));
  if (found == list().end()) return std::nullopt;
  return found->second;
}

size_t reasons() {
  return list().size();
}

} // namespace asmevo::mutation
