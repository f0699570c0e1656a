// How a splice keeps a program whole. Positions are plain indices, so a change in the middle shifts
// everything behind it. All places that hold an index (labels, functions, aligned points, references' bases)
// are mapped through two tables made in one pass over the old entries:
//
//   start[i]  where control that went to old entry i must go now: for a replaced or inserted-before entry the
//   first
//             new instruction, for a deleted one what follows
//   self[i]   where old entry i itself is now; for a replaced one, what follows the replacement
#include "program/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace asmevo::program {

std::string SpliceError::describe() const {
  if (line == 0) return fmt::format("changes[{}]: {}", change, message);
  return fmt::format("changes[{}], line {}, column {}: {}", change, line, column, message);
}

namespace {

struct Range {
  Index begin = 0, end = 0; // old entries replaced; empty: insertion in front of begin
  size_t change = 0;
};

class Splicer {
 public:
  Splicer(const Program& base, const Edit& edit, uint32_t node, isa::Codec& codec)
      : base_(base), edit_(edit), node_(node), codec_(codec) {}

  std::expected<Program, SpliceError> run() {
    if (base_.find_function(edit_.kernel) == nullptr)
      return fail(0, fmt::format("there is no kernel '{}'", printable(edit_.kernel)));
    find_own_functions();
    if (auto found = find_ranges(); !found) return std::unexpected(found.error());
    if (auto parsed = parse_texts(); !parsed) return std::unexpected(parsed.error());
    build_entries();
    remap();
    if (auto resolved = resolve_references(); !resolved) return std::unexpected(resolved.error());
    if (auto kept = check_bases(); !kept) return std::unexpected(kept.error());
    if (auto closed = check_function_ends(); !closed) return std::unexpected(closed.error());
    result_.pools.push_back(codec_.pool());
    return std::move(result_);
  }

 private:
  using Outcome = std::expected<void, SpliceError>;
  struct NewLabel {
    Label label;
    size_t change;
    unsigned line, column;
  };
  struct NewUse {
    Index at, text_begin; // the using entry, the first one of the text it came with
    size_t change;
    const isa::ParsedLine* line;
  };

  static std::unexpected<SpliceError> fail(size_t change, std::string message, unsigned line = 0,
                                           unsigned column = 0) {
    return std::unexpected(SpliceError{change, line, column, std::move(message)});
  }

  // --- what the edit may change ---

  // The kernel and the functions that its code refers to, and so on, but no other kernel: that one is not run
  // to see what the edit does to it.
  void find_own_functions() {
    std::vector<const Function*> work = {base_.find_function(edit_.kernel)};
    own_ = {work.front()};
    while (!work.empty()) {
      const Function& f = *work.back();
      work.pop_back();
      for (Index i = f.begin; i < f.end; ++i) {
        const Function* other = referred_function(base_.entries[i]);
        if (other != nullptr && !other->kernel && own_.insert(other).second) work.push_back(other);
      }
    }
  }

  const Function* referred_function(const Entry& entry) const {
    if (entry.reference == no_index) return nullptr;
    const Reference& r = base_.references[entry.reference];
    if (r.label == no_index) return base_.find_function(r.symbol); // through the GOT
    return base_.function_at(base_.labels[r.label].at);
  }

  // --- the ranges, in address order and disjoint ---

  Outcome find_ranges() {
    for (size_t k = 0; k < edit_.changes.size(); ++k) {
      const Change& c = edit_.changes[k];
      const InstrId first_id = c.before ? *c.before : c.first.value_or(InstrId{});
      const InstrId last_id = c.before ? *c.before : c.last.value_or(first_id);
      const auto first = base_.find(first_id), last = base_.find(last_id);
      if (!first) return fail(k, fmt::format("there is no instruction {}", first_id.text()));
      if (!last) return fail(k, fmt::format("there is no instruction {}", last_id.text()));
      if (*last < *first) return fail(k, fmt::format("{} stands before {}", last_id.text(), first_id.text()));
      const Function* function = base_.function_at(*first);
      if (function == nullptr || *last >= function->end)
        return fail(k, fmt::format("{} to {} is not inside one function", first_id.text(), last_id.text()));
      if (!own_.contains(function))
        return fail(k, fmt::format("{} belongs to '{}', which is neither kernel '{}' nor a function it calls",
                                   first_id.text(), printable(function->name), printable(edit_.kernel)));
      ranges_.push_back({*first, c.before ? *first : *last + 1, k});
    }
    std::stable_sort(ranges_.begin(), ranges_.end(), [](const Range& x, const Range& y) {
      return std::pair(x.begin, x.end) < std::pair(y.begin, y.end);
    });
    for (size_t k = 1; k < ranges_.size(); ++k)
      if (ranges_[k].begin < ranges_[k - 1].end)
        return fail(ranges_[k].change, fmt::format("overlaps changes[{}]", ranges_[k - 1].change));
    return {};
  }

  // --- the text ---

  Outcome parse_texts() {
    lines_.resize(edit_.changes.size());
    size_t total = 0;
    for (size_t k = 0; k < edit_.changes.size(); ++k) {
      total += edit_.changes[k].text.size();
      if (total > Edit::max_text) return fail(k, fmt::format("more than {} bytes of text", Edit::max_text));
      auto parsed = codec_.parse(edit_.changes[k].text);
      if (!parsed) return fail(k, parsed.error().message, parsed.error().line, parsed.error().column);
      lines_[k] = std::move(*parsed);
      if (auto fine = check_lines(k); !fine) return fine;
    }
    return {};
  }

  // A number in place of a label would be wrong as soon as anything moves.
  Outcome check_lines(size_t change) {
    const auto& lines = lines_[change];
    for (size_t n = 0; n < lines.size(); ++n) {
      const isa::ParsedLine& line = lines[n];
      if (line.instruction == nullptr) continue;
      if (line.instruction->branch && line.use != isa::SymbolUse::Branch)
        return fail(change, "a branch needs a label, not a number", line.line, line.column);
      if (!line.instruction->is("s_getpc_b64")) continue;
      const bool used =
          std::any_of(lines.begin() + static_cast<ptrdiff_t>(n), lines.end(), [](const isa::ParsedLine& l) {
            return l.use == isa::SymbolUse::Rel32Lo || l.use == isa::SymbolUse::GotPcRel32Lo;
          });
      if (!used)
        return fail(change, "s_getpc_b64 needs a symbol@rel32@lo behind it in the same text", line.line,
                    line.column);
    }
    return {};
  }

  // --- the new entries ---

  void build_entries() {
    const auto old_count = static_cast<Index>(base_.entries.size());
    start_.resize(old_count + 1);
    self_.resize(old_count + 1);
    result_.entries.reserve(old_count + 64);
    size_t range = 0;
    for (Index i = 0; i <= old_count;) {
      const auto first_new = static_cast<Index>(result_.entries.size());
      bool replaced = false;
      for (; range < ranges_.size() && ranges_[range].begin == i; ++range) {
        const auto replacement = static_cast<Index>(result_.entries.size());
        add_text(ranges_[range].change);
        if (ranges_[range].end == i) continue;
        replaced = true;
        const auto behind = static_cast<Index>(result_.entries.size());
        for (Index k = i; k < ranges_[range].end; ++k) {
          start_[k] = k == i ? first_new : replacement; // what is inserted in front of i concerns i only
          self_[k] = behind;
        }
        i = ranges_[range].end;
        ++range;
        break;
      }
      if (replaced) continue;
      start_[i] = first_new;
      self_[i] = static_cast<Index>(result_.entries.size());
      if (i < old_count) result_.entries.push_back(base_.entries[i]);
      ++i;
    }
  }

  void add_text(size_t change) {
    const auto begin = static_cast<Index>(result_.entries.size());
    for (const isa::ParsedLine& line : lines_[change]) {
      const auto at = static_cast<Index>(result_.entries.size());
      if (line.instruction == nullptr) {
        new_labels_.push_back({{line.label, at}, change, line.line, line.column});
        continue;
      }
      Entry entry{{node_, inserted_++}, no_index, line.instruction};
      if (line.use != isa::SymbolUse::None) new_uses_.push_back({at, begin, change, &line});
      result_.entries.push_back(entry);
    }
  }

  void remap() {
    result_.target = base_.target;
    result_.references = base_.references;
    result_.externals = base_.externals;
    result_.pools = base_.pools;
    result_.text_address = base_.text_address;
    result_.text_alignment = base_.text_alignment;
    result_.labels = base_.labels;
    for (Label& label : result_.labels) label.at = start_[label.at];
    result_.functions = base_.functions;
    for (Function& f : result_.functions) {
      f.begin = start_[f.begin];
      f.end = start_[f.end];
      f.padding = std::min(f.end, self_[f.padding]);
    }
    result_.aligned = base_.aligned;
    for (AlignedPoint& p : result_.aligned) {
      p.at = start_[p.at];
      p.filler = std::min(p.at, self_[p.filler]);
      if (p.anchor != no_index) p.anchor = start_[p.anchor];
    }
    for (Reference& r : result_.references)
      if (r.base != no_index) r.base = self_base(r.base);
  }

  // A replaced s_getpc has no place any more; check_bases reports references that still need it.
  Index self_base(Index old) const {
    const Index now = self_[old];
    const bool same = now < result_.entries.size() && result_.entries[now].id == base_.entries[old].id;
    return same ? now : lost_base;
  }

  // --- names ---

  Outcome resolve_references() {
    for (const NewLabel& label : new_labels_) {
      if (result_.find_label(label.label.name) || external(label.label.name) != nullptr)
        return fail(label.change, fmt::format("label '{}' exists already", label.label.name), label.line,
                    label.column);
      result_.labels.push_back(label.label);
    }
    for (const NewUse& use : new_uses_) {
      Reference r;
      r.use = use.line->use;
      r.addend = use.line->addend;
      r.symbol = use.line->symbol;
      if (const auto label = result_.find_label(r.symbol))
        r.label = *label;
      else if (const ExternalSymbol* symbol = external(r.symbol);
               symbol != nullptr && r.use != isa::SymbolUse::Branch)
        r.section = symbol->section, r.offset = symbol->offset;
      else
        return fail(use.change, fmt::format("there is no label '{}'", r.symbol), use.line->line,
                    use.line->column);
      const bool got = r.use == isa::SymbolUse::GotPcRel32Lo || r.use == isa::SymbolUse::GotPcRel32Hi;
      const bool absolute = r.use == isa::SymbolUse::Abs32Lo || r.use == isa::SymbolUse::Abs32Hi;
      if (absolute || (got && r.label != no_index))
        return fail(
            use.change,
            "only rel32 references can be made by an edit, or gotpcrel32 of a symbol K0 has in its GOT",
            use.line->line, use.line->column);
      anchor_at_getpc(r, use);
      result_.entries[use.at].reference = static_cast<uint32_t>(result_.references.size());
      result_.references.push_back(std::move(r));
    }
    return {};
  }

  // rel32 counts from the literal, but what is meant is the distance from the s_getpc_b64 that it is added
  // to. Said that way the pair stays right when a later edit puts something between the two.
  void anchor_at_getpc(Reference& r, const NewUse& use) const {
    if (r.use == isa::SymbolUse::Branch) return;
    const isa::Operand* sum = result_.instruction(use.at).find(isa::Role::Src0);
    int64_t distance = result_.instruction(use.at).bytes() - 4;
    // It may stand in front of the text: an edit can replace an addition alone.
    constexpr Index reach = 16;
    const Index earliest = std::min(use.text_begin, use.at - std::min(use.at, reach));
    for (Index k = use.at; sum != nullptr && k-- > earliest;) {
      const isa::Instruction& i = result_.instruction(k);
      if (i.is("s_getpc_b64") && i.writes(sum->reg)) {
        r.base = k;
        r.addend -= distance;
        return;
      }
      distance += i.bytes();
    }
  }

  const ExternalSymbol* external(std::string_view name) const {
    const auto at = std::ranges::find(base_.externals, name, &ExternalSymbol::name);
    return at == base_.externals.end() ? nullptr : &*at;
  }

  // --- what must still hold ---

  // s_getpc_b64 and the two additions to it stand or fall together: one of them alone computes no address.
  Outcome check_bases() const {
    struct Halves {
      bool low = false, high = false;
    };
    std::map<Index, Halves> pairs;
    for (const Reference& r : result_.references)
      if (r.base != no_index && r.base != lost_base) pairs.try_emplace(r.base);
    for (const Entry& e : result_.entries) {
      if (e.reference == no_index) continue;
      const Reference& r = result_.references[e.reference];
      if (r.base == lost_base)
        return fail(
            change_at(base_.references[e.reference].base),
            fmt::format("instruction {} adds to the s_getpc_b64 that this edit removes", e.id.text()));
      if (r.base == no_index) continue;
      const bool low = r.use == isa::SymbolUse::Rel32Lo || r.use == isa::SymbolUse::GotPcRel32Lo;
      (low ? pairs[r.base].low : pairs[r.base].high) = true;
    }
    for (const auto& [base, halves] : pairs)
      if (!halves.low || !halves.high)
        return fail(change_of_addition(base),
                    fmt::format("the s_getpc_b64 at {} is left without its {}",
                                result_.entries[base].id.text(), halves.low ? "s_addc_u32" : "s_add_u32"));
    return {};
  }

  // The change that removed an addition to the s_getpc_b64 at `base` of the result.
  size_t change_of_addition(Index base) const {
    for (Index i = 0; i < base_.entries.size(); ++i) {
      const uint32_t reference = base_.entries[i].reference;
      if (reference == no_index || result_.references[reference].base != base) continue;
      const Index now = self_[i];
      if (now >= result_.entries.size() || result_.entries[now].id != base_.entries[i].id)
        return change_at(i);
    }
    return 0;
  }

  // The change that replaced old entry i, or the last one in front of it.
  size_t change_at(Index i) const {
    const auto behind = std::ranges::upper_bound(ranges_, i, {}, &Range::begin);
    return behind == ranges_.begin() ? 0 : std::prev(behind)->change;
  }

  Outcome check_function_ends() const {
    for (size_t k = 0; k < result_.functions.size(); ++k) {
      const Function &now = result_.functions[k], &was = base_.functions[k];
      if (now.padding - now.begin == was.padding - was.begin && !touched(was)) continue;
      if (now.padding <= now.begin)
        return fail(change_at(was.begin), fmt::format("nothing is left of function '{}'", now.name));
      const bool closed = result_.instruction(now.padding - 1).no_fallthrough();
      const bool was_closed = was.padding > was.begin && base_.instruction(was.padding - 1).no_fallthrough();
      if (!closed && was_closed)
        return fail(change_at(was.padding),
                    fmt::format("control runs off the end of function '{}'", now.name));
    }
    return {};
  }

  bool touched(const Function& f) const {
    return std::ranges::any_of(ranges_, [&](const Range& r) { return r.begin < f.end && r.end >= f.begin; });
  }

  static constexpr Index lost_base = no_index - 1;

  const Program& base_;
  const Edit& edit_;
  uint32_t node_;
  isa::Codec& codec_;
  Program result_;
  std::unordered_set<const Function*> own_; // of base_
  std::vector<Range> ranges_;
  std::vector<std::vector<isa::ParsedLine>> lines_; // by change
  std::vector<Index> start_, self_;
  std::vector<NewLabel> new_labels_;
  std::vector<NewUse> new_uses_;
  uint32_t inserted_ = 0;
};

} // namespace

std::expected<Program, SpliceError> splice(const Program& base, const Edit& edit, uint32_t node,
                                           isa::Codec& codec) {
  return Splicer(base, edit, node, codec).run();
}

} // namespace asmevo::program
