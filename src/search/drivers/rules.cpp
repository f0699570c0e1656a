#include "search/drivers/rules.h"

#include "base/hash.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace asmevo::search {

namespace {

constexpr double least_share = 0.01; // of the time, of a kernel worth editing
constexpr double hardly_slower = 0.998;

// A place, or several, with what is known of it.
struct Idea {
  std::string kernel, rule, direction;
  Proposal proposal;
  double promise = 0; // of the time of all launches
};

std::string key_of(const std::string& kernel, const std::vector<program::Change>& changes) {
  program::Edit e;
  e.kernel = kernel, e.changes = changes;
  const std::string text = e.json();
  return content_hash(as_bytes(text));
}

// Positions [begin, end) that a change concerns; an insertion concerns what it stands in front of.
std::pair<program::Index, program::Index> range_of(const program::Program& p, const program::Change& c) {
  if (c.before) {
    const program::Index at = p.find(*c.before).value_or(0);
    return {at, at + 1};
  }
  const program::Index first = p.find(c.first.value_or(program::InstrId{})).value_or(0);
  return {first, (c.last ? p.find(*c.last).value_or(first) : first) + 1};
}

class Rules : public Driver {
 public:
  Rules(timing::Machine machine, std::vector<const Rule*> rules, std::string kernel)
      : machine_(std::move(machine)), rules_(std::move(rules)), kernel_(std::move(kernel)) {}
  std::string_view name() const override { return "rules"; }

  std::vector<Suggestion> propose(const Lineage& lineage, size_t count) override {
    const Lineage::Version& best = lineage.best();
    if (best.editable && best.node.id != base_) look_at(best);
    if (queue_.empty()) join_near_misses(best);
    std::vector<Suggestion> next;
    while (!queue_.empty() && next.size() < count) {
      next.push_back(suggest(queue_.front()));
      queue_.pop_front();
    }
    return next;
  }

  void learn(const Outcome& o) override {
    const std::string key = key_of(o.suggestion.edit.kernel, o.suggestion.edit.changes);
    if (o.node || o.evaluation.outcome == gate::Outcome::InfrastructureError) return;
    if (!o.evaluation.passed())
      refused_.insert(key);
    else
      slow_.insert(key);
    if (o.suggestion.edit.base != base_ || !o.evaluation.passed()) return;
    // The median of what was timed; whoever lost on the first model only is a near miss as well.
    if (o.comparison.over_best >= hardly_slower && pending_.contains(key))
      near_misses_.push_back({o.comparison.over_best, pending_.at(key)});
  }

 private:
  // --- what there is to try on a version

  void look_at(const Lineage::Version& version) {
    base_ = version.node.id;
    queue_.clear(), pending_.clear(), near_misses_.clear(), joined_ = 0;
    std::vector<Idea> ideas;
    for (const gate::KernelTimes& k : version.profile.kernels)
      if (k.share >= least_share && (kernel_.empty() || k.kernel == kernel_)) find(version, k, ideas);
    std::ranges::stable_sort(ideas, std::greater{}, &Idea::promise);
    std::deque<Idea> later;
    for (const Idea& idea : together(version, ideas)) enqueue(idea, later);
    for (const Idea& idea : ideas) enqueue(idea, later);
    std::ranges::move(later, std::back_inserter(queue_));
  }

  void find(const Lineage::Version& version, const gate::KernelTimes& k, std::vector<Idea>& ideas) {
    const auto code =
        profile::KernelCode::open(version.subject->original(), version.named, k.kernel, k.start);
    if (!code) return;
    const RuleContext context{**code, version.subject->codec(), machine_, k.time, k.issues};
    for (const Rule* rule : rules_)
      for (Proposal& p : rule->propose(context)) {
        const double promise = p.promise * k.share;
        ideas.push_back(
            {k.kernel, std::string(rule->name), std::string(rule->direction), std::move(p), promise});
      }
  }

  void enqueue(const Idea& idea, std::deque<Idea>& later) {
    const std::string key = key_of(idea.kernel, idea.proposal.changes);
    if (refused_.contains(key) || !pending_.try_emplace(key, idea).second) return;
    (slow_.contains(key) ? later : queue_).push_back(idea);
  }

  // All places of a kernel at once, those that keep every bit first; and those of each rule.
  std::vector<Idea> together(const Lineage::Version& version, const std::vector<Idea>& ideas) const {
    std::vector<Idea> list;
    const auto join = [&](auto wanted, const char* what) {
      std::map<std::string, std::vector<const Idea*>> by_kernel;
      for (const Idea& i : ideas)
        if (wanted(i)) by_kernel[i.kernel].push_back(&i);
      for (const auto& [kernel, some] : by_kernel)
        if (auto joined = joint(version.named, some, what)) list.push_back(*std::move(joined));
    };
    join([](const Idea&) { return true; }, "everything at once");
    join([](const Idea& i) { return i.proposal.same_results; }, "everything that keeps every bit");
    for (const Rule* rule : rules_) join([&](const Idea& i) { return i.rule == rule->name; }, "every place");
    return list;
  }

  // None where fewer than two can be joined.
  static std::optional<Idea> joint(const program::Program& program, const std::vector<const Idea*>& some,
                                   const std::string& what) {
    std::vector<std::pair<program::Index, program::Index>> taken;
    Idea all;
    size_t count = 0, text = 0;
    std::set<std::string> rules;
    for (const Idea* idea : some) {
      std::vector<std::pair<program::Index, program::Index>> own;
      for (const program::Change& c : idea->proposal.changes) own.push_back(range_of(program, c));
      const auto clash = [&](const auto& r) {
        return std::ranges::any_of(taken,
                                   [&](const auto& t) { return r.first < t.second && t.first < r.second; });
      };
      if (std::ranges::any_of(own, clash)) continue;
      for (const program::Change& c : idea->proposal.changes) text += c.text.size();
      if (text > program::Edit::max_text) break; // what promises most is in
      std::ranges::copy(own, std::back_inserter(taken));
      std::ranges::copy(idea->proposal.changes, std::back_inserter(all.proposal.changes));
      const program::ResourceRequest& r = idea->proposal.resources;
      if (r.lds_bytes) all.proposal.resources.lds_bytes = r.lds_bytes;
      if (r.scratch_bytes) all.proposal.resources.scratch_bytes = r.scratch_bytes;
      all.proposal.resources.shrink_vgprs |= r.shrink_vgprs;
      all.proposal.same_results &= idea->proposal.same_results;
      all.promise += idea->promise;
      all.kernel = idea->kernel, all.direction = idea->direction;
      rules.insert(idea->rule);
      ++count;
    }
    if (count < 2) return std::nullopt;
    all.rule = rules.size() == 1 ? *rules.begin() : "several";
    if (rules.size() > 1) all.direction = "several";
    all.proposal.rationale = fmt::format("{}, {} of them ({})", what, count, fmt::join(rules, ", "));
    return all;
  }

  // --- what was not enough by itself

  void join_near_misses(const Lineage::Version& best) {
    if (best.node.id != base_ || near_misses_.size() < 2) return;
    std::ranges::stable_sort(near_misses_, std::greater{}, &std::pair<double, Idea>::first);
    // All of them, those that win something, the better half of these, ...
    const auto winning =
        static_cast<size_t>(std::ranges::count_if(near_misses_, [](const auto& n) { return n.first > 1; }));
    for (; joined_ < 8 && queue_.empty(); ++joined_) {
      const size_t count = joined_ == 0 ? near_misses_.size() : winning >> (joined_ - 1);
      if (count < 2) break;
      std::map<std::string, std::vector<const Idea*>> by_kernel;
      for (size_t n = 0; n < count; ++n)
        by_kernel[near_misses_[n].second.kernel].push_back(&near_misses_[n].second);
      std::deque<Idea> later;
      for (const auto& [kernel, some] : by_kernel)
        if (auto joined = joint(best.named, some, "near misses together")) enqueue(*joined, later);
    }
  }

  Suggestion suggest(const Idea& idea) const {
    Suggestion s;
    s.rule = idea.rule;
    s.edit.base = base_;
    s.edit.kernel = idea.kernel;
    s.edit.changes = idea.proposal.changes;
    s.edit.resources = idea.proposal.resources;
    s.edit.rationale = idea.proposal.rationale;
    s.edit.direction = idea.direction;
    return s;
  }

  timing::Machine machine_;
  std::vector<const Rule*> rules_;
  std::string kernel_;
  uint32_t base_ = ~0U; // node that the queue is for
  std::deque<Idea> queue_;
  std::map<std::string, Idea> pending_;              // of this base, by key
  std::set<std::string> refused_, slow_;             // keys
  std::vector<std::pair<double, Idea>> near_misses_; // of this base
  unsigned joined_ = 0;
};

} // namespace

Result<std::unique_ptr<Driver>> make_rules(timing::Machine machine, const RulesOptions& options) {
  std::vector<const Rule*> rules;
  for (const std::string& name : options.rules) {
    const Rule* rule = find_rule(name);
    if (rule == nullptr) return bad_input("there is no rule '{}'", printable(name));
    rules.push_back(rule);
  }
  if (rules.empty())
    for (const Rule& rule : all_rules()) rules.push_back(&rule);
  return std::make_unique<Rules>(std::move(machine), std::move(rules), options.kernel);
}

} // namespace asmevo::search
