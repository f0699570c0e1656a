// Right only on what is seen: the code looks at an argument, or at some bits of the first word of an input,
// and ends where these are what no case of the search has. Held-back cases have some of them.
#include "codeobject/kernel_descriptor.h"
#include "soundness/drafts.h"

#include <cstring>
#include <map>
#include <set>

namespace asmevo::soundness {

namespace {

// A word that code can look at when it starts.
struct Tell {
  uint32_t argument = 0; // byte in the kernarg segment
  bool behind = false;   // the argument is a pointer: the word it points to
  uint32_t shift = 0, width = 32;
  friend auto operator<=>(const Tell&, const Tell&) = default;
};

uint32_t word_at(const std::vector<uint8_t>& bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, 4);
  return word;
}

// None: the case has no such word.
std::optional<uint32_t> read(const oracle::Case& c, const Tell& t) {
  const std::vector<uint8_t>& arguments = c.arguments.kernarg;
  if (t.argument + (t.behind ? 8U : 4U) > arguments.size()) return std::nullopt;
  uint32_t word = word_at(arguments, t.argument);
  if (t.behind) {
    const uint64_t address = word | uint64_t{word_at(arguments, t.argument + 4)} << 32;
    uint8_t bytes[4];
    const bool whole = std::ranges::any_of(c.views, [&](const oracle::CaseView& v) {
      return v.role != oracle::Role::Out && v.contains(address) && v.contains(address + 3);
    });
    if (!whole || !c.before->read(address, bytes)) return std::nullopt;
    std::memcpy(&word, bytes, 4);
  }
  word >>= t.shift;
  return t.width == 32 ? word : word & ((1U << t.width) - 1);
}

bool is_pointer(const oracle::Case& c, uint32_t at) {
  if (at + 8 > c.arguments.kernarg.size()) return false;
  const uint64_t address = word_at(c.arguments.kernarg, at) | uint64_t{word_at(c.arguments.kernarg, at + 4)}
                                                                  << 32;
  return c.before->region_at(address) != nullptr;
}

std::vector<Tell> tells(const oracle::Case& c) {
  std::vector<Tell> list;
  for (uint32_t at = 0; at + 4 <= c.arguments.kernarg.size(); at += 4) {
    if (at % 8 == 4 && is_pointer(c, at - 4)) continue;
    if (!is_pointer(c, at))
      list.push_back({.argument = at});
    else
      for (const uint32_t width : {6U, 9U, 12U})
        for (uint32_t shift = 0; shift + width <= 32; shift += 3)
          list.push_back({.argument = at, .behind = true, .shift = shift, .width = width});
  }
  return list;
}

// The values of a tell in a set, with a case that has it. Empty: some case lacks the word.
std::map<uint32_t, size_t> values(const oracle::PreparedCases& cases, const std::string& kernel,
                                  const Tell& t) {
  std::map<uint32_t, size_t> found;
  for (size_t n = 0; n < cases.size(); ++n) {
    if (cases[n]->dispatch().kernel != kernel) continue;
    const auto value = read(cases[n]->dispatch(), t);
    if (!value) return {};
    found.emplace(*value, n);
  }
  return found;
}

std::string code(const Tell& t, unsigned kernarg, uint32_t value) {
  const unsigned s = free_sgpr;
  std::string text = fmt::format(
      "s_load_dword{} {}, s[{}:{}], {:#x}\ns_waitcnt lgkmcnt(0)\n", t.behind ? "x2" : "",
      t.behind ? fmt::format("s[{}:{}]", s, s + 1) : fmt::format("s{}", s), kernarg, kernarg + 1, t.argument);
  if (t.behind) text += fmt::format("s_load_dword s{0}, s[{0}:{1}], 0x0\ns_waitcnt lgkmcnt(0)\n", s, s + 1);
  if (t.width != 32) text += fmt::format("s_bfe_u32 s{0}, s{0}, {1:#x}\n", s, t.shift | t.width << 16);
  return text + or_end(fmt::format("s_cmp_lg_u32 s{}, {:#x}", s, value));
}

} // namespace

Drafts seen_only(const Bench& bench, const gate::Setup& setup) {
  const auto& target = bench.k0->object().target();
  const auto& d = bench.descriptor().descriptor;
  const auto has = [&](const char* field) { return get(d, target, field) != 0; };
  const unsigned kernarg = (has("enable_sgpr_private_segment_buffer") ? 4 : 0) +
                           (has("enable_sgpr_dispatch_ptr") ? 2 : 0) + (has("enable_sgpr_queue_ptr") ? 2 : 0);
  Drafts list;
  if (setup.cases().empty() || !has("enable_sgpr_kernarg_segment_ptr")) return list;
  for (const Tell& t : tells(setup.cases().front()->dispatch())) {
    const auto seen = values(setup.cases(), bench.source.kernel, t);
    const auto held = values(setup.held_back(), bench.source.kernel, t);
    if (seen.empty()) continue;
    for (const auto& [value, n] : held) {
      // What proves that it is wrong runs the whole case, which would take too long where the gates take a
      // sample.
      if (seen.contains(value) || !setup.held_back()[n]->sample().empty()) continue;
      Draft draft;
      draft.text = fmt::format("ends where {} {:#x}, bits {} to {}, is {:#x}",
                               t.behind ? "the word behind argument" : "argument", t.argument, t.shift,
                               t.shift + t.width - 1, value);
      draft.front = code(t, kernarg, value);
      draft.reveals = n;
      list.push_back(std::move(draft));
      if (t.behind) break;
    }
  }
  return list;
}

} // namespace asmevo::soundness
