#include "program/edit_between.h"

#include <algorithm>
#include <map>
#include <set>

namespace asmevo::program {

namespace {

class Difference {
 public:
  Difference(const Program& base, const Program& now, std::string_view kernel, isa::Codec& codec)
      : base_(base), now_(now), codec_(codec) {
    edit_.kernel = kernel;
  }

  std::optional<Edit> run() {
    for (Index i = 0; i < base_.entries.size(); ++i) old_.emplace(base_.entries[i].id, i);
    find_labels();
    Index gone = 0; // of the base, the first that is not dealt with
    std::vector<Index> added;
    for (Index i = 0; i < now_.entries.size(); ++i) {
      const auto kept = old_.find(now_.entries[i].id);
      if (kept == old_.end()) {
        added.push_back(i);
        continue;
      }
      if (kept->second < gone || !change(gone, kept->second, added, i)) return std::nullopt;
      gone = kept->second + 1;
      added.clear();
    }
    if (!added.empty() || gone != base_.entries.size()) {
      if (!change(gone, static_cast<Index>(base_.entries.size()), added,
                  static_cast<Index>(now_.entries.size())))
        return std::nullopt;
    }
    size_t text = 0;
    for (const Change& c : edit_.changes) text += c.text.size();
    return text <= Edit::max_text ? std::optional(std::move(edit_)) : std::nullopt;
  }

 private:
  // New labels that somebody refers to, by the entry of `now` that they stand at; and where those of the base
  // stand now.
  void find_labels() {
    std::map<std::string_view, Index> of_base;
    for (const Label& l : base_.labels) of_base.emplace(l.name, l.at);
    std::set<uint32_t> used;
    for (const Entry& e : now_.entries)
      if (e.reference != no_index && now_.references[e.reference].label != no_index)
        used.insert(now_.references[e.reference].label);
    for (uint32_t n = 0; n < now_.labels.size(); ++n) {
      const Label& l = now_.labels[n];
      if (const auto old = of_base.find(l.name); old != of_base.end())
        old_labels_.emplace(old->second, l.at);
      else if (used.contains(n))
        new_labels_.emplace(l.at, l.name);
    }
  }

  // Entries [from, to) of the base are gone, and `added` stand there, in front of entry `next` of `now`. The
  // labels of what a change replaces go to its first new instruction; so where one stands in the midst of
  // what is new, another change begins there, with what it stood at in the base.
  bool change(Index from, Index to, const std::vector<Index>& added, Index next) {
    size_t done = 0; // of `added`
    for (auto l = old_labels_.lower_bound(from); l != old_labels_.end() && l->first <= to; ++l) {
      const auto [at, stands] = *l;
      size_t until = done;
      while (until < added.size() && added[until] < stands) ++until;
      // What stands behind it was put in front of what is still there, not in the place of what is gone.
      const bool of_next = at == to && from < to && stands != next;
      if (until == done && !of_next) continue;
      if (at == to && stands == next) { // that is where it stays
        if (from == to) return false;
        continue;
      }
      if (at == from) return false; // nothing to replace by what stands in front of it
      if (!write(from, at, added, done, until, next)) return false;
      from = at, done = until;
    }
    return write(from, to, added, done, added.size(), next);
  }

  // One change: added[first, last) in place of [from, to).
  bool write(Index from, Index to, const std::vector<Index>& added, size_t first, size_t last, Index next) {
    std::string text;
    for (size_t n = first; n < last; ++n)
      if (!print_to(text, added[n])) return false;
    if (last == added.size()) { // labels that end the text
      const auto [begin, end] = new_labels_.equal_range(next);
      for (auto l = begin; l != end; ++l) text += l->second + ":\n";
    }
    if (from == to) {
      if (text.empty()) return true;
      if (to == base_.entries.size()) return false; // there is nothing to put it in front of
      edit_.changes.push_back(
          {.first = {}, .last = {}, .before = base_.entries[to].id, .text = std::move(text)});
    } else {
      edit_.changes.push_back({.first = base_.entries[from].id,
                               .last = base_.entries[to - 1].id,
                               .before = {},
                               .text = std::move(text)});
    }
    return true;
  }

  bool print_to(std::string& text, Index i) const {
    const Entry& e = now_.entries[i];
    if (e.reference != no_index) {
      const Reference& r = now_.references[e.reference];
      if (r.use != isa::SymbolUse::Branch || r.label == no_index) return false;
    }
    const auto [first, last] = new_labels_.equal_range(i);
    for (auto l = first; l != last; ++l) text += l->second + ":\n";
    text += print(now_, i, codec_) + "\n";
    return true;
  }

  const Program& base_;
  const Program& now_;
  isa::Codec& codec_;
  Edit edit_;
  std::map<InstrId, Index> old_; // of the base
  std::multimap<Index, std::string> new_labels_;
  std::multimap<Index, Index> old_labels_; // by entry of the base that they stand at: that of `now`
};

} // namespace

std::optional<Edit> edit_between(const Program& base, const Program& now, std::string_view kernel,
                                 isa::Codec& codec) {
  return Difference(base, now, kernel, codec).run();
}

} // namespace asmevo::program
