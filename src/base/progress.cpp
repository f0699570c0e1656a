#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace asmevo {
using namespace std::chrono_literals;

namespace {
// Progress nobody can read is no error.
void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}
} // namespace

Progress::Progress(std::string what, uint64_t total)
    : what_(std::move(what)), total_(total), start_(std::chrono::steady_clock::now()), last_(start_),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_ && shown_) say("\r\x1b[K");
}

void Progress::step() {
  const uint64_t done = ++done_;
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  if (now - start_ < 1s || now - last_ < (terminal_ ? 100ms : 5000ms)) return;
  last_ = now;
  show(done);
}

void Progress::show(uint64_t done) {
  shown_ = true;
  if (!terminal_) {
    say(fmt::format("{}: {} of {}\n", what_, done, total_));
    return;
  }
  constexpr uint64_t width = 30;
  const uint64_t filled = total_ == 0 ? width : std::min(width, done * width / total_);
  say(fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {}/{}", what_, "", filled, "", width - filled, done, total_));
  std::fflush(stderr);
}

} // namespace asmevo
