#include "search/rules/renaming.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegRange;
using isa::RegUnit;

constexpr RegRange exec{isa::unit::exec, 2};

bool inside(const RegRange& inner, const RegRange& outer) {
  return inner.first >= outer.first && inner.first + inner.count <= outer.first + outer.count;
}

// Pairs of registers start at even ones, and what was a pair stays one.
bool fits(const RegRange& from, const RegRange& to) {
  return from.count == to.count && (from.count == 1 || from.first % 2 == to.first % 2);
}

// An operand that is read and written names one register for both.
bool is_tied(const Instruction& i, const RegRange& r) {
  return std::ranges::any_of(i.operands, [&](const Operand& o) {
    return o.kind == Operand::Kind::Register && o.is_def && o.is_use && o.reg.overlaps(r);
  });
}

bool reads_as_named(const Instruction& i, const RegRange& r) {
  for (const RegRange& u : i.uses)
    if (u.overlaps(r) && !inside(u, r)) return false;
  return !i.partial_def && !is_tied(i, r);
}

bool result_is_first(const Instruction& i) {
  return !i.operands.empty() && i.operands[0].is_def && i.operands[0].kind == Operand::Kind::Register;
}

// No instruction on the way to the stretch writes EXEC: the lanes that it leaves out have never held
// anything.
bool exec_is_as_launched(const profile::KernelCode& code, const Stretch& s) {
  const program::Cfg& cfg = code.cfg();
  const auto writes = [&](program::Index begin, program::Index end) {
    for (program::Index i = begin; i < end; ++i)
      if (code.instruction(i).writes(exec) || code.instruction(i).call) return true;
    return false;
  };
  const uint32_t block = cfg.block_of(s.begin);
  if (!code.function().kernel || writes(cfg.blocks()[block].begin, s.end)) return false;
  std::vector<char> seen(cfg.blocks().size());
  std::vector<uint32_t> work(cfg.blocks()[block].predecessors);
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    if (std::exchange(seen[b], 1)) continue;
    if (writes(cfg.blocks()[b].begin, cfg.blocks()[b].end)) return false;
    std::ranges::copy(cfg.blocks()[b].predecessors, std::back_inserter(work));
  }
  return true;
}

} // namespace

unsigned registers_for_free(const codeobject::KernelInspection& k) {
  constexpr unsigned file = 512, granule = 8, most_named = 256, most_waves = 8;
  if (k.vgprs == 0) return k.arch_vgprs;
  const unsigned waves = std::clamp(file / k.vgprs, 1U, most_waves);
  // Accumulation registers begin behind the others, at a multiple of four, wherever that is.
  const unsigned all = file / waves / granule * granule, others = all - std::min(all, k.acc_vgprs);
  return std::max(k.arch_vgprs, std::min(most_named, others / 4 * 4));
}

std::optional<RegRange> vector_result(const Instruction& i) {
  std::optional<RegRange> result;
  for (const RegRange& d : i.defs) {
    if (!isa::is_vector(d.first)) continue;
    if (result || !isa::is_vgpr(d.first)) return std::nullopt;
    result = d;
  }
  if (!result || i.partial_def || i.writes_all_lanes || is_tied(i, *result) || i.mods.tfe)
    return std::nullopt;
  return result_is_first(i) && i.operands[0].reg == *result ? result : std::nullopt;
}

Renaming::Renaming(const RuleContext& context, StraightCode& code, const Stretch& s)
    : code_(&code), live_after_(context.code.liveness().after(s.end - 1)),
      limit_(registers_for_free(context.code.resources())), all_lanes_(exec_is_as_launched(context.code, s)) {
  taken_ = context.code.liveness().before(s.begin) | live_after_ | code.in_use(s, s.steps);
}

std::optional<RegRange> Renaming::free(const RegRange& like) const {
  for (RegUnit first = 0; first + like.count <= limit_; ++first) {
    const RegRange r{first, like.count};
    if (fits(like, r) && !taken_.overlaps(r)) return r;
  }
  return std::nullopt;
}

std::optional<std::vector<size_t>> Renaming::uses_of(const std::vector<Step>& steps, size_t n,
                                                     const RegRange& value) const {
  std::vector<size_t> uses;
  isa::RegSet left;
  left.insert(value);
  for (size_t m = n + 1; m < steps.size() && !left.empty(); ++m) {
    const Instruction& i = *steps[m].instruction;
    if (i.reads(value)) {
      for (const RegRange& u : i.uses)
        for (RegUnit r = u.first; r < u.first + u.count; ++r)
          if (value.contains(r) && !left.contains(r)) return std::nullopt; // partly another value
      if (!reads_as_named(i, value)) return std::nullopt;
      if (!all_lanes_ && (i.cross_lane || i.writes_all_lanes)) return std::nullopt;
      uses.push_back(m);
    }
    if (i.writes(exec)) return std::nullopt;
    for (const RegRange& d : i.defs) {
      if (!d.overlaps(value)) continue;
      if (i.partial_def || is_tied(i, value)) return std::nullopt;
      left -= [&] {
        isa::RegSet written;
        written.insert(d);
        return written;
      }();
    }
  }
  left &= live_after_;
  return left.empty() ? std::optional(std::move(uses)) : std::nullopt;
}

bool Renaming::rename(std::vector<Step>& steps, size_t n, std::optional<RegRange> to) {
  const std::optional<RegRange> value = vector_result(*steps[n].instruction);
  if (!value || (steps[n].instruction->memory.returns && !steps[n].complete))
    return false; // in flight behind it
  const auto uses = uses_of(steps, n, *value);
  if (!uses) return false;
  if (!to) to = free(*value);
  if (!to || !fits(*value, *to)) return false;
  std::vector<std::pair<size_t, Step>> changed;
  const auto change = [&](size_t m, Part part) {
    Step step = steps[m];
    step.text = with_registers(step.text, part, result_is_first(*step.instruction), *value, *to);
    step.instruction = code_->instruction(step.text);
    changed.emplace_back(m, step);
    return step.instruction != nullptr;
  };
  if (!change(n, Part::Result)) return false;
  for (const size_t m : *uses)
    if (!change(m, Part::Sources)) return false;
  for (auto& [m, step] : changed) steps[m] = std::move(step);
  taken_.insert(*to);
  return true;
}

// --- text

namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// A number at `at`, which moves behind it.
unsigned number(std::string_view text, size_t& at) {
  unsigned n = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at)
    n = n * 10 + static_cast<unsigned>(text[at] - '0');
  return n;
}

// The vector register named at `at`, and the end of its name; none where something else is.
std::optional<std::pair<RegRange, size_t>> register_at(std::string_view text, size_t at) {
  if (text[at] != 'v' || (at > 0 && is_name(text[at - 1])) || at + 1 >= text.size()) return std::nullopt;
  size_t end = at + 1;
  if (std::isdigit(static_cast<unsigned char>(text[end])) != 0) {
    const unsigned n = number(text, end);
    if (end < text.size() && is_name(text[end])) return std::nullopt;
    return std::pair(RegRange{static_cast<RegUnit>(n), 1}, end);
  }
  if (text[end] != '[') return std::nullopt;
  const unsigned first = number(text, ++end);
  if (end >= text.size() || text[end] != ':') return std::nullopt;
  const unsigned last = number(text, ++end);
  if (end >= text.size() || text[end] != ']' || last < first) return std::nullopt;
  return std::pair(RegRange{static_cast<RegUnit>(first), static_cast<uint16_t>(last - first + 1)}, end + 1);
}

} // namespace

std::string with_registers(std::string_view text, Part part, bool has_result, const RegRange& from,
                           const RegRange& to) {
  const size_t comma = std::min(text.find(','), text.size());
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const bool in_result = has_result && at < comma;
    const auto found = register_at(text, at);
    if (found && in_result == (part == Part::Result) && inside(found->first, from)) {
      const auto first = static_cast<RegUnit>(found->first.first - from.first + to.first);
      result += isa::name(RegRange{first, found->first.count});
      at = found->second;
    } else {
      result += text[at++];
    }
  }
  return result;
}

} // namespace asmevo::search
