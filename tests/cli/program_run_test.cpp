#include "base/files.h"
#include "cli/program_run.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asmevo::testing {

namespace fs = std::filesystem;

namespace {

void redirect(int stream, const fs::path& file, int flags) {
  const int fd = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0 || ::dup2(fd, stream) < 0) ::_exit(127);
}

} // namespace

std::string text_of(const fs::path& file) {
  const auto bytes = read_file(file);
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

Ran run_command(const std::vector<std::string>& command, const Streams& streams) {
  const TemporaryFolder folder;
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const fs::path out = streams.out.empty() ? folder / "out" : streams.out, err = folder / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(0, "/dev/null", O_RDONLY);
    if (streams.closed_out)
      ::close(1);
    else
      redirect(1, out, O_WRONLY | O_CREAT);
    redirect(2, err, O_WRONLY | O_CREAT);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Ran ran;
  ran.exit_code = child < 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (streams.out.empty() && !streams.closed_out) ran.out = text_of(out);
  ran.err = text_of(err);
  EXPECT_NE(ran.exit_code, 127) << "cannot start " << command[0];
  return ran;
}

Ran run_asmevo(std::vector<std::string> arguments, const Streams& streams) {
  arguments.insert(arguments.begin(), ASMEVO_BINARY_DIR "/asmevo");
  return run_command(arguments, streams);
}

fs::path sample(const std::string& name, const std::string& target) {
  return fs::path(ASMEVO_BINARY_DIR "/kernels") / (name + "." + target + ".co");
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "asmevo-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

// What the other tests of this folder rest on.
TEST(ProgramRun, KeepsOutputAndExitCode) {
  const Ran ran = run_command({"sh", "-c", "echo result; echo trouble >&2; exit 5"});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_EQ(ran.out, "result\n");
  EXPECT_EQ(ran.err, "trouble\n");
  EXPECT_EQ(run_command({"sh", "-c", "kill -SEGV $$"}).exit_code, 128 + 11);
}

} // namespace asmevo::testing
