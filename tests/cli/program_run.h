// Runs the built program as a user does and keeps what it said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace asmevo::testing {

struct Ran {
  int exit_code = -1; // 128 + signal where it was killed
  std::string out, err;
};

struct Streams {
  std::filesystem::path out; // where stdout goes instead of into Ran::out, if not empty
  bool closed_out = false;   // start with no stdout at all
};

/// Runs `command[0]` with its arguments, stdin empty. The test fails if it cannot be started.
Ran run_command(const std::vector<std::string>& command, const Streams& = {});

/// The built asmevo.
Ran run_asmevo(std::vector<std::string> arguments, const Streams& = {});

/// A sample kernel's code object (kernels/samples), as the build compiled it.
std::filesystem::path sample(const std::string& name, const std::string& target);

/// What is in a file; empty where it cannot be read.
std::string text_of(const std::filesystem::path& file);

/// An empty folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

} // namespace asmevo::testing
