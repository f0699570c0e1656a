// The processes that judge candidates, as the controller has them (worker_process.h is their side). A worker
// that dies, or takes longer than anything honest does, costs the one evaluation it was at: that ends as
// infrastructure_error or hang, and another worker takes its place.
#pragma once

#include "gate/channel.h"
#include "gate/node_profile.h"

#include <atomic>
#include <mutex>
#include <sys/types.h>

namespace asmevo::gate {

struct WorkerPoolOptions {
  unsigned workers = 0;                           // 0: one a core
  std::filesystem::path program;                  // that has the verb `worker`; empty: this one
  double most_seconds = 600;                      // of one request
  uint64_t most_memory = uint64_t{8} << 30;       // bytes beyond what the Setup needs, of a worker
  const std::atomic<bool>* interrupted = nullptr; // set: whatever is going on is given up
  std::function<void(std::string_view what, size_t done, size_t of)> progress;
};

class WorkerPool {
 public:
  /// Returns when the Setup is done. Errors are the Setup's; Environment where it cannot be started, or was
  /// interrupted.
  static Result<std::unique_ptr<WorkerPool>> start(const SetupRequest&, WorkerPoolOptions);
  ~WorkerPool();

  unsigned size() const { return static_cast<unsigned>(workers_.size()); }
  /// Setup::report().
  const Json& report() const { return report_; }
  bool interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }

  // Each on one worker, [0, size()), for one caller at a time. What is interrupted ends as
  // infrastructure_error with the text "interrupted".
  Evaluation build(unsigned worker, const Proposed&);
  Evaluation accept(unsigned worker, const Bytes& object);
  void judge(unsigned worker, Evaluation&, std::span<const double> best);
  void hold_against(unsigned worker, Evaluation&);
  /// structural_seconds().
  Result<std::vector<double>> structural(unsigned worker, const Bytes& object);
  Result<NodeProfile> profile(unsigned worker, const Bytes& object, const Chain& chain);

  /// For tests: of a worker that has been asked something; 0: none.
  pid_t process(unsigned worker) const { return workers_[worker].pid; }

 private:
  struct Worker {
    Channel channel;
    pid_t pid = 0;
  };
  struct Lost {
    Outcome outcome;
    std::string text;
  };
  WorkerPool(SetupRequest request, WorkerPoolOptions options)
      : request_(std::move(request)), options_(std::move(options)) {}
  Status start_server();
  Status start_worker(Worker&);
  std::expected<Json, Lost> ask(unsigned worker, const Json& request);
  Evaluation ask_for_evaluation(unsigned worker, const Json& request, Evaluation before);
  void abandon(Worker&);

  SetupRequest request_;
  WorkerPoolOptions options_;
  Channel server_;
  pid_t server_pid_ = 0;
  std::mutex mutex_; // of the server
  std::vector<Worker> workers_;
  Json report_;
};

} // namespace asmevo::gate
