#include "search/drivers/rules.h"

#include "base/hash.h"
#include "search/enabled.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace asmevo::search {

namespace {

constexpr double least_share = 0.01; // of the time, of a kernel worth editing

// A place, or several, with what is known of it.
struct Idea {
  std::string kernel, rule, direction;
  Proposal proposal;
  double promise = 0; // of the time of all launches
  std::string key;    // of what it changes
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
  Rules(timing::Machine machine, const Memory& memory, std::vector<const Rule*> rules, std::string kernel)
      : machine_(std::move(machine)), memory_(memory), rules_(std::move(rules)), kernel_(std::move(kernel)) {}
  std::string_view name() const override { return "rules"; }

  std::optional<Suggestion> propose(const Lineage& lineage, const Assignment& assignment) override {
    const Lineage::Version& base = lineage.at(assignment.base);
    // What a slower version lacks the best one has, and what else there is to do there is tried there.
    if (!base.editable || base.node.id != lineage.best().node.id) return std::nullopt;
    std::deque<Idea>& queue = agenda(lineage, base);
    const auto found = std::ranges::find_if(queue, [&](const Idea& i) {
      return is_wanted(i, assignment, base.named) && !refused_.contains(i.key);
    });
    if (found == queue.end()) return std::nullopt;
    Suggestion s = suggest(*found, assignment.base);
    queue.erase(found);
    return s;
  }

  void learn(const Outcome& o) override {
    if (o.node || o.evaluation.outcome == gate::Outcome::InfrastructureError) return;
    const std::string key = key_of(o.suggestion.edit.kernel, o.suggestion.edit.changes);
    (o.evaluation.passed() ? slow_ : refused_).insert(key);
  }

 private:
  // --- what there is to try on a version

  std::deque<Idea>& agenda(const Lineage& lineage, const Lineage::Version& version) {
    const auto [found, is_new] = agendas_.try_emplace(version.node.id);
    if (is_new) look_at(lineage, version, found->second);
    return found->second;
  }

  static bool is_wanted(const Idea& idea, const Assignment& a, const program::Program& program) {
    if (a.direction && idea.direction != search::name(*a.direction)) return false;
    if (!a.place) return true;
    const auto first = program.find(a.place->first), last = program.find(a.place->last);
    return idea.kernel == a.place->kernel && first && last &&
           std::ranges::all_of(idea.proposal.changes, [&](const program::Change& c) {
             const auto range = range_of(program, c);
             return *first <= range.first && range.first <= *last;
           });
  }

  void look_at(const Lineage& lineage, const Lineage::Version& version, std::deque<Idea>& queue) {
    std::vector<Idea> ideas;
    for (const gate::KernelTimes& k : version.profile.kernels)
      if (k.share >= least_share && (kernel_.empty() || k.kernel == kernel_))
        find(lineage, version, k, ideas);
    const std::string pattern = pattern_of(version.node.profile);
    for (Idea& i : ideas) i.promise *= memory_.factor(i.rule, pattern);
    std::ranges::stable_sort(ideas, std::greater{}, &Idea::promise);
    std::set<std::string> pending;
    std::deque<Idea> later;
    const auto enqueue = [&](Idea idea) {
      idea.key = key_of(idea.kernel, idea.proposal.changes);
      if (!refused_.contains(idea.key) && pending.insert(idea.key).second)
        (slow_.contains(idea.key) ? later : queue).push_back(std::move(idea));
    };
    for (Idea& idea : together(version, ideas)) enqueue(std::move(idea));
    for (Idea& idea : ideas) enqueue(std::move(idea));
    std::ranges::move(later, std::back_inserter(queue));
  }

  void find(const Lineage& lineage, const Lineage::Version& version, const gate::KernelTimes& k,
            std::vector<Idea>& ideas) {
    const auto code =
        profile::KernelCode::open(version.subject->original(), version.named, k.kernel, k.start);
    if (!code) return;
    const RuleContext context{**code, version.subject->codec(), machine_, k.time, k.issues};
    const auto add = [&](const Rule& rule, Proposal p) {
      const double promise = p.promise * k.share;
      ideas.push_back(
          {k.kernel, std::string(rule.name), std::string(rule.direction), std::move(p), promise, {}});
    };
    for (const Rule* rule : rules_)
      for (Proposal& p : rule->propose(context)) {
        if (!rule->enables) {
          add(*rule, std::move(p));
          continue;
        }
        for (Proposal& on_top : enabled_proposals(lineage, version, k, context, p))
          add(*rule, std::move(on_top));
      }
  }

  // All places of a kernel at once, those that keep every bit next; and those of each direction and rule.
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
    for (const Direction d : all_directions)
      join([&](const Idea& i) { return i.direction == search::name(d); }, "everything of this direction");
    for (const Rule* rule : rules_) join([&](const Idea& i) { return i.rule == rule->name; }, "every place");
    return list;
  }

  // None where fewer than two can be joined.
  static std::optional<Idea> joint(const program::Program& program, const std::vector<const Idea*>& some,
                                   const std::string& what) {
    std::vector<std::pair<program::Index, program::Index>> taken;
    Idea all;
    size_t count = 0, text = 0;
    std::set<std::string> rules, directions;
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
      rules.insert(idea->rule), directions.insert(idea->direction);
      ++count;
    }
    if (count < 2) return std::nullopt;
    all.rule = rules.size() == 1 ? *rules.begin() : "several";
    if (directions.size() > 1) all.direction = "several";
    all.proposal.rationale = fmt::format("{}, {} of them ({})", what, count, fmt::join(rules, ", "));
    return all;
  }

  static Suggestion suggest(const Idea& idea, uint32_t base) {
    Suggestion s;
    s.rule = idea.rule;
    s.edit.base = base;
    s.edit.kernel = idea.kernel;
    s.edit.changes = idea.proposal.changes;
    s.edit.resources = idea.proposal.resources;
    s.edit.rationale = idea.proposal.rationale;
    s.edit.direction = idea.direction;
    return s;
  }

  timing::Machine machine_;
  const Memory& memory_;
  std::vector<const Rule*> rules_;
  std::string kernel_;
  std::map<uint32_t, std::deque<Idea>> agendas_; // by version: what is left to try on it
  std::set<std::string> refused_, slow_;         // keys
};

} // namespace

Result<std::unique_ptr<Driver>> make_rules(timing::Machine machine, const Memory& memory,
                                           const RulesOptions& options) {
  std::vector<const Rule*> rules;
  for (const std::string& name : options.rules) {
    const Rule* rule = find_rule(name);
    if (rule == nullptr) return bad_input("there is no rule '{}'", printable(name));
    rules.push_back(rule);
  }
  if (rules.empty())
    for (const Rule& rule : all_rules()) rules.push_back(&rule);
  return std::make_unique<Rules>(std::move(machine), memory, std::move(rules), options.kernel);
}

} // namespace asmevo::search
