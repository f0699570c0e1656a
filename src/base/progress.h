// Progress of long work on stderr: a bar that redraws on a terminal, a plain line every few seconds
// elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace asmevo {

class Progress {
 public:
  /// `what` names the work ("round trip"), `total` counts its steps. Nothing is shown in the first second.
  Progress(std::string what, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// One more step is done. Any thread may call it.
  void step();

 private:
  void show(uint64_t done);

  std::string what_;
  uint64_t total_;
  std::atomic<uint64_t> done_{0};
  std::chrono::steady_clock::time_point start_, last_;
  bool terminal_, shown_ = false;
  std::mutex mutex_;
};

} // namespace asmevo
