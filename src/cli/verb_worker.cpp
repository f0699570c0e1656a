// `asmevo worker`: what optimize starts to judge candidates in (gate/worker_process.h). Not for people.
#include "cli/cli.h"
#include "gate/worker_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace asmevo::cli {

namespace {

Result<Answer> serve() {
  struct stat info{};
  if (::fstat(STDIN_FILENO, &info) != 0 || !S_ISSOCK(info.st_mode))
    return bad_input("worker: is started by asmevo itself");
  const int channel = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  if (channel < 0) return environment_error("worker: no descriptor");
  return gate::serve_workers(gate::Channel(channel)) == 0 ? Answer::Yes : Answer::No;
}

} // namespace

void add_worker(Context& context) {
  Verb* verb = context.program.add_subcommand("worker", "");
  verb->hide();
  verb->callback([&context] { context.action = serve; });
}

} // namespace asmevo::cli
