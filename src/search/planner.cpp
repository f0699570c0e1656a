#include "search/planner.h"

#include "search/start_points.h"
#include "timing/stall.h"

#include <algorithm>
#include <cmath>

namespace asmevo::search {

namespace {

using timing::Stall;

constexpr double guess_weight = 2;   // a guess counts as much as so many tries
constexpr double curiosity = 0.25;   // of UCB1's second term
constexpr double hopeless_tries = 4; // without anything won
constexpr size_t windows_of_kernel = 3;

// What share of what waves wait for, and of what they do, each direction can do something about.
double chance(Direction d, const gate::Json& stalled, double total) {
  const auto share = [&](std::initializer_list<Stall> reasons) {
    double sum = 0;
    for (const Stall s : reasons) sum += stalled.value(std::string(timing::name(s)), 0.0);
    return total > 0 ? std::min(sum / total, 1.0) : 0;
  };
  using enum Stall;
  switch (d) {
  case Direction::LatencyHiding:
    return share({Waitcnt, BarrierWait, NoInstructionAvailable, InternalInstruction, OtherWait});
  case Direction::DependencyReduction: return share({AluDependency}) + 0.1;
  case Direction::RegisterPressure: return 0.3 * share({Waitcnt, AluDependency});
  case Direction::MemoryAccess: return 0.7 * share({Waitcnt, ArbiterWinExStall});
  case Direction::InstructionSimplification: return share({ArbiterNotWin, ArbiterWinExStall}) + 0.1;
  }
  return 0;
}

double sum_of(const gate::Json& numbers) {
  double sum = 0;
  for (const auto& [key, value] : numbers.items()) sum += value.get<double>();
  return sum;
}

} // namespace

std::string_view name(Mode mode) {
  return mode == Mode::Single ? "single" : "team";
}

std::optional<Mode> mode_named(std::string_view text) {
  for (const Mode m : {Mode::Single, Mode::Team})
    if (name(m) == text) return m;
  return std::nullopt;
}

std::vector<Planner::Arm>& Planner::arms_of(const Lineage::Version& version) {
  const auto [found, is_new] = arms_.try_emplace(version.node.id);
  std::vector<Arm>& arms = found->second;
  if (!is_new) return arms;
  arms.push_back({.direction = {}, .place = {}, .guess = 1});
  if (mode_ == Mode::Single) return arms;
  for (const Direction d : all_directions) {
    double everywhere = 0;
    for (const gate::KernelTimes& k : version.profile.kernels) {
      const gate::Json& summary = k.report.at("summary").at("wave_cycles");
      const gate::Json& stalled = summary.at("stalled");
      const double total = sum_of(stalled) + summary.value("busy", 0.0);
      everywhere += k.share * chance(d, stalled, total);
      size_t windows = 0;
      for (const gate::Json& w : k.report.at("windows")) {
        if (windows++ == windows_of_kernel) break;
        const auto first = program::InstrId::parse(w.at("first").get<std::string>());
        const auto last = program::InstrId::parse(w.at("last").get<std::string>());
        if (!first || !last) continue;
        const double there = w.value("share_of_time", 0.0);
        arms.push_back({.direction = d,
                        .place = Place{k.kernel, *first, *last},
                        .guess = k.share * there * chance(d, w.at("stalled"), sum_of(w.at("stalled")))});
      }
    }
    arms.push_back({.direction = d, .place = {}, .guess = everywhere});
  }
  return arms;
}

double Planner::worth(const Arm& a, double all_tries) const {
  const double mean = (a.guess * guess_weight + a.reward) / (guess_weight + a.tries);
  return mean + curiosity * std::sqrt(std::log(1 + all_tries) / (1 + a.tries));
}

std::optional<Assignment> Planner::next(const Lineage& lineage) {
  Arm* best = nullptr;
  uint32_t base = 0;
  double most = 0;
  size_t rank = 0;
  for (const uint32_t id : start_points(lineage, start_points_)) {
    std::vector<Arm>& arms = arms_of(lineage.at(id));
    double tries = 0;
    for (const Arm& a : arms) tries += a.tries;
    for (Arm& a : arms) {
      if (a.exhausted || a.out) continue;
      const double w = worth(a, tries) / static_cast<double>(1 + rank); // slower versions have to earn it
      if (best == nullptr || w > most) best = &a, base = id, most = w;
    }
    ++rank;
  }
  if (best == nullptr) return std::nullopt;
  ++best->tries;
  return Assignment{base, best->direction, best->place, note_};
}

Planner::Arm* Planner::find(const Assignment& a) {
  const auto found = arms_.find(a.base);
  if (found == arms_.end()) return nullptr;
  const auto arm = std::ranges::find_if(
      found->second, [&](const Arm& x) { return x.direction == a.direction && x.place == a.place; });
  return arm == found->second.end() ? nullptr : &*arm;
}

void Planner::exhausted(const Assignment& a) {
  if (Arm* arm = find(a)) arm->exhausted = true, --arm->tries;
}

void Planner::learn(const Assignment& a, const Outcome& o) {
  Arm* arm = find(a);
  if (o.node)
    for (auto& [id, arms] : arms_)
      for (Arm& x : arms) x.out = false;
  if (arm == nullptr) return;
  if (o.evaluation.outcome == gate::Outcome::InfrastructureError)
    --arm->tries; // says nothing
  else
    arm->reward += reward_of(o);
}

std::vector<std::string> Planner::redirect() {
  std::vector<std::string> given_up;
  for (auto& [id, arms] : arms_)
    for (Arm& a : arms) {
      if (a.tries >= hopeless_tries && a.reward == 0 && a.direction && !a.exhausted && !a.out) {
        a.out = true;
        given_up.push_back(fmt::format(
            "{}{} on node {}", name(*a.direction),
            a.place ? fmt::format(" in {} to {}", a.place->first.text(), a.place->last.text()) : "", id));
      }
      a.tries = 0, a.reward = 0;
    }
  return given_up;
}

} // namespace asmevo::search
