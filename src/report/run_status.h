// How a run stands, from its folder, whoever works on it at the moment: nothing is written, and nothing that
// its process does is held up.
#pragma once

#include "report/best_file.h"
#include "search/optimization.h"

namespace asmevo::report {

enum class RunState : uint8_t {
  SettingUp,
  Searching,
  Done,
  Interrupted, // in good order, by somebody
  Failed,      // ended with an error
  Killed,      // nobody works on it, and it did not come to an end
};
/// "setting up", "searching", "done", "interrupted", "failed", "killed".
std::string_view name(RunState);

struct RunStatus {
  std::filesystem::path folder;
  RunState state = RunState::Killed;
  std::string device; // "modelled (mi308x)"; empty while setting up
  std::string end;    // why it ended: "the budget is used up"; empty: it has not
  double seconds = 0; // of the search so far
  search::Budget budget;
  run::Tally tally;
  uint32_t commits = 0;
  uint32_t best = 0;  // node; 0: K0
  double speedup = 1; // of it, over K0
  std::string reason; // for it
  BestFileState best_file;
  std::vector<run::Event> events; // the last ones

  /// Attempts a second; 0 where there are none yet.
  double rate() const { return seconds > 0 ? static_cast<double>(tally.attempts) / seconds : 0; }

  static Result<RunStatus> read(const std::filesystem::path& folder);
  static Result<RunStatus> read(const run::RunFolder&);
};

gate::Json json_of(const RunStatus&);
std::string text_of(const RunStatus&);

/// "12.30 us", "1.200 ms"
std::string time_text(double seconds);
/// "90 s", "3:05 min", "2:10 h"
std::string duration_text(double seconds);
/// "modelled (mi308x)"
std::string device_of(const gate::Json& setup);
/// "57 attempts: 3 committed, 20 insufficient_speedup, 34 divergent"
std::string outcomes_text(uint64_t attempts, const std::array<uint64_t, gate::outcome_count>& outcomes);

} // namespace asmevo::report
