#include "search/enabled.h"

#include "program/edit_between.h"

#include <algorithm>
#include <array>

namespace asmevo::search {

namespace {

using program::Change;
using program::Edit;
using program::Index;
using program::Program;

// By stage: what is tried on top, in this order; after each stage there is a proposal.
constexpr std::array<std::array<std::string_view, 4>, 3> stages = {{
    {"batched-loads"},
    {"known-results", "repeated-work", "hoisted-values"},
    {"fused-integers", "schedule", "waits"},
}};
constexpr uint32_t first_node = 1U << 30; // of instructions that are put in on the way; no version has such

std::pair<Index, Index> place_of(const Program& p, const Change& c) {
  const Index first = p.find(c.before ? *c.before : c.first.value_or(program::InstrId{})).value_or(0);
  if (c.before) return {first, first};
  return {first, (c.last ? p.find(*c.last).value_or(first) : first) + 1};
}

// As many of them as are disjoint, the most promising first.
Edit joined(const Program& p, std::vector<Proposal> proposals, const std::string& kernel) {
  std::ranges::stable_sort(proposals, std::greater{}, &Proposal::promise);
  Edit e;
  e.kernel = kernel;
  std::vector<std::pair<Index, Index>> taken;
  size_t text = 0;
  for (const Proposal& proposal : proposals) {
    std::vector<std::pair<Index, Index>> own;
    size_t more = 0;
    for (const Change& c : proposal.changes) own.push_back(place_of(p, c)), more += c.text.size();
    const auto clashes = [&](const auto& r) {
      return std::ranges::any_of(taken, [&](const auto& t) {
        return r.first < t.second + (t.first == t.second) && t.first < r.second + (r.first == r.second);
      });
    };
    if (text + more > Edit::max_text || std::ranges::any_of(own, clashes)) continue;
    text += more;
    std::ranges::copy(own, std::back_inserter(taken));
    std::ranges::copy(proposal.changes, std::back_inserter(e.changes));
    e.resources.shrink_vgprs |= proposal.resources.shrink_vgprs;
    if (proposal.resources.lds_bytes) e.resources.lds_bytes = proposal.resources.lds_bytes;
    if (proposal.resources.scratch_bytes) e.resources.scratch_bytes = proposal.resources.scratch_bytes;
  }
  return e;
}

class Chain {
 public:
  Chain(const rebuild::Original& k0, const Lineage::Version& base, const gate::KernelTimes& k,
        const RuleContext& context)
      : k0_(k0), base_(base), kernel_(k), machine_(context.machine), program_(base.named) {
    const program::Function& f = context.code.function();
    for (Index i = f.begin; i < f.end; ++i)
      if (i - f.begin < k.time.size())
        spent_[program_.entries[i].id] = {k.time[i - f.begin], k.issues[i - f.begin]};
  }

  /// False: it cannot be made.
  bool apply(const Edit& edit, const std::vector<Index>& copies) {
    auto next = program::splice(program_, edit, node_, base_.subject->codec());
    if (!next) return false;
    auto built = rebuild::build_spliced(k0_, program_, *next, edit);
    if (!built) return false;
    auto subject = oracle::Subject::open(std::move(built->object));
    if (!subject) return false;
    share_out(edit, copies, *next);
    if (edit.resources.lds_bytes) resources_.lds_bytes = edit.resources.lds_bytes;
    if (edit.resources.scratch_bytes) resources_.scratch_bytes = edit.resources.scratch_bytes;
    resources_.shrink_vgprs |= edit.resources.shrink_vgprs;
    program_ = *std::move(next);
    subject_ = *std::move(subject);
    ++node_;
    return look();
  }

  /// Whether the rule found something that could be made.
  bool add(const Rule& rule) {
    const std::vector<Proposal> proposals = rule.propose(*context_);
    if (proposals.empty()) return false;
    for (const Proposal& p : proposals) same_results_ &= p.same_results;
    const Edit edit = joined(program_, proposals, kernel_.kernel);
    return !edit.changes.empty() && apply(edit, {});
  }

  std::optional<Proposal> proposal() const {
    auto edit = program::edit_between(base_.named, program_, kernel_.kernel, base_.subject->codec());
    if (!edit) return std::nullopt;
    Proposal p;
    p.changes = std::move(edit->changes), p.resources = resources_, p.same_results = same_results_;
    return p;
  }

 private:
  struct Spent {
    double time = 0, issues = 0;
  };

  // Where the time goes now: copies share that of what they were copied from, other new instructions that of
  // what they replace.
  void share_out(const Edit& edit, const std::vector<Index>& copies, const Program& next) {
    std::map<Index, unsigned> times_copied;
    for (const Index c : copies) ++times_copied[c];
    std::map<program::InstrId, Spent> now = spent_;
    size_t copy = 0;
    for (const Change& c : edit.changes) {
      const auto [from, to] = place_of(program_, c);
      std::vector<program::InstrId> added;
      // New ones stand in the text's order behind what is in front of the place.
      Index at = from == 0 ? 0 : next.find(program_.entries[from - 1].id).value_or(0) + 1;
      for (; at < next.entries.size() && next.entries[at].id.node == node_; ++at)
        added.push_back(next.entries[at].id);
      Spent all;
      for (Index i = from; i < to; ++i)
        if (const auto s = spent_.find(program_.entries[i].id); s != spent_.end())
          all.time += s->second.time, all.issues = std::max(all.issues, s->second.issues);
      for (const program::InstrId& id : added) {
        now[id] = {all.time / static_cast<double>(added.size()), all.issues};
        if (copy >= copies.size()) continue;
        const Index of = copies[copy++];
        if (of == program::no_index) continue;
        const auto s = spent_.find(program_.entries[of].id);
        const double share = 1.0 / times_copied[of];
        if (s != spent_.end()) now[id] = {s->second.time * share, s->second.issues * share};
      }
    }
    spent_ = std::move(now);
  }

  bool look() {
    context_.reset();
    auto code = profile::KernelCode::open(subject_->original(), program_, kernel_.kernel, kernel_.start);
    if (!code) return false;
    code_ = *std::move(code);
    const program::Function& f = code_->function();
    std::vector<double> time(f.end - f.begin), issues(f.end - f.begin);
    for (Index i = f.begin; i < f.end; ++i)
      if (const auto s = spent_.find(program_.entries[i].id); s != spent_.end())
        time[i - f.begin] = s->second.time, issues[i - f.begin] = s->second.issues;
    context_.emplace(RuleContext{*code_, subject_->codec(), machine_, std::move(time), std::move(issues)});
    return true;
  }

  const rebuild::Original& k0_;
  const Lineage::Version& base_;
  const gate::KernelTimes& kernel_;
  const timing::Machine& machine_;
  Program program_;
  std::shared_ptr<const oracle::Subject> subject_;
  std::unique_ptr<const profile::KernelCode> code_;
  std::optional<RuleContext> context_;
  std::map<program::InstrId, Spent> spent_;
  program::ResourceRequest resources_;
  uint32_t node_ = first_node;
  bool same_results_ = true;
};

} // namespace

std::vector<Proposal> enabled_proposals(const Lineage& lineage, const Lineage::Version& base,
                                        const gate::KernelTimes& k, const RuleContext& context,
                                        const Proposal& enabling) {
  Chain chain(lineage.at(0).subject->original(), base, k, context);
  Edit first;
  first.kernel = k.kernel, first.changes = enabling.changes, first.resources = enabling.resources;
  if (!chain.apply(first, enabling.copies)) return {};
  std::vector<Proposal> list;
  std::vector<std::string_view> found;
  for (const auto& stage : stages) {
    const size_t before = found.size();
    for (const std::string_view name : stage)
      if (const Rule* rule = name.empty() ? nullptr : find_rule(name); rule != nullptr && chain.add(*rule))
        found.push_back(name);
    if (found.size() == before) continue;
    if (auto p = chain.proposal()) {
      p->rationale = fmt::format("{}, then {}", enabling.rationale, fmt::join(found, ", "));
      p->promise = enabling.promise;
      list.push_back(*std::move(p));
    }
  }
  return list;
}

} // namespace asmevo::search
