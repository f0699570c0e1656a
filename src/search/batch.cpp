#include "search/batch.h"

#include "base/file_lock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "search/command_line.h"
#include "search/inferred_launch.h"

#include <algorithm>
#include <chrono>

namespace asmevo::search {

namespace {

namespace fs = std::filesystem;
using gate::Json;

constexpr int batch_version = 1;

fs::path file_in(const fs::path& runs) {
  return runs / "batch.json";
}

fs::path lock_in(const fs::path& runs) {
  return runs / "lock";
}

Json json_of(const BatchKernel& k) {
  const BatchInput& i = k.input;
  Json j = {{"name", k.name},
            {"file", i.file},
            {"target", i.target},
            {"kernel", i.kernel},
            {"object_hash", i.object_hash},
            {"launch", i.launch},
            {"launch_hash", i.launch_hash},
            {"same_as", k.same_as},
            {"finished", k.finished},
            {"budget", json_of(k.given)}};
  if (k.failure) j["failure"] = {{"exit_code", k.failure->exit_code}, {"reason", k.failure->reason}};
  return j;
}

BatchKernel kernel_from(const Json& j) {
  BatchKernel k;
  k.name = j.at("name");
  if (k.name.empty() || k.name.starts_with('.') || k.name.contains('/')) // a folder beside others
    throw std::runtime_error("a kernel's name is no name of a folder: " + printable(k.name));
  k.same_as = j.at("same_as"), k.finished = j.at("finished");
  k.input.file = j.at("file"), k.input.target = j.at("target"), k.input.kernel = j.at("kernel");
  k.input.object_hash = j.at("object_hash");
  k.input.launch = j.at("launch"), k.input.launch_hash = j.at("launch_hash");
  k.given = budget_from(j.at("budget"));
  if (const auto f = j.find("failure"); f != j.end())
    k.failure = BatchFailure{f->at("exit_code").get<int>(), f->at("reason").get<std::string>()};
  return k;
}

// Whether the second would let a run go further than the first.
bool is_more(const Budget& now, const Budget& then) {
  const auto more = [](const auto& a, const auto& b) { return b && (!a || *a > *b); };
  return (more(now.attempts, then.attempts) && !more(then.seconds, now.seconds)) ||
         (more(now.seconds, then.seconds) && !more(then.attempts, now.attempts));
}

// What all runs of a batch have in common.
Json common(const Batch& b) {
  Json j = b.settings.json();
  for (const char* of_one : {"attempts", "seconds", "command", "object", "made_by"}) j.erase(of_one);
  j["folder"] = b.folder.string();
  j["selection"] = {b.selection.target, b.selection.kernel, b.selection.only};
  return j;
}

class Work {
  using Clock = std::chrono::steady_clock;

 public:
  Work(const fs::path& runs, Batch batch, const BatchHooks& hooks)
      : runs_(runs), batch_(std::move(batch)), hooks_(hooks) {}

  Result<Batch> run() {
    ASMEVO_TRY(std::vector<BatchInput> inputs, find_batch_inputs(batch_.folder, batch_.selection));
    ASMEVO_CHECK(make_folder(runs_));
    ASMEVO_TRY(const FileLock lock, FileLock::take(lock_in(runs_), runs_.string(), "batch"));
    ASMEVO_CHECK(go_on_from_before());
    take_in(std::move(inputs));
    ASMEVO_CHECK(write());
    const auto own = static_cast<size_t>(
        std::ranges::count_if(batch_.kernels, [](const BatchKernel& k) { return k.same_as.empty(); }));
    size_t number = 0;
    for (BatchKernel& k : batch_.kernels) {
      if (!k.same_as.empty()) continue;
      ++number;
      if (is_over(k)) continue;
      if (interrupted()) break;
      ASMEVO_CHECK(work_on(k, number, own));
    }
    ASMEVO_CHECK(write());
    return std::move(batch_);
  }

 private:
  bool interrupted() const { return hooks_.interrupted != nullptr && *hooks_.interrupted; }

  Status go_on_from_before() {
    if (!Batch::is_there(runs_)) return {};
    ASMEVO_TRY(Batch before, Batch::read(runs_));
    const Json then = common(before), now = common(batch_);
    if (then != now) {
      const Json difference = Json::diff(then, now);
      return bad_input("{}: is a batch with another {}; its command: {}", runs_.string(),
                       difference.at(0).at("path").get<std::string>().substr(1), before.command);
    }
    batch_.kernels = std::move(before.kernels);
    return {};
  }

  // Each input is one that was there before, the same as another, or new. What failed and is not there any
  // more (another launch file, another object) is forgotten; what has a result stays.
  void take_in(std::vector<BatchInput> inputs) {
    std::vector<BatchKernel> before = std::move(batch_.kernels);
    batch_.kernels.clear();
    for (BatchInput& input : inputs) {
      const auto known = std::ranges::find_if(before, [&](const BatchKernel& k) {
        return k.input.file == input.file && k.input.target == input.target &&
               k.input.kernel == input.kernel && k.input.object_hash == input.object_hash &&
               k.input.launch_hash == input.launch_hash;
      });
      BatchKernel kernel;
      if (known != before.end()) {
        kernel = std::move(*known);
        before.erase(known);
      }
      kernel.input = std::move(input);
      batch_.kernels.push_back(std::move(kernel));
    }
    for (BatchKernel& k : before)
      if (!k.failure && k.same_as.empty() && k.finished) batch_.kernels.push_back(std::move(k));
    name_all();
    find_duplicates();
  }

  // Names that are there stay; new ones that are taken get the hash of what the kernel is.
  void name_all() {
    for (BatchKernel& k : batch_.kernels) {
      if (!k.name.empty()) continue;
      const std::string name = k.input.name();
      const std::string what = k.input.file + "\n" + k.input.target + "\n" + k.input.kernel + "\n" +
                               k.input.object_hash + k.input.launch_hash;
      k.name = is_taken(name) ? name + "-" + content_hash(as_bytes(what)).substr(0, 8) : name;
    }
  }

  bool is_taken(const std::string& name) const {
    std::error_code error;
    return std::ranges::any_of(batch_.kernels, [&](const BatchKernel& k) { return k.name == name; }) ||
           fs::exists(runs_ / name, error);
  }

  // The one with a launch file of its own stands for the others, else the first.
  void find_duplicates() {
    std::vector<BatchKernel>& all = batch_.kernels;
    for (BatchKernel& k : all)
      if (!has_run(k)) k.same_as.clear();
    const auto stands_for = [&](const BatchKernel& one, const BatchKernel& other) {
      if (!one.same_as.empty() || !one.input.same_as(other.input)) return false;
      if (has_run(one) != has_run(other)) return has_run(one);
      if (one.input.launch.empty() != other.input.launch.empty()) return !one.input.launch.empty();
      return &one < &other;
    };
    for (BatchKernel& k : all) {
      if (has_run(k)) continue;
      const auto other =
          std::ranges::find_if(all, [&](const BatchKernel& one) { return &one != &k && stands_for(one, k); });
      if (other != all.end()) k.same_as = other->name;
    }
  }

  bool has_run(const BatchKernel& k) const {
    std::error_code error;
    return fs::exists(runs_ / k.name / "run.sqlite", error);
  }

  // What the machine lacked may be there now; what was wrong with the kernel is still.
  bool is_over(const BatchKernel& k) const {
    if (k.failure) return k.failure->exit_code == 2;
    return k.finished && has_run(k) && !is_more(batch_.settings.budget, k.given);
  }

  Status work_on(BatchKernel& k, size_t number, size_t of) {
    OptimizationHooks hooks;
    if (hooks_.begin) hooks = hooks_.begin(k, number, of);
    hooks.interrupted = hooks_.interrupted;
    k.failure.reset(), k.finished = false;
    const auto result = optimize_one(k, hooks);
    if (result && result->end != End::Interrupted) {
      k.finished = true;
      const bool ended = result->end == End::Converged || result->end == End::Stalled;
      k.given = ended ? Budget() : batch_.settings.budget;
    } else if (!result && !interrupted()) {
      k.failure = BatchFailure{result.error().exit_code(), one_line(result.error()).message};
    }
    // Of thousands of files that are refused at once, not each: after a kill those of a second are refused
    // anew.
    if (k.finished || Clock::now() - written_ > std::chrono::seconds(1)) ASMEVO_CHECK(write());
    if (hooks_.end) hooks_.end(batch_, k);
    return {};
  }

  Status write() {
    written_ = Clock::now();
    return batch_.write(runs_);
  }

  Result<OptimizationResult> optimize_one(const BatchKernel& k, const OptimizationHooks& hooks) {
    if (k.input.broken) return failed(*k.input.broken);
    if (has_run(k) && run::RunFolder::open(runs_ / k.name, false))
      return resume(runs_ / k.name, batch_.settings.budget, hooks);
    ASMEVO_TRY(const Bytes k0, read_input(batch_.folder, k.input));
    OptimizationSettings settings = batch_.settings;
    settings.setup.kernel = k.input.kernel;
    ASMEVO_TRY(settings.setup.launch, launch_of(k, k0));
    settings.object = fs::path(k.input.file).filename().string();
    settings.command = command_line(settings, {.file = (batch_.folder / k.input.file).string(),
                                               .launch = settings.setup.launch.string(),
                                               .capture = "",
                                               .target = k.input.of_several ? k.input.target : ""});
    return optimize(runs_ / k.name, settings, k0, hooks);
  }

  Result<fs::path> launch_of(const BatchKernel& k, const Bytes& k0) const {
    if (!k.input.launch.empty()) return batch_.folder / k.input.launch;
    infer::InferOptions how;
    how.kernel = k.input.kernel;
    how.workgroup = k.input.workgroup;
    how.dynamic_lds = k.input.dynamic_lds;
    ASMEVO_TRY(const std::string text, inferred_launch(k0, how, (batch_.folder / k.input.file).string()));
    const fs::path file = fs::absolute(runs_ / (k.name + ".launch.toml"));
    ASMEVO_CHECK(write_file(file, text));
    return file;
  }

  const fs::path runs_;
  Batch batch_;
  const BatchHooks& hooks_;
  Clock::time_point written_; // batch.json
};

} // namespace

Json Batch::json() const {
  Json list = Json::array();
  for (const BatchKernel& k : kernels) list.push_back(json_of(k));
  return {{"version", batch_version},    {"folder", folder.string()},
          {"command", command},          {"target", selection.target},
          {"kernel", selection.kernel},  {"only", selection.only},
          {"settings", settings.json()}, {"kernels", list}};
}

Batch Batch::from_json(const Json& j) {
  Batch b;
  b.folder = j.at("folder").get<std::string>(), b.command = j.at("command");
  b.selection = {j.at("target"), j.at("kernel"), j.at("only").get<std::vector<std::string>>()};
  b.settings = OptimizationSettings::from_json(j.at("settings"));
  for (const Json& k : j.at("kernels")) b.kernels.push_back(kernel_from(k));
  return b;
}

bool Batch::is_there(const fs::path& runs) {
  std::error_code error;
  return fs::is_regular_file(file_in(runs), error);
}

Result<Batch> Batch::read(const fs::path& runs) {
  ASMEVO_TRY(const Bytes text, read_file(file_in(runs)));
  const Json j = json_from<Json>(as_text(text)).value_or(Json());
  try {
    if (!j.is_object() || j.value("version", 0) != batch_version)
      return bad_input("{}: no batch of this version of asmevo", file_in(runs).string());
    return from_json(j);
  } catch (const std::exception& e) {
    return bad_input("{}: {}", file_in(runs).string(), e.what());
  }
}

Status Batch::write(const fs::path& runs) const {
  return write_file(file_in(runs), json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool batch_in_use(const fs::path& runs) {
  return is_locked(lock_in(runs));
}

Result<Batch> optimize_batch(const fs::path& runs, Batch batch, const BatchHooks& hooks) {
  std::error_code error;
  if (!Batch::is_there(runs) && fs::exists(runs, error) && !fs::is_empty(runs, error) &&
      !fs::exists(lock_in(runs), error))
    return bad_input("{}: is there already and is no batch", runs.string());
  if (fs::exists(runs / "run.sqlite", error))
    return bad_input("{}: is the run of one kernel, not of a folder", runs.string());
  return Work(runs, std::move(batch), hooks).run();
}

} // namespace asmevo::search
