#include "search/drivers/schedule.h"

#include "base/random.h"
#include "search/rules/straight_code.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace asmevo::search {

namespace {

using isa::IssueClass;
using program::Index;

constexpr double least_share = 0.01; // of the time, of a kernel worth editing
constexpr size_t least_steps = 4, most_stretches = 8;
constexpr size_t walks = 24, longest_walk = 24;     // of a proposal; exchanges of a walk
constexpr double rate = 0.3, surrogate_rate = 0.02; // of learning
constexpr double good_gain = 0.01;                  // of the modelled time: reward 1
constexpr double latency_share = 0.5; // of an L2 hit that other waves do not hide, for the scoreboard

// What the policy tells apart.
enum Kind : uint8_t { Load, Store, LdsRead, LdsWrite, Matrix, Transcendental, Vector, Scalar, kinds };

Kind kind_of(const isa::Instruction& i) {
  const bool lds = i.memory.kind == isa::MemoryKind::Lds || i.memory.kind == isa::MemoryKind::Gds;
  if (lds) return i.memory.returns ? LdsRead : LdsWrite;
  if (i.memory.kind != isa::MemoryKind::None) return i.memory.returns ? Load : Store;
  switch (i.issue) {
  case IssueClass::Mfma: return Matrix;
  case IssueClass::Transcendental: return Transcendental;
  case IssueClass::Valu: return Vector;
  default: return Scalar;
  }
}

struct Exchange {
  size_t at = 0; // with the next one
  Kind down, up; // what stood first, and what goes in front of it
};

// A stretch of a version, and the best order found.
struct Site {
  std::string kernel;
  Stretch stretch;
  double share = 0;
  std::vector<Step> best;
  double gain = 1; // of that, over the version
};

// A version with its analyses, which the stretches point into.
struct Version {
  std::vector<std::unique_ptr<const profile::KernelCode>> codes;
  std::vector<std::unique_ptr<RuleContext>> contexts;
  std::vector<std::unique_ptr<StraightCode>> straight;
  std::vector<Site> places;
  std::vector<size_t> context_of; // by place
};

class Schedule : public Driver {
 public:
  Schedule(timing::Machine machine, std::string kernel, uint64_t seed)
      : machine_(std::move(machine)), kernel_(std::move(kernel)), random_(seed) {}
  std::string_view name() const override { return "schedule"; }

  std::optional<Suggestion> propose(const Lineage& lineage, const Assignment& a) override {
    const Lineage::Version& base = lineage.at(a.base);
    if (!base.editable) return std::nullopt;
    if (a.direction && *a.direction != Direction::LatencyHiding &&
        *a.direction != Direction::DependencyReduction)
      return std::nullopt;
    Version& v = version(base);
    for (unsigned tries = 0; tries < 8; ++tries) {
      const auto n = choose(v, base, a);
      if (!n) return std::nullopt;
      if (auto s = try_place(v, *n, base)) return s;
    }
    return std::nullopt;
  }

  void learn(const Outcome& o) override {
    const auto found = proposed_.find(o.suggestion.edit.json());
    if (found == proposed_.end()) return;
    const Proposed p = std::move(found->second);
    proposed_.erase(found);
    if (o.evaluation.outcome == gate::Outcome::InfrastructureError || o.over_base <= 0) return;
    Site& place = versions_.at(o.suggestion.edit.base)->places[p.place];
    const double better = std::log(o.over_base / place.gain) / good_gain;
    reinforce(p.exchanges, std::clamp(better, -1.0, 1.0), rate);
    if (o.evaluation.passed() && o.over_base > place.gain) place.best = p.steps, place.gain = o.over_base;
  }

 private:
  struct Proposed {
    size_t place = 0;
    std::vector<Step> steps;
    std::vector<std::pair<Kind, Kind>> exchanges;
  };
  struct Walk {
    std::vector<Step> steps;
    std::vector<std::pair<Kind, Kind>> exchanges;
    double cycles = 0;
  };

  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

  Version& version(const Lineage::Version& base) {
    auto& found = versions_[base.node.id];
    if (found) return *found;
    found = std::make_unique<Version>();
    Version& v = *found;
    for (const gate::KernelTimes& k : base.profile.kernels) {
      if (k.share < least_share || (!kernel_.empty() && k.kernel != kernel_)) continue;
      auto code = profile::KernelCode::open(base.subject->original(), base.named, k.kernel, k.start);
      if (!code) continue;
      v.codes.push_back(*std::move(code));
      v.contexts.push_back(std::make_unique<RuleContext>(
          RuleContext{*v.codes.back(), base.subject->codec(), machine_, k.time, k.issues}));
      v.straight.push_back(StraightCode::of(*v.contexts.back()));
      if (v.straight.back() == nullptr) continue;
      for (Stretch& s : v.straight.back()->hottest(least_steps, most_stretches)) {
        Site p;
        p.kernel = k.kernel, p.share = k.share * v.contexts.back()->time_of(s.begin, s.end);
        p.best = s.steps, p.stretch = std::move(s);
        v.places.push_back(std::move(p));
        v.context_of.push_back(v.contexts.size() - 1);
      }
    }
    return v;
  }

  std::optional<size_t> choose(const Version& v, const Lineage::Version& base, const Assignment& a) {
    const auto weight = [&](const Site& p) {
      if (a.place) {
        const auto first = base.named.find(a.place->first), last = base.named.find(a.place->last);
        if (p.kernel != a.place->kernel || !first || !last || p.stretch.begin < *first ||
            p.stretch.end > *last + 1)
          return 0.0;
      }
      return p.share + 1e-6;
    };
    double all = 0;
    for (const Site& p : v.places) all += weight(p);
    if (all <= 0) return std::nullopt;
    double at = uniform() * all;
    for (size_t n = 0; n < v.places.size(); ++n)
      if ((at -= weight(v.places[n])) < 0) return n;
    return std::nullopt;
  }

  // --- the policy

  double& worth(Kind up, Kind down) { return worth_[up * kinds + down]; }

  // Neighbours that may change places.
  static std::vector<Exchange> allowed(const StraightCode& code, const Stretch& stretch,
                                       const std::vector<Step>& steps) {
    std::vector<bool> tied(steps.size());
    for (const program::Dependence& d : code.dependences(stretch, steps))
      if (d.to == d.from + 1) tied[d.from] = true;
    std::vector<Exchange> list;
    for (size_t n = 0; n + 1 < steps.size(); ++n)
      if (!tied[n]) list.push_back({n, kind_of(*steps[n].instruction), kind_of(*steps[n + 1].instruction)});
    return list;
  }

  Walk walk(const StraightCode& code, const Site& p) {
    Walk w;
    w.steps = p.best;
    const size_t length = 1 + random_.below(longest_walk);
    size_t last = p.best.size();
    for (size_t n = 0; n < length; ++n) {
      std::vector<Exchange> list = allowed(code, p.stretch, w.steps);
      std::erase_if(list, [&](const Exchange& e) { return e.at == last; }); // not back again
      if (list.empty()) break;
      double all = 0;
      for (const Exchange& e : list) all += std::exp(worth(e.up, e.down));
      double at = uniform() * all;
      const Exchange* chosen = &list.back();
      for (const Exchange& e : list)
        if ((at -= std::exp(worth(e.up, e.down))) < 0) {
          chosen = &e;
          break;
        }
      std::swap(w.steps[chosen->at], w.steps[chosen->at + 1]);
      w.exchanges.emplace_back(chosen->up, chosen->down);
      last = chosen->at;
    }
    return w;
  }

  void reinforce(const std::vector<std::pair<Kind, Kind>>& exchanges, double reward, double speed) {
    constexpr double most = 4; // no kind is ever quite sure
    for (const auto& [up, down] : exchanges) {
      double& x = worth(up, down);
      x = std::clamp(x + speed * reward / static_cast<double>(exchanges.size()), -most, most);
    }
  }

  std::optional<Suggestion> try_place(Version& v, size_t n, const Lineage::Version& base) {
    Site& p = v.places[n];
    StraightCode& code = *v.straight[v.context_of[n]];
    const RuleContext& context = *v.contexts[v.context_of[n]];
    const double latency = machine_[timing::Parameter::l2_latency] * latency_share;
    const double before = cycles_alone(context, code.write(p.stretch, p.best).instructions, latency);
    std::optional<Walk> best;
    for (size_t k = 0; k < walks; ++k) {
      Walk w = walk(code, p);
      if (w.exchanges.empty()) break;
      const StraightCode::Written written = code.write(p.stretch, w.steps);
      w.cycles = cycles_alone(context, written.instructions, latency);
      reinforce(w.exchanges, std::clamp((before / w.cycles - 1) / good_gain, -1.0, 1.0), surrogate_rate);
      const bool is_new = !tried_.contains(fmt::format("{} {} {}", base.node.id, n, written.text));
      if (is_new && (!best || w.cycles < best->cycles)) best = std::move(w);
    }
    if (!best) return std::nullopt;
    const StraightCode::Written written = code.write(p.stretch, best->steps);
    tried_.insert(fmt::format("{} {} {}", base.node.id, n, written.text));
    Suggestion s;
    s.rule = "schedule";
    s.edit.base = base.node.id, s.edit.kernel = p.kernel;
    s.edit.changes.push_back(replace(context, p.stretch.begin, p.stretch.end - 1, written.text));
    s.edit.direction = search::name(Direction::LatencyHiding);
    s.edit.rationale =
        fmt::format("{} to {}: {} exchanges of neighbours; {:.0f} cycles of a wave alone, not {:.0f}",
                    context.code.id(p.stretch.begin), context.code.id(p.stretch.end - 1),
                    best->exchanges.size(), best->cycles, before);
    proposed_[s.edit.json()] = {n, std::move(best->steps), std::move(best->exchanges)};
    return s;
  }

  timing::Machine machine_;
  std::string kernel_;
  RandomStream random_;
  std::array<double, size_t{kinds} * kinds> worth_{};
  std::map<uint32_t, std::unique_ptr<Version>> versions_; // by node
  std::map<std::string, Proposed> proposed_;              // until their outcome is known
  std::set<std::string> tried_;
};

} // namespace

std::unique_ptr<Driver> make_schedule(timing::Machine machine, std::string kernel, uint64_t seed) {
  return std::make_unique<Schedule>(std::move(machine), std::move(kernel), seed);
}

} // namespace asmevo::search
