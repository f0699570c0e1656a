#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "cli/codecs.h"
#include "codeobject/container.h"
#include "rebuild/roundtrip.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace asmevo::cli {

namespace {

struct RoundtripOptions {
  std::vector<std::string> paths;
  std::string route = "direct", target;
  unsigned threads = 0;
  bool verbose = false;
};

// One code object to take through the gate.
struct Task {
  std::string name;
  std::shared_ptr<codeobject::Container> container;
  const codeobject::ContainedObject* object = nullptr;
};

struct RoundTripOutcome {
  std::optional<Error> error;
  rebuild::RoundTrip direct, assembly;
  bool ran_direct = false, ran_assembly = false;
  bool identical() const {
    return !error && (!ran_direct || direct.identical) && (!ran_assembly || assembly.identical);
  }
};

// In a folder, files that hold no code objects are passed over; a file that is named must hold some.
Result<std::vector<Task>> collect(const RoundtripOptions& options, size_t& other_targets) {
  std::vector<Task> tasks;
  for (const std::string& path : options.paths) {
    ASMEVO_TRY(const auto files, list_files(path));
    const bool folder = std::filesystem::is_directory(path);
    for (const auto& file : files) {
      auto opened = codeobject::Container::open(file);
      if (!opened && folder && opened.error().kind == ErrorKind::Unsupported) continue;
      if (!opened && folder && file.extension() != ".co" && file.extension() != ".hsaco") continue;
      if (!opened) return failed(opened.error());
      const auto container = std::make_shared<codeobject::Container>(*std::move(opened));
      for (const codeobject::ContainedObject& object : container->objects()) {
        const auto target = isa::Target::from_id(object.target_id);
        const bool wanted = options.target.empty() || object.target_id == options.target ||
                            object.target_id.starts_with(options.target + ":");
        if (!target || !wanted)
          ++other_targets;
        else
          tasks.push_back({object.path_in_container.empty() ? file.string() : object.path_in_container,
                           container, &object});
      }
    }
  }
  return tasks;
}

Status run_routes(const Task& task, const RoundtripOptions& options, Codecs& codecs,
                  RoundTripOutcome& outcome) {
  ASMEVO_TRY(const isa::Target target, isa::Target::from_id(task.object->target_id));
  ASMEVO_TRY(isa::Codec * codec, codecs.get(target));
  ASMEVO_TRY(Bytes bytes, task.object->read());
  if (options.route != "assembly") {
    ASMEVO_TRY(outcome.direct, rebuild::roundtrip(bytes, rebuild::Route::Direct, *codec));
    outcome.ran_direct = true;
  }
  if (options.route != "direct") {
    ASMEVO_TRY(outcome.assembly, rebuild::roundtrip(std::move(bytes), rebuild::Route::Assembly, *codec));
    outcome.ran_assembly = true;
  }
  return {};
}

void print_route(std::string_view route, const rebuild::RoundTrip& r, bool verbose) {
  for (const rebuild::ObjectDifference& d : r.differences)
    fmt::print("  {} route: {}+{:#x} differs: {}\n", route, d.section, d.offset, d.detail);
  if (!verbose) return;
  for (const std::string& line : r.repairs) fmt::print("  {} route: {}\n", route, line);
  for (const rebuild::Mask& m : r.masks)
    fmt::print("  {} route: not compared: {} ({})\n", route, m.what, m.reason);
  for (const rebuild::RecoveryGap& g : r.gaps)
    fmt::print("  code cannot move: .text+{:#x}: {}\n", g.offset, g.reason);
}

void print_text(const std::vector<Task>& tasks, const std::vector<RoundTripOutcome>& outcomes, bool verbose) {
  for (size_t k = 0; k < tasks.size(); ++k) {
    const RoundTripOutcome& o = outcomes[k];
    if (o.identical() && !verbose) continue;
    fmt::print("{}: {}\n", tasks[k].name,
               o.error         ? o.error->message
               : o.identical() ? "identical"
                               : "DIFFERS");
    if (o.ran_direct) print_route("direct", o.direct, verbose);
    if (o.ran_assembly) print_route("assembly", o.assembly, verbose);
  }
}

nlohmann::ordered_json route_json(const rebuild::RoundTrip& r) {
  nlohmann::ordered_json json = {
      {"identical", r.identical}, {"instructions", r.instructions}, {"repaired", r.repaired}};
  json["repairs"] = r.repairs;
  json["masks"] = nlohmann::ordered_json::array();
  for (const rebuild::Mask& m : r.masks) json["masks"].push_back({{"what", m.what}, {"reason", m.reason}});
  json["differences"] = nlohmann::ordered_json::array();
  for (const rebuild::ObjectDifference& d : r.differences)
    json["differences"].push_back({{"section", d.section}, {"offset", d.offset}, {"detail", d.detail}});
  json["gaps"] = nlohmann::ordered_json::array();
  for (const rebuild::RecoveryGap& g : r.gaps)
    json["gaps"].push_back({{"offset", g.offset}, {"reason", g.reason}});
  return json;
}

nlohmann::ordered_json to_json(const std::vector<Task>& tasks,
                               const std::vector<RoundTripOutcome>& outcomes) {
  auto list = nlohmann::ordered_json::array();
  for (size_t k = 0; k < tasks.size(); ++k) {
    const RoundTripOutcome& o = outcomes[k];
    nlohmann::ordered_json json = {{"object", tasks[k].name}, {"identical", o.identical()}};
    if (o.error) json["error"] = o.error->message;
    if (o.ran_direct) json["direct"] = route_json(o.direct);
    if (o.ran_assembly) json["assembly"] = route_json(o.assembly);
    list.push_back(std::move(json));
  }
  return list;
}

Result<Answer> run(const RoundtripOptions& options, bool json) {
  if (options.route != "direct" && options.route != "assembly" && options.route != "both")
    return bad_input("--route must be direct, assembly or both, not '{}'", options.route);
  size_t other_targets = 0;
  ASMEVO_TRY(const std::vector<Task> tasks, collect(options, other_targets));
  if (tasks.empty())
    return bad_input("{}: no code object for gfx90a, gfx942 or gfx950{}", options.paths.front(),
                     options.target.empty() ? "" : " with target " + options.target);
  const unsigned threads = options.threads == 0 ? default_threads() : options.threads;
  std::vector<Codecs> codecs(threads);
  std::vector<RoundTripOutcome> outcomes(tasks.size());
  {
    Progress progress("round trip", tasks.size());
    parallel_for(tasks.size(), threads, [&](size_t k, unsigned worker) {
      if (auto status = run_routes(tasks[k], options, codecs[worker], outcomes[k]); !status)
        outcomes[k].error = status.error();
      progress.step();
    });
  }
  size_t identical = 0;
  for (const RoundTripOutcome& o : outcomes) identical += o.identical() ? 1 : 0;
  const size_t failed_count = tasks.size() - identical;
  if (json) {
    print_json({{"objects", to_json(tasks, outcomes)},
                {"identical", identical},
                {"failed", failed_count},
                {"other_targets", other_targets}});
  } else {
    print_text(tasks, outcomes, options.verbose);
    if (other_targets > 0) fmt::print("{} objects for other targets left out\n", other_targets);
    fmt::print("{} objects, {} identical, {} failed\n", tasks.size(), identical, failed_count);
  }
  return failed_count == 0 ? Answer::Yes : Answer::No;
}

} // namespace

void add_roundtrip(Context& context) {
  auto options = std::make_shared<RoundtripOptions>();
  Verb* verb =
      add_verb(context, "roundtrip", "recover code objects and build them again: are the bytes the same?",
               "asmevo roundtrip librocrand.so --target gfx90a");
  verb->add_option("paths", options->paths, "code objects, bundles, fat binaries, or folders of them")
      ->required();
  verb->add_option("--route", options->route,
                   "direct (in memory), assembly (through .s text and lld), or both")
      ->capture_default_str();
  verb->add_option("--target", options->target, "only objects of this target, e.g. gfx90a or gfx90a:xnack-");
  verb->add_option("-j,--threads", options->threads, "threads; 0 is one a core")->capture_default_str();
  verb->add_flag("--all", options->verbose, "list every object, with repairs and masks");
  verb->callback(
      [&context, options] { context.action = [&context, options] { return run(*options, context.json); }; });
}

} // namespace asmevo::cli
