// What the sanitizer found, for people and as JSON.
#pragma once

#include "cli/cli.h"
#include "sanitizer/sanitizer.h"

#include <memory>
#include <string>
#include <vector>

namespace asmevo::cli {

nlohmann::ordered_json defect_as_json(const sanitizer::Defect&);

/// The sanitizer over the launches of a run, one after another.
class LaunchSanitizer {
 public:
  explicit LaunchSanitizer(const isa::Target& target) : target_(target) {}
  /// A launch begins; only these workgroups of it are run, all where there are none.
  void start(const std::string& kernel, std::vector<uint64_t> workgroups);
  emulator::Observer* observer(size_t slot) { return session_->observers()(slot); }
  /// After the last launch.
  Status finish();

  /// No defect but possible ones.
  bool clean() const;
  void print() const;
  nlohmann::ordered_json as_json() const;

 private:
  struct Found {
    std::string kernel;
    sanitizer::Defect defect;
  };
  Status take();

  isa::Target target_;
  std::unique_ptr<sanitizer::Session> session_;
  std::string kernel_;
  std::vector<Found> found_;
  Status status_;
};

} // namespace asmevo::cli
