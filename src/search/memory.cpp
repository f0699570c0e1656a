#include "search/memory.h"

#include "base/json_text.h"

#include <algorithm>
#include <cmath>

namespace asmevo::search {

namespace {

using gate::Json;

constexpr double prior_attempts = 8, prior_worth = 0.1; // of a rule that nothing is known of
constexpr double verified_worth = 0.05;                 // of a proposal that was right but not fast enough
constexpr double good_gain = 0.02;                      // a commit that wins so much counts once more

bool says_something(gate::Outcome o) {
  return o != gate::Outcome::InfrastructureError && o != gate::Outcome::Duplicate &&
         o != gate::Outcome::Passed;
}

bool is_verified(gate::Outcome o) {
  return o == gate::Outcome::Committed || o == gate::Outcome::InsufficientSpeedup;
}

template <class Key>
void drop_least(std::map<Key, uint64_t>& counts, size_t limit) {
  while (counts.size() > limit)
    counts.erase(std::ranges::min_element(counts, {}, [](const auto& c) { return c.second; }));
}

} // namespace

Result<Memory> Memory::parse(std::string_view text) {
  const auto j = json_from<Json>(text);
  if (!j || !j->is_object()) return bad_input("not a JSON object");
  if (j->value("version", Json()) != Json(1)) return bad_input("version: this program reads version 1");
  Memory m;
  const char* key = "yields";
  try {
    for (const Json& y : j->at(key)) {
      Yield& yield = m.yields_[{y.at("rule").get<std::string>(), y.at("pattern").get<std::string>()}];
      yield.attempts = y.at("attempts").get<uint64_t>(), yield.verified = y.at("verified").get<uint64_t>();
      yield.commits = y.at("commits").get<uint64_t>(), yield.log_gain = y.at("log_gain").get<double>();
      if (yield.verified > yield.attempts || yield.commits > yield.verified || !std::isfinite(yield.log_gain))
        return bad_input("yields: more committed than verified, or more verified than tried");
    }
    key = "failures";
    for (const Json& f : j->at(key))
      m.failures_[{f.at("rule").get<std::string>(), f.at("why").get<std::string>()}] =
          f.at("count").get<uint64_t>();
    key = "insights";
    for (const Json& i : j->at(key))
      m.note({i.at("pattern").get<std::string>(), i.at("text").get<std::string>()});
  } catch (const nlohmann::json::exception&) {
    return bad_input("{}: not as asmevo writes it", key);
  }
  m.bound();
  return m;
}

Json Memory::json() const {
  Json yields = Json::array(), failures = Json::array(), insights = Json::array();
  for (const auto& [key, y] : yields_)
    yields.push_back({{"rule", key.first},
                      {"pattern", key.second},
                      {"attempts", y.attempts},
                      {"verified", y.verified},
                      {"commits", y.commits},
                      {"log_gain", y.log_gain}});
  for (const auto& [key, count] : failures_)
    failures.push_back({{"rule", key.first}, {"why", key.second}, {"count", count}});
  for (const Insight& i : insights_) insights.push_back({{"pattern", i.pattern}, {"text", i.text}});
  return {{"version", 1}, {"yields", yields}, {"failures", failures}, {"insights", insights}};
}

void Memory::learn(const run::Attempt& a, std::string_view pattern) {
  if (!says_something(a.outcome)) return;
  Yield& y = yields_[{a.rule, std::string(pattern)}];
  ++y.attempts;
  y.verified += is_verified(a.outcome);
  if (a.outcome == gate::Outcome::Committed) ++y.commits, y.log_gain += std::log(std::max(a.over_best, 1.0));
  if (!is_verified(a.outcome)) ++failures_[{a.rule, std::string(gate::name(a.outcome))}];
  bound();
}

void Memory::note(Insight insight) {
  if (insight.text.size() > longest_text) insight.text.resize(longest_text);
  std::erase(insights_, insight);
  insights_.push_back(std::move(insight));
  if (insights_.size() > most_insights) insights_.erase(insights_.begin());
}

void Memory::add(const Memory& other) {
  for (const auto& [key, y] : other.yields_) {
    Yield& own = yields_[key];
    own.attempts += y.attempts, own.verified += y.verified, own.commits += y.commits;
    own.log_gain += y.log_gain;
  }
  for (const auto& [key, count] : other.failures_) failures_[key] += count;
  for (const Insight& i : other.insights_) note(i);
  bound();
}

// What was tried least is worth least.
void Memory::bound() {
  while (yields_.size() > most_yields)
    yields_.erase(std::ranges::min_element(yields_, {}, [](const auto& y) { return y.second.attempts; }));
  drop_least(failures_, most_failures);
}

double Memory::factor(std::string_view rule, std::string_view pattern) const {
  const auto found = yields_.find({std::string(rule), std::string(pattern)});
  if (found == yields_.end()) return 1;
  const Yield& y = found->second;
  const double won = static_cast<double>(y.commits) + y.log_gain / std::log(1 + good_gain) +
                     static_cast<double>(y.verified - y.commits) * verified_worth;
  const double worth =
      (won + prior_worth * prior_attempts) / (static_cast<double>(y.attempts) + prior_attempts);
  return std::clamp(worth / prior_worth, 0.25, 4.0);
}

std::vector<std::string> Memory::digest(std::string_view pattern, size_t most) const {
  std::vector<std::pair<const std::string*, const Yield*>> yields;
  for (const auto& [key, y] : yields_)
    if (key.second == pattern) yields.emplace_back(&key.first, &y);
  std::ranges::stable_sort(yields, std::greater{}, [](const auto& y) { return y.second->log_gain; });
  std::vector<std::string> lines;
  for (const auto& [rule, y] : yields) {
    if (lines.size() == most / 2) break;
    lines.push_back(fmt::format("{}: {} tried, {} verified, {} committed, {:.3f}x in all", printable(*rule),
                                y->attempts, y->verified, y->commits, std::exp(y->log_gain)));
  }
  for (auto i = insights_.rbegin(); i != insights_.rend() && lines.size() < most; ++i)
    if (i->pattern == pattern || i->pattern.empty()) lines.push_back(printable(i->text));
  return lines;
}

std::string pattern_of(const Json& node_profile) {
  const Json& kernels = node_profile.at("kernels"); // the longest first
  if (kernels.empty()) return "";
  return kernels[0].at("report").at("summary").at("limiter").value("bound", "");
}

} // namespace asmevo::search
