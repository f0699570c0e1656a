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

using List = std::map<std::string, std::string>;

// "kernel | operator | id | text | why"; lines of comment begin with '#'.
List read_list(const std::string& name) {
  List all;
  const auto text = read_file(std::string(ASMEVO_SOURCE_DIR) + "/tests/mutation/" + name);
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
}

const List& same_list() {
  static const List list = read_list("same_as_k0.txt");
  return list;
}
const List& survivor_list() {
  static const List list = read_list("survivors.txt");
  return list;
}

std::optional<std::string> find(const List& list, const std::string& kernel, const Mutant& m) {
  const auto found = list.find(key_of(kernel, m));
  if (found == list.end()) return std::nullopt;
  return found->second;
}

} // namespace

std::optional<std::string> why_same(const std::string& kernel, const Mutant& m) {
  return find(same_list(), kernel, m);
}

std::optional<std::string> shown_by(const std::string& kernel, const Mutant& m) {
  return find(survivor_list(), kernel, m);
}

size_t reasons() {
  return same_list().size();
}

} // namespace asmevo::mutation
