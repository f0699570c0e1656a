#include "search/integrator.h"

#include "base/hash.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using program::Change;
using program::Edit;
using program::Index;
using program::Program;

constexpr double hardly_slower = 0.998; // than what it was made from; the model's noise is about that
constexpr size_t most_parts = 256, most_halvings = 8, most_steps = 12;

std::string key_of(const Edit& e) {
  Edit only_changes;
  only_changes.kernel = e.kernel, only_changes.changes = e.changes, only_changes.resources = e.resources;
  const std::string text = only_changes.json();
  return content_hash(as_bytes(text));
}

// Positions [begin, end) that a change concerns; an insertion concerns what it stands in front of.
std::optional<std::pair<Index, Index>> range_of(const Program& p, const Change& c) {
  const auto first = c.before ? p.find(*c.before) : p.find(c.first.value_or(program::InstrId{}));
  if (!first) return std::nullopt;
  if (c.before || !c.last) return std::pair(*first, *first + 1);
  const auto last = p.find(*c.last);
  if (!last || *last < *first) return std::nullopt;
  return std::pair(*first, *last + 1);
}

bool same(const Change& a, const Change& b) {
  return a.first == b.first && a.last == b.last && a.before == b.before && a.text == b.text;
}

// Insertions fit a version that has them already.
bool contains(const Lineage::Version& v, const Edit& edit) {
  for (const gate::Proposed::Step& step : v.chain)
    for (const Change& c : step.edit.changes)
      if (std::ranges::any_of(edit.changes, [&](const Change& x) { return same(x, c); })) return true;
  return false;
}

// What both ask for; false: they ask for different sizes.
bool add(program::ResourceRequest& all, const program::ResourceRequest& more) {
  const auto clash = [](const auto& a, const auto& b) { return a && b && *a != *b; };
  if (clash(all.lds_bytes, more.lds_bytes) || clash(all.scratch_bytes, more.scratch_bytes)) return false;
  if (more.lds_bytes) all.lds_bytes = more.lds_bytes;
  if (more.scratch_bytes) all.scratch_bytes = more.scratch_bytes;
  all.shrink_vgprs |= more.shrink_vgprs;
  return true;
}

} // namespace

bool fits(const Edit& edit, const Program& from, const Program& to) {
  for (const Change& c : edit.changes) {
    const auto then = range_of(from, c), now = range_of(to, c);
    if (!then || !now || then->second - then->first != now->second - now->first) return false;
    for (Index i = 0; i < then->second - then->first; ++i)
      if (from.entries[then->first + i].id != to.entries[now->first + i].id) return false;
  }
  return true;
}

void Integrator::learn(const Lineage& lineage, const Outcome& o) {
  const Edit& edit = o.suggestion.edit;
  const std::string key = key_of(edit);
  if (on_trial_ && *on_trial_ == key) {
    on_trial_.reset();
    const bool better = o.evaluation.passed() && !o.evaluation.seconds.empty() && o.over_base > kept_gain_;
    if (better)
      kept_gain_ = o.over_base;
    else
      kept_.pop_back();
  }
  const bool is_part = o.evaluation.passed() && !o.evaluation.seconds.empty() && !o.suggestion.object &&
                       !o.node && o.over_base >= hardly_slower && o.suggestion.rule != name &&
                       edit.base < lineage.size();
  if (!is_part) return;
  parts_.insert_or_assign(key, Part{edit, o.over_base, o.suggestion.rule});
}

void Integrator::begin(const Lineage& lineage) {
  const Lineage::Version& best = lineage.best();
  if (best.node.id != base_) tried_.clear();
  base_ = best.node.id;
  fitting_.clear(), kept_.clear();
  while (parts_.size() > most_parts)
    parts_.erase(std::ranges::min_element(parts_, {}, [](const auto& p) { return p.second.gain; }));
  parts_then_ = parts_.size();
  halvings_ = next_part_ = 0, kept_gain_ = 1;
  on_trial_.reset();
  for (const auto& [key, part] : parts_)
    if (!contains(best, part.edit) && fits(part.edit, lineage.at(part.edit.base).named, best.named))
      fitting_.push_back(&part);
  std::ranges::stable_sort(fitting_, std::greater{}, &Part::gain);
}

std::optional<Suggestion> Integrator::propose(const Lineage& lineage, bool last_ideas) {
  const Lineage::Version& best = lineage.best();
  if (!best.editable) return std::nullopt;
  const size_t enough =
      last_ideas ? parts_then_ + 1 : std::max(parts_then_ + parts_then_ / 2, parts_then_ + 4);
  if (!on_trial_ && (best.node.id != base_ || parts_.size() >= enough)) begin(lineage);
  if (best.node.id != base_ || fitting_.size() < 2 || on_trial_) return std::nullopt;
  if (auto some = next_half(best)) return some;
  return next_step(best);
}

// All of them, those that won something, the better half of these, ...
std::optional<Suggestion> Integrator::next_half(const Lineage::Version& best) {
  const auto winning =
      static_cast<size_t>(std::ranges::count_if(fitting_, [](auto* p) { return p->gain > 1; }));
  while (halvings_ < most_halvings) {
    const size_t count = halvings_ == 0 ? fitting_.size() : winning >> (halvings_ - 1);
    ++halvings_;
    if (count < 2) continue;
    if (auto s = compose(best, {fitting_.begin(), fitting_.begin() + static_cast<std::ptrdiff_t>(count)},
                         "at once"))
      return s;
  }
  return std::nullopt;
}

std::optional<Suggestion> Integrator::next_step(const Lineage::Version& best) {
  if (kept_.empty()) kept_ = {fitting_[0]}, kept_gain_ = fitting_[0]->gain, next_part_ = 1;
  while (next_part_ < std::min(fitting_.size(), most_steps)) {
    kept_.push_back(fitting_[next_part_++]);
    if (auto s = compose(best, kept_, "step by step")) {
      on_trial_ = key_of(s->edit);
      return s;
    }
    kept_.pop_back();
  }
  return std::nullopt;
}

// Parts that change what an earlier one changes are left out; none where fewer than two remain, or where it
// was tried.
std::optional<Suggestion> Integrator::compose(const Lineage::Version& best, const Parts& parts,
                                              std::string_view how) {
  Suggestion s;
  std::vector<std::pair<Index, Index>> taken;
  size_t count = 0, text = 0;
  std::set<std::string> rules;
  for (const Part* part : parts) {
    const auto free = [&](const Change& c) {
      const auto r = range_of(best.named, c);
      return r && std::ranges::none_of(
                      taken, [&](const auto& t) { return r->first < t.second && t.first < r->second; });
    };
    program::ResourceRequest resources = s.edit.resources;
    size_t more = 0;
    for (const Change& c : part->edit.changes) more += c.text.size();
    const bool same_kernel = count == 0 || part->edit.kernel == s.edit.kernel;
    if (!same_kernel || text + more > Edit::max_text || !std::ranges::all_of(part->edit.changes, free) ||
        !add(resources, part->edit.resources))
      continue;
    text += more;
    s.edit.kernel = part->edit.kernel, s.edit.resources = resources;
    for (const Change& c : part->edit.changes)
      taken.push_back(*range_of(best.named, c)), s.edit.changes.push_back(c);
    s.edit.direction =
        count == 0 || s.edit.direction == part->edit.direction ? part->edit.direction : "several";
    rules.insert(part->rule);
    ++count;
  }
  if (count < 2) return std::nullopt;
  s.edit.base = best.node.id;
  if (!tried_.insert(key_of(s.edit)).second) return std::nullopt;
  s.rule = name;
  s.edit.rationale =
      fmt::format("{} edits that were verified apart, {} ({})", count, how, fmt::join(rules, ", "));
  return s;
}

} // namespace asmevo::search
