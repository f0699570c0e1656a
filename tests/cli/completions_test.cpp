// The completion scripts, tried in the shells they are for.
#include "cli/program_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace asmevo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A shell in a folder with two files, "kernel.co" and the completion script, "script".
std::string in_shell(const std::string& shell, const std::string& commands) {
  const TemporaryFolder folder;
  const std::string home = folder.path().string();
  const Ran ran =
      run_command({"env", "HOME=" + home, shell, "-c",
                   "cd '" + home + "' && touch kernel.co && '" ASMEVO_BINARY_DIR "/asmevo' completions " +
                       shell + " > script && " + commands});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, IsEmpty());
  return ran.out;
}

std::string bash(const std::string& words) {
  return in_shell("bash", ". ./script && COMP_WORDS=(" + words +
                              ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _asmevo && "
                              "echo \"${COMPREPLY[@]}\"");
}

std::string fish(const std::string& line) {
  return in_shell("fish", ". ./script && complete -C '" + line + "'");
}

TEST(Completions, Bash) {
  EXPECT_EQ(bash("asmevo ins"), "inspect\n");
  EXPECT_EQ(bash("asmevo --verb"), "--verbose\n");
  EXPECT_EQ(bash("asmevo inspect --js"), "--json\n");
  EXPECT_EQ(bash("asmevo inspect ker"), "kernel.co\n");
  EXPECT_EQ(bash("asmevo extract kernel.co --output ker"), "kernel.co\n");
  EXPECT_EQ(bash("asmevo completions ''"), "bash zsh fish\n");
}

TEST(Completions, Fish) {
  EXPECT_THAT(fish("asmevo ins"), HasSubstr("inspect\t"));
  EXPECT_THAT(fish("asmevo inspect --js"), HasSubstr("--json\t"));
  EXPECT_EQ(fish("asmevo inspect ker"), "kernel.co\n");
  EXPECT_EQ(fish("asmevo completions "), "bash\nfish\nzsh\n");
}

// An interactive zsh, fed the keys: what completion leaves on the line is run, by a function named asmevo.
TEST(Completions, Zsh) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  const bool usable = terminal >= 0 && ::grantpt(terminal) == 0 && ::access(::ptsname(terminal), F_OK) == 0;
  if (terminal >= 0) ::close(terminal);
  if (!usable) GTEST_SKIP() << "skipped: there are no pseudo-terminals (/dev/pts)";
  const std::string out = in_shell("zsh", R"(cat > drive <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -U compinit && compinit -u -D && . ./script"
zpty -w shell "asmevo() { print -r -- \"\$@\" > line }"
zpty -w shell "touch ready"
for ((i = 0; i < 200; i++)); do [ -e ready ] && break; sleep 0.1; done
zpty -n -w shell $'asmevo ins\t--js\tker\t\n'
for ((i = 0; i < 200; i++)); do [ -s line ] && break; sleep 0.1; done
cat line
END
zsh -f drive)");
  EXPECT_EQ(out, "inspect --json kernel.co\n");
}

} // namespace
} // namespace asmevo::testing
