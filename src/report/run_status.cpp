#include "report/run_status.h"

#include "report/outcome_meaning.h"

#include <algorithm>
#include <chrono>

namespace asmevo::report {

namespace {

using gate::Json;

constexpr size_t events_shown = 8;

RunState state_of(const std::string& written, bool in_use) {
  if (in_use) return written == "searching" ? RunState::Searching : RunState::SettingUp;
  if (written == "done") return RunState::Done;
  if (written == "interrupted") return RunState::Interrupted;
  if (written == "failed") return RunState::Failed;
  return RunState::Killed;
}

// Since something was written to the run last.
double seconds_since_write(const std::filesystem::path& folder) {
  std::error_code error;
  auto last = std::filesystem::last_write_time(folder / "run.sqlite", error);
  if (error) return 0;
  if (const auto wal = std::filesystem::last_write_time(folder / "run.sqlite-wal", error); !error)
    last = std::max(last, wal);
  const auto now = std::filesystem::file_time_type::clock::now();
  return std::max(0.0, std::chrono::duration<double>(now - last).count());
}

Json event_json(const run::Event& e) {
  return {{"at", e.at}, {"kind", e.kind}, {"text", e.text}};
}

std::string left_text(const RunStatus& s) {
  std::string text;
  if (s.budget.seconds)
    text += fmt::format("{} of {} left", duration_text(std::max(0.0, *s.budget.seconds - s.seconds)),
                        duration_text(*s.budget.seconds));
  if (s.budget.attempts)
    text +=
        fmt::format("{}{} of {} attempts left", text.empty() ? "" : ", ",
                    *s.budget.attempts - std::min(*s.budget.attempts, s.tally.attempts), *s.budget.attempts);
  return text;
}

} // namespace

std::string_view name(RunState state) {
  switch (state) {
  case RunState::SettingUp: return "setting up";
  case RunState::Searching: return "searching";
  case RunState::Done: return "done";
  case RunState::Interrupted: return "interrupted";
  case RunState::Failed: return "failed";
  case RunState::Killed: return "killed";
  }
  return "";
}

Result<RunStatus> RunStatus::read(const std::filesystem::path& folder) {
  if (run::RunFolder::being_made(folder)) {
    RunStatus s;
    s.folder = folder, s.state = RunState::SettingUp;
    return s;
  }
  ASMEVO_TRY(const auto run, run::RunFolder::open(folder, false));
  return read(*run);
}

Result<RunStatus> RunStatus::read(const run::RunFolder& run) {
  RunStatus s;
  s.folder = run.path();
  const auto read_all = [&]() -> Status {
    // Before what is written, so that a run which ends just now is not taken for a killed one.
    const bool in_use = run.in_use();
    ASMEVO_TRY(const auto state, run.get("state"));
    s.state = state_of(state && state->is_string() ? state->get<std::string>() : "", in_use);
    s.budget = search::OptimizationSettings::from_json(run.settings()).budget;
    ASMEVO_TRY(const auto setup, run.get("report"));
    if (setup) s.device = device_of(*setup);
    ASMEVO_TRY(s.tally, run.tally());
    ASMEVO_TRY(const std::vector<run::Node> nodes, run.nodes());
    const run::Node* best = nullptr;
    for (const run::Node& n : nodes) {
      s.commits += n.id != 0 ? 1 : 0;
      if (n.id == 0 || n.speedup <= s.speedup) continue;
      s.best = n.id, s.speedup = n.speedup;
      s.reason = n.rationale;
      best = &n;
    }
    s.best_file = report::best_file(run, best, s.state == RunState::Done);
    ASMEVO_TRY(s.events, run.events());
    return {};
  };
  try {
    if (const Status done = read_all(); !done) return failed(done.error(), run.path().string());
  } catch (const nlohmann::json::exception& e) {
    return bad_input("{}: run.sqlite: {}", run.path().string(), e.what());
  }
  s.seconds = s.tally.at;
  for (const run::Event& e : s.events) s.seconds = std::max(s.seconds, e.at);
  if (s.state == RunState::Searching) s.seconds += seconds_since_write(run.path());
  if (!s.events.empty() &&
      (s.state == RunState::Done || s.state == RunState::Interrupted || s.state == RunState::Failed))
    s.end = s.events.back().text;
  if (s.events.size() > events_shown)
    s.events.erase(s.events.begin(), s.events.end() - static_cast<std::ptrdiff_t>(events_shown));
  return s;
}

Json json_of(const RunStatus& s) {
  Json outcomes = Json::object(), events = Json::array();
  for (const gate::Outcome o : outcomes_in_order())
    if (const uint64_t n = s.tally.outcomes[static_cast<size_t>(o)]; n != 0)
      outcomes[std::string(gate::name(o))] = n;
  for (const run::Event& e : s.events) events.push_back(event_json(e));
  Json j = {{"run", s.folder.string()},
            {"state", name(s.state)},
            {"device", s.device.empty() ? Json(nullptr) : Json(s.device)},
            {"end", s.end.empty() ? Json(nullptr) : Json(s.end)},
            {"speedup", s.speedup},
            {"best_node", s.best},
            {"verified_from_disk", s.best_file.state == BestFile::Verified},
            {"best_file", s.best == 0 ? Json(nullptr) : Json(text_of(s.best_file.state))},
            {"reason", s.reason},
            {"commits", s.commits},
            {"attempts", s.tally.attempts},
            {"outcomes", outcomes},
            {"seconds", s.seconds},
            {"attempts_per_second", s.rate()},
            {"budget",
             {{"seconds", s.budget.seconds ? Json(*s.budget.seconds) : Json(nullptr)},
              {"attempts", s.budget.attempts ? Json(*s.budget.attempts) : Json(nullptr)}}}};
  j["seconds_left"] = s.budget.seconds ? Json(std::max(0.0, *s.budget.seconds - s.seconds)) : Json(nullptr);
  j["attempts_left"] = s.budget.attempts
                           ? Json(*s.budget.attempts - std::min(*s.budget.attempts, s.tally.attempts))
                           : Json(nullptr);
  j["events"] = events;
  return j;
}

std::string text_of(const RunStatus& s) {
  std::string text = fmt::format("{}: {}", printable(s.folder.string(), 300), name(s.state));
  if (!s.end.empty() && s.state != RunState::Interrupted) text += ": " + printable(s.end, 300);
  text += "\n";
  if (s.best != 0)
    text += fmt::format("  best      {:.3f}x, {}, {}, node {}: {}\n", s.speedup, printable(s.device),
                        text_of(s.best_file.state), s.best, printable(s.reason, 200));
  else
    text += fmt::format("  best      nothing beats K0 yet{}\n",
                        s.device.empty() ? "" : ", " + printable(s.device));
  text += fmt::format("  attempts  {} in {}; {:.1f}/s\n", outcomes_text(s.tally.attempts, s.tally.outcomes),
                      duration_text(s.seconds), s.rate());
  if (const std::string left = left_text(s); !left.empty()) text += fmt::format("  budget    {}\n", left);
  for (const run::Event& e : s.events)
    text += fmt::format("  {:>8}  {}{}{}\n", duration_text(e.at), printable(e.kind),
                        e.text.empty() ? "" : ": ", printable(e.text, 300));
  if (s.state == RunState::Interrupted || s.state == RunState::Killed)
    text += fmt::format("  'asmevo resume {}' goes on\n", printable(s.folder.string(), 300));
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string duration_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * minute) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<uint64_t>(std::min(seconds, 1e15));
  if (seconds < hour) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::string device_of(const Json& setup) {
  const auto model = setup.find("model");
  if (model == setup.end() || !model->is_string()) return "";
  return fmt::format("modelled ({})", model->get<std::string>());
}

std::string outcomes_text(uint64_t attempts, const std::array<uint64_t, gate::outcome_count>& outcomes) {
  std::string text = fmt::format("{} attempt{}", attempts, attempts == 1 ? "" : "s");
  std::string_view between = ": ";
  for (const gate::Outcome o : outcomes_in_order()) {
    const uint64_t n = outcomes[static_cast<size_t>(o)];
    if (n == 0) continue;
    text += fmt::format("{}{} {}", between, n, gate::name(o));
    between = ", ";
  }
  return text;
}

} // namespace asmevo::report
