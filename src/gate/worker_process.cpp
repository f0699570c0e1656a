#include "gate/worker_process.h"

#include "gate/node_profile.h"
#include "gate/worker_messages.h"

#include <csignal>
#include <fstream>
#include <mutex>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace asmevo::gate {

namespace {

Json build_edit(const Setup& setup, const Json& request) {
  Proposed p;
  p.chain = chain_in(request.at("chain"));
  p.node = request.at("node");
  auto edit = program::Edit::parse(request.at("edit").get<std::string>());
  if (!edit) {
    Evaluation e;
    e.refuse(Outcome::AsmInvalid, edit.error().message);
    return message_of(e);
  }
  p.edit = *std::move(edit);
  return message_of(build(setup, p));
}

Json profile_object(const Setup& setup, const Json& request) {
  const Json& steps = request.at("chain");
  const Chain chain = steps.is_null() ? Chain() : chain_in(steps);
  const auto node = profile_node(setup, request.at("bytes").get_binary(), chain);
  if (!node) return {{"error", node.error().message}};
  return node->json();
}

Json answer(const Setup& setup, const Json& request) {
  const std::string what = request.at("do");
  if (what == "build") return build_edit(setup, request);
  if (what == "accept") return message_of(accept_object(setup, request.at("bytes").get_binary()));
  if (what == "profile") return profile_object(setup, request);
  if (what == "structural") {
    const auto seconds = structural_seconds(setup, request.at("bytes").get_binary());
    if (!seconds) return {{"error", seconds.error().message}};
    return {{"seconds", *seconds}};
  }
  Evaluation e = evaluation_in(request.at("evaluation"));
  if (what == "judge")
    judge(setup, e, request.at("best").get<std::vector<double>>());
  else
    hold_against(setup, e);
  e.object.clear();
  return message_of(e);
}

// Data beyond what the process has now. Address space is no measure: the emulator reserves much of it.
void limit_memory(uint64_t more) {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  statm >> total >> resident >> shared >> text >> library >> data;
  const rlim_t limit = data * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + more;
  const rlimit both{limit, limit};
  ::setrlimit(RLIMIT_DATA, &both);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none); // a candidate that crashes LLVM is nothing to keep
}

int work(const Setup& setup, Channel channel) {
  for (;;) {
    auto request = channel.receive();
    if (!request) return 0; // nobody is there any more
    Json reply;
    try {
      reply = answer(setup, **request);
    } catch (const std::bad_alloc&) {
      reply = {{"error", "out of memory"}};
    } catch (const std::exception& e) {
      reply = {{"error", e.what()}};
    }
    if (!channel.send(reply)) return 0;
  }
}

class Server {
 public:
  explicit Server(Channel channel) : channel_(std::move(channel)) {}

  int run() {
    auto request = channel_.receive();
    if (!request) return 0;
    most_memory_ = (*request)->at("most_memory");
    auto setup = Setup::make(SetupRequest::from_json((*request)->at("setup")),
                             [this](std::string_view what, size_t done, size_t of) { tell(what, done, of); });
    if (!setup) {
      (void)channel_.send({{"error", setup.error().message}, {"kind", static_cast<int>(setup.error().kind)}});
      return 0;
    }
    if (!channel_.send({{"report", (*setup)->report()}})) return 0;
    ::signal(SIGCHLD, SIG_IGN); // nobody asks how workers ended
    for (;;) {
      request = channel_.receive();
      if (!request) return 0;
      if (!start_worker(**setup)) return 3;
    }
  }

 private:
  void tell(std::string_view what, size_t done, size_t of) {
    const std::lock_guard lock(mutex_);
    if (!channel_.send({{"what", what}, {"done", done}, {"of", of}})) ::_exit(0); // nobody waits for it
  }

  // False: there is nobody to tell.
  bool start_worker(const Setup& setup) {
    auto ends = Channel::pair();
    if (!ends) return channel_.send({{"pid", -1}}).has_value();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::signal(SIGCHLD, SIG_DFL);
      channel_.close();
      ends->first.close();
      limit_memory(most_memory_);
      ::_exit(work(setup, std::move(ends->second))); // what is shared with others is not taken down
    }
    ends->second.close();
    if (!channel_.send({{"pid", pid}})) return false;
    return pid <= 0 || channel_.send_descriptor(ends->first.descriptor()).has_value();
  }

  Channel channel_;
  std::mutex mutex_;
  uint64_t most_memory_ = 0;
};

} // namespace

int serve_workers(Channel channel) {
  ::signal(SIGINT, SIG_IGN); // from the terminal, meant for the controller
  return Server(std::move(channel)).run();
}

} // namespace asmevo::gate
