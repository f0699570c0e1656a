// One wide access in place of two narrow ones next to each other, and one load in place of two of the same.
//
// What a memory instruction costs is mostly the instruction: it takes its turn at a unit that the four SIMDs
// of a compute unit share, the addresses of 64 lanes are worked out and gathered into lines, and a wait
// counter of 63 or 15 is filled by one. Two dwords from neighbouring addresses in one instruction cost that
// once:
//
//     global_load_dword v4, v2, s[0:1] offset:16        global_load_dwordx2 v[4:5], v2, s[0:1] offset:16
//     global_load_dword v5, v2, s[0:1] offset:20
//
//     ds_read_b32 v4, v2 offset:64                      ds_read2_b32 v[4:5], v2 offset0:16 offset1:48
//     ds_read_b32 v5, v2 offset:192
//
// LDS instructions have forms with two offsets in units of what they read (or of 64 of that), so there the
// two need not even be neighbours, and no more alignment is needed than before. Global and scalar accesses of
// several dwords must be aligned to four bytes only, as the HSA runtime sets up all GPUs concerned; the
// narrow ones are.
//
// Pattern: two accesses of a stretch (straight_code.h) of one kind and direction, with the same address
// registers and cache hints. Or a load of what another one has loaded already.
// Condition: one of them can go where the other is (nothing between them depends on it, or it on that); the
// registers follow each other in the order of the addresses, or the loaded values can move to free ones that
// do. Where counts of operations in flight go on to matter behind the stretch, at least one of the two has
// been waited for in it: the wide one is, then.
#include "program/memory_reference.h"
#include "search/rules/renaming.h"
#include "search/rules/rule_list.h"
#include "search/rules/straight_code.h"

#include <algorithm>
#include <set>
#include <utility>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::MemoryKind;
using isa::RegRange;
using program::Dependence;
using program::DependenceKind;
using program::Index;
using program::MemoryReference;

constexpr size_t least_steps = 2, most_stretches = 48;
// Accesses further apart are hardly ever merged, and each pair costs a look.
constexpr size_t most_between = 96;
// What merging may win is about the time that is spent in front of memory instructions and their waits; a
// part.
constexpr double may_win = 0.2;

// --- what an access is

struct Access {
  std::string_view family; // "global_load_dword", "ds_read_b32": what the two must have in common
  unsigned dwords = 0;
  RegRange data;
  MemoryReference reference;
  int64_t offset() const { return reference.spans[0].offset; }
  int64_t end() const { return offset() + int64_t{dwords} * 4; }
};

constexpr std::array<std::string_view, 6> widened = {"global_load_dword", "global_store_dword",
                                                     "buffer_load_dword", "buffer_store_dword",
                                                     "s_load_dword",      "s_buffer_load_dword"};
constexpr std::array<std::string_view, 4> paired = {"ds_read_b32", "ds_read_b64", "ds_write_b32",
                                                    "ds_write_b64"};

bool is_store(std::string_view family) {
  return family.find("store") != std::string_view::npos || family.find("write") != std::string_view::npos;
}
bool is_lds(std::string_view family) {
  return family.starts_with("ds_");
}
bool is_scalar(std::string_view family) {
  return family.starts_with("s_");
}

// 0: it is something else.
unsigned dwords_of(std::string_view mnemonic, std::string_view family) {
  if (!mnemonic.starts_with(family)) return 0;
  const std::string_view rest = mnemonic.substr(family.size());
  if (is_lds(family)) return rest.empty() ? (family.ends_with("b64") ? 2 : 1) : 0;
  constexpr std::array<std::pair<std::string_view, unsigned>, 6> sizes = {
      {{"", 1}, {"x2", 2}, {"x3", 3}, {"x4", 4}, {"x8", 8}, {"x16", 16}}};
  for (const auto& [suffix, dwords] : sizes)
    if (rest == suffix) return dwords;
  return 0;
}

std::optional<RegRange> data_of(const Instruction& i, bool store) {
  for (const isa::Operand& o : i.operands) {
    if (o.kind != isa::Operand::Kind::Register) continue;
    const bool named = store ? o.role == isa::Role::Vdata : o.is_def;
    if (named) return o.reg;
  }
  return std::nullopt;
}

std::optional<Access> access_of(const Instruction& i) {
  if (i.memory.kind == MemoryKind::None || i.mods.lds || i.mods.tfe || i.mods.gds) return std::nullopt;
  const auto look = [&](const auto& families) -> std::optional<Access> {
    for (const std::string_view family : families) {
      const unsigned dwords = dwords_of(i.mnemonic, family);
      if (dwords == 0) continue;
      const auto data = data_of(i, is_store(family));
      const MemoryReference reference = program::memory_reference(i);
      if (!data || data->count != dwords || reference.spans.size() != 1 || isa::is_agpr(data->first))
        continue;
      return Access{family, dwords, *data, reference};
    }
    return std::nullopt;
  };
  auto found = look(widened);
  return found ? found : look(paired);
}

bool same_hints(const isa::Modifiers& a, const isa::Modifiers& b) {
  return a.sc0 == b.sc0 && a.sc1 == b.sc1 && a.nt == b.nt && a.offen == b.offen && a.idxen == b.idxen;
}

// --- the wide one

// How the two would be one instruction; none where there is none such.
struct Wide {
  std::string mnemonic;
  unsigned dwords = 0;
  std::string offsets; // of LDS
};

std::optional<Wide> widen(const Access& low, const Access& high) {
  const unsigned dwords = low.dwords + high.dwords;
  if (low.end() != high.offset()) return std::nullopt;
  const bool exists =
      is_scalar(low.family) ? dwords == 2 || dwords == 4 || dwords == 8 || dwords == 16 : dwords <= 4;
  if (!exists) return std::nullopt;
  return Wide{fmt::format("{}x{}", low.family, dwords), dwords, ""};
}

std::optional<Wide> pair_up(const Access& low, const Access& high) {
  if (low.dwords != high.dwords) return std::nullopt;
  constexpr int64_t most = 255; // of an offset of eight bits
  const int64_t element = int64_t{low.dwords} * 4;
  const std::string_view bits = low.dwords == 1 ? "b32" : "b64";
  const std::string_view what = is_store(low.family) ? "ds_write2" : "ds_read2";
  for (const auto& [unit, infix] : {std::pair(element, ""), std::pair(element * 64, "st64")}) {
    if (low.offset() % unit != 0 || high.offset() % unit != 0 || high.offset() / unit > most) continue;
    return Wide{fmt::format("{}{}_{}", what, infix, bits), low.dwords * 2,
                fmt::format(" offset0:{} offset1:{}", low.offset() / unit, high.offset() / unit)};
  }
  return std::nullopt;
}

// The operands of an instruction's text, as written; hints and offsets go with the last.
std::vector<std::string> operands_of(const std::string& text) {
  std::vector<std::string> list;
  const size_t start = text.find_first_of(" \t", text.find_first_not_of(" \t"));
  for (size_t at = start; at != std::string::npos && at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string operand = text.substr(at, comma - at);
    operand.erase(0, operand.find_first_not_of(" \t"));
    list.push_back(std::move(operand));
    at = comma + 1;
  }
  return list;
}

std::string without_offset(const std::string& operand) {
  return operand.substr(0, operand.find(" offset:"));
}

std::string joined(const Wide& wide, const std::vector<std::string>& operands) {
  return fmt::format("{} {}{}", wide.mnemonic, fmt::join(operands, ", "), wide.offsets);
}

// `data`: of both, a range of registers.
std::string text_of(const Wide& wide, const Access& low, const Access& high, const std::string& low_text,
                    const RegRange& data) {
  std::vector<std::string> operands = operands_of(low_text);
  if (is_lds(low.family)) {
    operands.back() = without_offset(operands.back());
    if (!is_store(low.family)) operands.front() = isa::name(data);
    if (is_store(low.family)) operands.push_back(isa::name(high.data));
    return joined(wide, operands);
  }
  const size_t place = low.family == "global_store_dword" ? 1 : 0;
  if (place >= operands.size()) return "";
  const std::string was = isa::name(low.data);
  if (!operands[place].starts_with(was)) return "";
  operands[place] = isa::name(data) + operands[place].substr(was.size());
  return joined(wide, operands);
}

// --- a stretch

enum class Kinds : uint8_t { Vector, Lds, Scalar, All };

class Merger {
 public:
  Merger(const RuleContext& context, StraightCode& code, const Stretch& stretch, Kinds kinds)
      : context_(context), code_(code), stretch_(stretch), kinds_(kinds), names_(context, code, stretch),
        steps_(stretch.steps) {}

  /// How many instructions are fewer.
  size_t run() {
    size_t merged = 0;
    for (size_t i = 0; i < steps_.size(); ++i)
      while (merge_with_later(i)) ++merged;
    return merged;
  }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  bool wanted(const Access& a) const {
    switch (kinds_) {
    case Kinds::All: return true;
    case Kinds::Lds: return is_lds(a.family);
    case Kinds::Scalar: return is_scalar(a.family);
    case Kinds::Vector: return !is_lds(a.family) && !is_scalar(a.family);
    }
    return false;
  }

  bool merge_with_later(size_t i) {
    const auto first = access_of(*steps_[i].instruction);
    if (!first || !wanted(*first)) return false;
    for (size_t j = i + 1; j < steps_.size() && j - i <= most_between; ++j) {
      const auto second = access_of(*steps_[j].instruction);
      if (!second || second->family != first->family || !second->reference.same_base(first->reference) ||
          !same_hints(steps_[i].instruction->mods, steps_[j].instruction->mods) || !may_lose_one(i, j))
        continue;
      if (first->offset() == second->offset() && first->dwords == second->dwords) {
        if (drop_repeated(i, j, *first)) return true;
      } else if (merge(i, j, *first, *second)) {
        return true;
      }
    }
    return false;
  }

  // One operation fewer in flight behind the stretch makes waits that count let one more through.
  bool may_lose_one(size_t i, size_t j) {
    if (steps_[i].complete || steps_[j].complete) return true;
    const bool lds = steps_[i].instruction->counters.lgkmcnt != 0;
    std::optional<bool>& matters = counts_matter_[lds ? 1 : 0];
    if (!matters) matters = counted_behind(lds);
    return !*matters;
  }

  // Whether some s_waitcnt behind the stretch counts, before one that waits for everything.
  bool counted_behind(bool lds) const {
    const program::Cfg& cfg = context_.code.cfg();
    std::vector<char> seen(cfg.blocks().size());
    std::vector<Index> work = {stretch_.end};
    while (!work.empty()) {
      const Index from = work.back();
      work.pop_back();
      const uint32_t b = cfg.block_of(from);
      if (b == program::no_index) continue;
      bool done = false;
      for (Index i = from; i < cfg.blocks()[b].end && !done; ++i) {
        if (i == stretch_.begin) return true;
        const auto n =
            program::wait_of(context_.code.instruction(i), lds ? program::lgkmcnt : program::vmcnt);
        if (n && *n != 0) return true;
        done = n.has_value();
      }
      if (done) continue;
      for (const uint32_t next : cfg.blocks()[b].successors)
        if (!std::exchange(seen[next], 1)) work.push_back(cfg.blocks()[next].begin);
    }
    return false;
  }

  bool merge(size_t i, size_t j, const Access& first, const Access& second) {
    const bool in_order = first.offset() < second.offset();
    const Access &low = in_order ? first : second, &high = in_order ? second : first;
    const size_t low_at = in_order ? i : j, high_at = in_order ? j : i;
    const auto wide = is_lds(low.family) ? pair_up(low, high) : widen(low, high);
    if (!wide) return false;
    std::vector<Step> steps = steps_;
    const auto data = registers(steps, low_at, high_at, low, high);
    if (!data) return false;
    const auto place = place_for_both(steps, i, j, is_store(low.family));
    if (!place) return false;
    Step& both = steps[*place];
    both.complete = steps_[i].complete || steps_[j].complete;
    both.text = text_of(*wide, low, high, steps_[low_at].text, *data);
    both.instruction = both.text.empty() ? nullptr : code_.instruction(both.text);
    if (both.instruction == nullptr) return false;
    steps.erase(steps.begin() + static_cast<ptrdiff_t>(*place == i ? j : i));
    steps_ = std::move(steps);
    return true;
  }

  // Registers for both in a row: those that they have, or free ones for what is loaded.
  std::optional<RegRange> registers(std::vector<Step>& steps, size_t low_at, size_t high_at,
                                    const Access& low, const Access& high) {
    if (is_lds(low.family) && is_store(low.family)) return low.data;
    const unsigned count = low.dwords + high.dwords;
    const unsigned aligned = !is_scalar(low.family) ? 2 : std::min(count, 4U);
    const RegRange row{low.data.first, static_cast<uint16_t>(count)};
    const unsigned number = isa::is_vector(row.first) ? row.first : row.first - isa::unit::scalar0;
    if (low.data.first + low.dwords == high.data.first && number % aligned == 0) return row;
    if (is_store(low.family) || is_scalar(low.family)) return std::nullopt;
    const auto free = names_.free({0, static_cast<uint16_t>(count)});
    if (!free) return std::nullopt;
    const RegRange lower{free->first, low.data.count},
        upper{static_cast<isa::RegUnit>(free->first + low.data.count), high.data.count};
    Renaming names = names_;
    if (!names.rename(steps, low_at, lower) || !names.rename(steps, high_at, upper)) return std::nullopt;
    names_ = names;
    return free;
  }

  // Where both can stand: at i, the second one going up, or at j, the first one going down.
  std::optional<size_t> place_for_both(const std::vector<Step>& steps, size_t i, size_t j, bool down_first) {
    bool up = true, down = true;
    for (const Dependence& d : code_.dependences(stretch_, steps)) {
      if (d.from == i && d.to == j && (d.kind == DependenceKind::Raw || d.kind == DependenceKind::Waw))
        return std::nullopt;
      if (d.to == j && d.from > i) up = false;
      if (d.from == i && d.to < j) down = false;
    }
    if (down && (down_first || !up)) return j;
    return up ? std::optional(i) : std::nullopt;
  }

  // The second load brings what the first one has brought, as long as that is still there.
  bool drop_repeated(size_t i, size_t j, const Access& first) {
    if (is_store(first.family) || is_scalar(first.family)) return false;
    const auto place = place_for_both(steps_, i, j, false);
    if (place != i) return false;
    const auto uses = names_.uses_of(steps_, j, *vector_result(*steps_[j].instruction));
    if (!uses) return false;
    const size_t last = uses->empty() ? j : uses->back();
    for (size_t m = i + 1; m <= last; ++m)
      if (m != j && steps_[m].instruction->writes(first.data) && !(m == last && m != j)) return false;
    std::vector<Step> steps = steps_;
    if (!names_.rename(steps, j, first.data)) return false;
    steps.erase(steps.begin() + static_cast<ptrdiff_t>(j));
    steps_ = std::move(steps);
    return true;
  }

  const RuleContext& context_;
  StraightCode& code_;
  const Stretch& stretch_;
  Kinds kinds_;
  Renaming names_;
  std::vector<Step> steps_;
  std::array<std::optional<bool>, 2> counts_matter_; // of vmcnt, lgkmcnt
};

} // namespace

std::vector<Proposal> propose_merged_accesses(const RuleContext& context) {
  std::vector<Proposal> proposals;
  const auto code = StraightCode::of(context);
  if (code == nullptr) return proposals;
  for (const Stretch& s : code->hottest(least_steps, most_stretches)) {
    std::set<std::string> known;
    for (const Kinds kinds : {Kinds::All, Kinds::Vector, Kinds::Lds, Kinds::Scalar}) {
      Merger merger(context, *code, s, kinds);
      const size_t fewer = merger.run();
      if (fewer == 0) continue;
      const std::string text = code->write(s, merger.steps()).text;
      if (!known.insert(text).second) continue;
      Proposal p;
      p.changes.push_back(replace(context, s.begin, s.end - 1, text));
      p.rationale = fmt::format("{} to {}: {} memory instructions fewer, others wider",
                                context.code.id(s.begin), context.code.id(s.end - 1), fewer);
      p.promise = may_win * context.time_of(s.begin, s.end);
      proposals.push_back(std::move(p));
    }
  }
  return proposals;
}

} // namespace asmevo::search
