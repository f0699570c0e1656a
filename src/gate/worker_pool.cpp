#include "gate/worker_pool.h"

#include "base/parallel.h"
#include "gate/worker_messages.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace asmevo::gate {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* was_interrupted = "interrupted";

std::filesystem::path this_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

// The program, with the channel as its standard input.
Result<pid_t> spawn(const std::filesystem::path& program, int channel) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO); // stdout is for results
  std::string name = program.string(), verb = "worker";
  std::array<char*, 3> arguments = {name.data(), verb.data(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return environment_error("{} cannot be started: {}", name, std::strerror(failed));
  return pid;
}

} // namespace

Result<std::unique_ptr<WorkerPool>> WorkerPool::start(const SetupRequest& request,
                                                      WorkerPoolOptions options) {
  if (options.program.empty()) options.program = this_program();
  if (options.workers == 0) options.workers = default_threads();
  const unsigned workers = options.workers;
  std::unique_ptr<WorkerPool> pool(new WorkerPool(request, std::move(options)));
  ASMEVO_CHECK(pool->start_server());
  pool->workers_.resize(workers);
  return pool;
}

WorkerPool::~WorkerPool() {
  for (Worker& w : workers_) abandon(w);
  server_.close();
  if (server_pid_ <= 0) return;
  ::kill(server_pid_, SIGKILL); // it may be in the middle of a Setup
  ::waitpid(server_pid_, nullptr, 0);
}

Status WorkerPool::start_server() {
  ASMEVO_TRY(auto ends, Channel::pair());
  ASMEVO_TRY(server_pid_, spawn(options_.program, ends.second.descriptor()));
  ends.second.close();
  server_ = std::move(ends.first);
  ASMEVO_CHECK(server_.send({{"setup", request_.json()}, {"most_memory", options_.most_memory}}));
  for (;;) {
    auto message = server_.receive([this] { return interrupted(); });
    if (!message) return environment_error("the process that prepares K0 ended: {}", message.error().message);
    if (!*message) return environment_error("{}", was_interrupted);
    const Json& m = **message;
    if (m.contains("error"))
      return std::unexpected(Error{static_cast<ErrorKind>(m.at("kind").get<int>()), m.at("error")});
    if (m.contains("report")) {
      report_ = m.at("report");
      return {};
    }
    if (options_.progress) options_.progress(m.at("what").get<std::string>(), m.at("done"), m.at("of"));
  }
}

Status WorkerPool::start_worker(Worker& worker) {
  const std::lock_guard lock(mutex_);
  for (const bool last : {false, true}) {
    auto started = [&]() -> Status {
      ASMEVO_CHECK(server_.send({{"do", "start"}}));
      ASMEVO_TRY(const auto reply, server_.receive([this] { return interrupted(); }));
      if (!reply) return environment_error("{}", was_interrupted);
      worker.pid = reply->at("pid");
      if (worker.pid <= 0) return environment_error("no further process can be started");
      ASMEVO_TRY(const int descriptor, server_.receive_descriptor());
      worker.channel = Channel(descriptor);
      return {};
    }();
    if (started || last || interrupted()) return started;
    // The server itself is gone, and all workers with it.
    server_.close();
    ::kill(server_pid_, SIGKILL);
    ::waitpid(server_pid_, nullptr, 0);
    server_pid_ = 0;
    ASMEVO_CHECK(start_server());
  }
  return {};
}

void WorkerPool::abandon(Worker& worker) {
  if (worker.channel.open() && worker.pid > 0) ::kill(worker.pid, SIGKILL);
  worker.channel.close();
  worker.pid = 0;
}

std::expected<Json, WorkerPool::Lost> WorkerPool::ask(unsigned number, const Json& request) {
  Worker& worker = workers_[number];
  if (!worker.channel.open())
    if (const Status started = start_worker(worker); !started)
      return std::unexpected(Lost{Outcome::InfrastructureError, started.error().message});
  const auto end = Clock::now() + std::chrono::duration<double>(options_.most_seconds);
  const auto lost = [&](Outcome outcome, std::string text) {
    abandon(worker);
    return std::unexpected(Lost{outcome, std::move(text)});
  };
  if (const Status sent = worker.channel.send(request); !sent) {
    // It was killed while nobody looked: no candidate's fault, and nothing is lost.
    abandon(worker);
    if (const Status started = start_worker(worker); !started)
      return lost(Outcome::InfrastructureError, started.error().message);
    if (const Status again = worker.channel.send(request); !again)
      return lost(Outcome::InfrastructureError, again.error().message);
  }
  const auto reply = worker.channel.receive([&] { return interrupted() || Clock::now() > end; });
  if (!reply) return lost(Outcome::InfrastructureError, "the process that judged it ended");
  if (!*reply && interrupted()) return lost(Outcome::InfrastructureError, was_interrupted);
  if (!*reply) return lost(Outcome::Hang, fmt::format("not done after {} s", options_.most_seconds));
  if ((*reply)->contains("error"))
    return lost(Outcome::InfrastructureError, (*reply)->at("error").get<std::string>());
  return **std::move(reply);
}

Evaluation WorkerPool::ask_for_evaluation(unsigned worker, const Json& request, Evaluation before) {
  const auto reply = ask(worker, request);
  if (!reply) {
    before.refuse(reply.error().outcome, reply.error().text);
    return before;
  }
  Evaluation e = evaluation_in(*reply);
  if (e.object.empty()) e.object = std::move(before.object);
  return e;
}

Evaluation WorkerPool::build(unsigned worker, const Proposed& p) {
  return ask_for_evaluation(
      worker, {{"do", "build"}, {"chain", message_of(p.chain)}, {"edit", p.edit.json()}, {"node", p.node}},
      {});
}

Evaluation WorkerPool::accept(unsigned worker, const Bytes& object) {
  return ask_for_evaluation(worker, {{"do", "accept"}, {"bytes", Json::binary(object)}}, {});
}

void WorkerPool::judge(unsigned worker, Evaluation& e, std::span<const double> best) {
  const std::vector<double> times(best.begin(), best.end());
  e = ask_for_evaluation(worker, {{"do", "judge"}, {"evaluation", message_of(e)}, {"best", times}}, e);
}

void WorkerPool::hold_against(unsigned worker, Evaluation& e) {
  e = ask_for_evaluation(worker, {{"do", "hold"}, {"evaluation", message_of(e)}}, e);
}

Result<std::vector<double>> WorkerPool::structural(unsigned worker, const Bytes& object) {
  const auto reply = ask(worker, {{"do", "structural"}, {"bytes", Json::binary(object)}});
  if (!reply) return environment_error("structural ensemble: {}", reply.error().text);
  return reply->at("seconds").get<std::vector<double>>();
}

Result<NodeProfile> WorkerPool::profile(unsigned worker, const Bytes& object, const Chain& chain) {
  const Json steps = chain ? message_of(*chain) : Json(nullptr);
  const auto reply = ask(worker, {{"do", "profile"}, {"bytes", Json::binary(object)}, {"chain", steps}});
  if (!reply) return environment_error("profile: {}", reply.error().text);
  return NodeProfile::from_json(*reply);
}

} // namespace asmevo::gate
