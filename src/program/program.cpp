#include "program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace asmevo::program {

std::string InstrId::text() const {
  return node == 0 ? fmt::format("{:x}", n) : fmt::format("{}.{}", node, n);
}

std::optional<InstrId> InstrId::parse(std::string_view text) {
  const auto number = [](std::string_view part, int base) -> std::optional<uint32_t> {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, base);
    if (part.empty() || error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    return value;
  };
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    const auto offset = number(text, 16);
    return offset ? std::optional(InstrId{0, *offset}) : std::nullopt;
  }
  const auto node = number(text.substr(0, dot), 10), n = number(text.substr(dot + 1), 10);
  if (!node || !n || *node == 0) return std::nullopt;
  return InstrId{*node, *n};
}

std::optional<Index> Program::find(InstrId id) const {
  // K0's instructions are 4 or 8 bytes each, so an offset's entry lies near offset / 6 while little has
  // changed.
  if (id.node == 0 && !entries.empty()) {
    const auto before = std::ranges::partition_point(
        entries, [&](const Entry& e) { return e.id.node == 0 && e.id.n < id.n; });
    if (before != entries.end() && before->id == id) return static_cast<Index>(before - entries.begin());
  }
  const auto at = std::ranges::find(entries, id, &Entry::id);
  return at == entries.end() ? std::nullopt : std::optional(static_cast<Index>(at - entries.begin()));
}

const Function* Program::find_function(std::string_view name) const {
  const auto at = std::ranges::find(functions, name, &Function::name);
  return at == functions.end() ? nullptr : &*at;
}

const Function* Program::function_at(Index i) const {
  const auto after = std::ranges::upper_bound(functions, i, {}, &Function::begin);
  if (after == functions.begin()) return nullptr;
  const Function& f = *std::prev(after);
  return i < f.end ? &f : nullptr;
}

std::optional<uint32_t> Program::find_label(std::string_view name) const {
  const auto at = std::ranges::find(labels, name, &Label::name);
  return at == labels.end() ? std::nullopt : std::optional(static_cast<uint32_t>(at - labels.begin()));
}

std::unordered_map<Index, std::vector<uint32_t>> Program::labels_by_entry() const {
  std::unordered_map<Index, std::vector<uint32_t>> map;
  for (uint32_t k = 0; k < labels.size(); ++k) map[labels[k].at].push_back(k);
  return map;
}

Index Program::branch_target(Index i) const {
  const Entry& e = entries[i];
  if (e.reference == no_index || !e.instruction->branch) return no_index;
  const Reference& r = references[e.reference];
  return r.use == isa::SymbolUse::Branch && r.label != no_index ? labels[r.label].at : no_index;
}

} // namespace asmevo::program
