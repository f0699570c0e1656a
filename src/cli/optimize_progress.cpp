#include "cli/optimize_progress.h"

#include "report/run_status.h"

#include <fmt/format.h>

#include <csignal>
#include <unistd.h>

namespace asmevo::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> interrupted = false;

void on_signal(int signal) {
  if (interrupted.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

std::string left(const search::Budget& budget, const search::Standing& s) {
  std::string text;
  if (budget.seconds) {
    const auto seconds = static_cast<unsigned>(std::max(0.0, *budget.seconds - s.seconds));
    text = fmt::format(", {}:{:02} left", seconds / 60, seconds % 60);
  }
  if (budget.attempts && s.attempts < *budget.attempts)
    text += fmt::format(", {} attempts left", *budget.attempts - s.attempts);
  return text;
}

} // namespace

const std::atomic<bool>& interruption() {
  static const bool set = [] {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    return true;
  }();
  (void)set;
  return interrupted;
}

OptimizeProgress::OptimizeProgress(std::string name, search::Budget budget)
    : name_(std::move(name)), budget_(budget), terminal_(::isatty(STDERR_FILENO) != 0) {}

OptimizeProgress::~OptimizeProgress() {
  if (terminal_ && shown_) fmt::print(stderr, "\n");
}

void OptimizeProgress::show(const std::string& line, bool now) {
  const std::lock_guard lock(mutex_);
  constexpr Clock::duration redraw = std::chrono::milliseconds(100), repeat = std::chrono::seconds(10);
  const auto time = Clock::now();
  if (!now && time - last_ < (terminal_ ? redraw : repeat)) return;
  last_ = time;
  shown_ = true;
  if (terminal_)
    fmt::print(stderr, "\r\x1b[K{}: {}", name_, line);
  else
    fmt::print(stderr, "{}: {}\n", name_, line);
}

void OptimizeProgress::setting_up(std::string_view what, size_t done, size_t of) {
  show(fmt::format("{}, {} of {}", what, done, of), false);
}

void OptimizeProgress::set_up(const gate::Json& setup) {
  show(fmt::format("{} cases and {} held back; {} on a modelled {}", setup.at("cases").get<size_t>(),
                   setup.at("held_back").get<size_t>(),
                   report::time_text(setup.at("k0_seconds").at(0).get<double>()),
                   setup.at("model").get<std::string>()),
       true);
}

void OptimizeProgress::standing(const search::Standing& s) {
  const double rate = s.seconds > 0 ? static_cast<double>(s.attempts) / s.seconds : 0;
  const bool committed = s.nodes > nodes_;
  nodes_ = s.nodes;
  constexpr size_t longest_reason = 300;
  if (committed && !s.last.empty() && !terminal_)
    show("committed " + printable(s.last, longest_reason), true);
  show(fmt::format("best {:.3f}x, {}; {:.1f}/s{}", s.best, report::outcomes_text(s.attempts, s.outcomes),
                   rate, left(budget_, s)),
       committed);
}

} // namespace asmevo::cli
