#include "search/optimization.h"

#include "base/files.h"
#include "base/hash.h"
#include "search/drivers/mixed.h"
#include "search/drivers/replay.h"
#include "search/drivers/rules.h"
#include "search/drivers/schedule.h"
#include "search/drivers/stochastic.h"
#include "search/user_memory.h"

namespace asmevo::search {

namespace {

using gate::Json;

Json optional(const auto& value) {
  return value ? Json(*value) : Json(nullptr);
}

Result<std::unique_ptr<Driver>> make_driver(const OptimizationSettings& s, const Memory& memory,
                                            const isa::Target& target) {
  if (s.driver == "replay") return make_replay(s.proposals);
  ASMEVO_TRY(const timing::MachineModel model, timing::MachineModel::for_target(s.setup.model, target));
  const std::string& kernel = s.setup.kernel;
  const uint64_t seed = s.setup.seed;
  if (s.driver == "stochastic") return make_stochastic(kernel, seed);
  if (s.driver == "schedule") return make_schedule(model.nominal(), kernel, seed);
  if (s.driver != "rules" && s.driver != "mixed")
    return bad_input("there is no driver '{}': mixed, rules, schedule, stochastic, replay",
                     printable(s.driver));
  ASMEVO_TRY(auto by_rules, make_rules(model.nominal(), memory, {kernel, s.rules}));
  if (s.driver == "rules") return by_rules;
  // Not the stochastic one: it leaves out what no case shows, such as the carry into the upper half of an
  // index. Whoever wants that asks for it.
  std::vector<std::unique_ptr<Driver>> all;
  all.push_back(std::move(by_rules));
  all.push_back(make_schedule(model.nominal(), kernel, seed));
  return make_mixed(std::move(all));
}

class Optimization {
 public:
  Optimization(run::RunFolder& folder, OptimizationSettings settings, const OptimizationHooks& hooks)
      : folder_(folder), settings_(std::move(settings)), hooks_(hooks) {}

  Result<OptimizationResult> run() {
    ASMEVO_CHECK(folder_.set("state", "setting up"));
    ASMEVO_TRY(settings_.setup.k0, read_file(folder_.path() / "k0.co"));
    ASMEVO_CHECK(find_launch());
    ASMEVO_TRY(const auto k0, oracle::Subject::open(settings_.setup.k0));
    ASMEVO_TRY(Memory memory, recall());
    ASMEVO_TRY(const auto driver, make_driver(settings_, memory, k0->object().target()));
    ASMEVO_CHECK(start_pool());
    const bool replays = settings_.driver == "replay";
    Controller controller(folder_, *pool_, *driver, memory,
                          {.budget = settings_.budget,
                           .width = static_cast<size_t>(settings_.width),
                           .commit = settings_.commit,
                           .mode = replays ? Mode::Single : settings_.mode,
                           .steer = !replays,
                           .patience = static_cast<unsigned>(settings_.patience)});
    ASMEVO_CHECK(folder_.set("state", "searching"));
    ASMEVO_TRY(result_.end, controller.run(k0, hooks_.watch));
    result_.standing = controller.standing();
    if (result_.end != End::Interrupted) ASMEVO_CHECK(verify_best(controller.lineage()));
    ASMEVO_CHECK(finish());
    return std::move(result_);
  }

 private:
  // The file that was given, as long as it is what it was; then the copy.
  Status find_launch() {
    if (settings_.setup.launch.empty()) return {};
    const std::filesystem::path copy = folder_.path() / "launch.toml";
    ASMEVO_TRY(const Bytes kept, read_file(copy));
    const auto given = read_file(settings_.setup.launch);
    if (!given || content_hash(*given) != content_hash(kept)) settings_.setup.launch = copy;
    return {};
  }

  // What the run began with, however often it is resumed.
  Result<Memory> recall() {
    const std::filesystem::path copy = folder_.path() / "memory.json";
    std::error_code error;
    if (std::filesystem::exists(copy, error)) return read_user_memory(copy);
    ASMEVO_TRY(Memory memory, read_user_memory(settings_.memory));
    ASMEVO_CHECK(write_file(copy, memory.json().dump(1) + "\n"));
    return memory;
  }

  // Adds to the user's what was learnt since it was added to last.
  Status remember() {
    if (settings_.memory.empty() || !settings_.remembers) return {};
    ASMEVO_TRY(const std::vector<run::Attempt> attempts, folder_.attempts());
    ASMEVO_TRY(const std::vector<run::Node> nodes, folder_.nodes());
    ASMEVO_TRY(const std::optional<Json> known, folder_.get("remembered"));
    const auto before = known ? known->get<size_t>() : 0;
    Memory learnt;
    for (size_t n = before; n < attempts.size(); ++n)
      learnt.learn(attempts[n],
                   pattern_of(nodes[std::min<size_t>(attempts[n].base, nodes.size() - 1)].profile));
    ASMEVO_CHECK(folder_.set("remembered", attempts.size()));
    return add_to_user_memory(settings_.memory, learnt);
  }

  Status start_pool() {
    gate::WorkerPoolOptions options;
    options.workers = hooks_.workers;
    options.program = hooks_.program;
    options.interrupted = hooks_.interrupted;
    options.progress = hooks_.setting_up;
    options.most_seconds = hooks_.most_seconds;
    ASMEVO_TRY(pool_, gate::WorkerPool::start(settings_.setup, std::move(options)));
    result_.setup = pool_->report();
    if (hooks_.set_up) hooks_.set_up(result_.setup);
    return folder_.set("report", result_.setup);
  }

  // From the bytes on disk and from the beginning: nothing that the search remembers is believed.
  Status verify_best(const Lineage& lineage) {
    const Lineage::Version& best = lineage.best();
    if (best.node.id == 0) return {};
    const std::filesystem::path file =
        folder_.path() / "nodes" / std::to_string(best.node.id) / "candidate.co";
    ASMEVO_TRY(const Bytes object, read_file(file));
    gate::Evaluation e = pool_->accept(0, object);
    if (e.passed()) pool_->judge(0, e, {});
    const gate::Comparison c = gate::compare_times(lineage.k0_seconds(), lineage.k0_seconds(), e.seconds);
    if (e.passed()) pool_->hold_against(0, e);
    if (pool_->interrupted()) return {};
    if (!e.passed() || c.speedup <= 1 || e.object_hash != best.node.object_hash) {
      const std::string text =
          e.passed()
              ? fmt::format("node {} from disk: {}", best.node.id,
                            e.object_hash != best.node.object_hash ? "another object than was committed"
                                                                   : "not faster than K0")
              : fmt::format("node {} from disk: {} {}", best.node.id, name(e.outcome), e.text);
      result_.notes.push_back(text);
      return folder_.record(run::Event{result_.standing.seconds, "not_confirmed", text});
    }
    ASMEVO_TRY(const std::vector<double> k0_structural, pool_->structural(0, settings_.setup.k0));
    ASMEVO_TRY(const std::vector<double> structural, pool_->structural(0, object));
    result_.structural = gate::compare_times(k0_structural, k0_structural, structural);
    ASMEVO_CHECK(write_best(object, best_json(best.node, e, c)));
    result_.best = best.node;
    return {};
  }

  // Where best.json is, best.co is what it speaks of, also where this is interrupted.
  Status write_best(const Bytes& object, const Json& about) const {
    const std::filesystem::path co = folder_.path() / "best.co", json = folder_.path() / "best.json";
    std::error_code ignored;
    std::filesystem::remove(json, ignored);
    ASMEVO_CHECK(write_file(co, object));
    Status written = write_file(json, about.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    if (!written) std::filesystem::remove(co, ignored); // nobody would know what it is
    return written;
  }

  // A whole object is not assembled.
  static Json gates_of(const run::Node& node) {
    Json gates = {"abi", "static", "equivalence", "timing", "held_back"};
    if (!node.edit.empty()) gates.insert(gates.begin(), "asm");
    return gates;
  }

  Json best_json(const run::Node& node, const gate::Evaluation& e, const gate::Comparison& c) const {
    const Json& setup = result_.setup;
    return {{"version", 1},
            {"object", "best.co"},
            {"object_hash", e.object_hash},
            {"k0_hash", content_hash(settings_.setup.k0)},
            {"node", node.id},
            {"device", fmt::format("modelled ({})", setup.at("model").get<std::string>())},
            {"speedup", c.speedup},
            {"speedup_low", c.low},
            {"speedup_high", c.high},
            {"speedup_structural", result_.structural.speedup},
            {"speedup_structural_low", result_.structural.low},
            {"seconds", node.seconds},
            {"k0_seconds", setup.at("k0_seconds")},
            {"gates", gates_of(node)},
            {"cases", e.cases},
            {"held_back_cases", setup.at("held_back")},
            {"rule", settings_.setup.rule},
            {"paper_rule", e.paper_rule},
            {"launch", settings_.setup.launch.string()},
            {"capture", settings_.setup.capture.string()},
            {"shape", setup.at("shape")},
            {"command", settings_.command}};
  }

  Status finish() {
    // Somebody else's file: that it cannot be written does not take anything from the run.
    if (const Status remembered = remember(); !remembered)
      result_.notes.push_back("what was learnt is not kept: " + remembered.error().message);
    ASMEVO_CHECK(folder_.record(run::Event{result_.standing.seconds,
                                           result_.end == End::Interrupted ? "interrupted" : "end",
                                           std::string(name(result_.end))}));
    return folder_.set("state", result_.end == End::Interrupted ? "interrupted" : "done");
  }

  run::RunFolder& folder_;
  OptimizationSettings settings_;
  const OptimizationHooks& hooks_;
  std::unique_ptr<gate::WorkerPool> pool_;
  OptimizationResult result_;
};

// A run that ends in an error says so in its folder, for whoever looks later.
Result<OptimizationResult> carry_out(run::RunFolder& folder, OptimizationSettings settings,
                                     const OptimizationHooks& hooks) {
  const auto before = folder.get("state");
  const bool was_done = before && *before && **before == "done"; // and still is, where no more came of it
  auto result = Optimization(folder, std::move(settings), hooks).run();
  if (!result) {
    const bool interrupted = hooks.interrupted != nullptr && *hooks.interrupted;
    const char* state = interrupted ? "interrupted" : "failed";
    (void)folder.record(run::Event{0, state, one_line(result.error()).message});
    (void)folder.set("state", was_done ? "done" : state);
  }
  return result;
}

} // namespace

Json json_of(const Budget& b) {
  return {{"attempts", optional(b.attempts)}, {"seconds", optional(b.seconds)}};
}

Budget budget_from(const Json& j) {
  Budget b;
  if (!j.at("attempts").is_null()) b.attempts = j.at("attempts").get<uint64_t>();
  if (!j.at("seconds").is_null()) b.seconds = j.at("seconds").get<double>();
  return b;
}

Json OptimizationSettings::json() const {
  Json s = setup.json();
  s.erase("k0"); // in the folder
  Json j = {{"setup", s},
            {"driver", driver},
            {"proposals", proposals},
            {"rules", rules},
            {"mode", search::name(mode)},
            {"memory", memory},
            {"remembers", remembers},
            {"width", width},
            {"patience", patience}};
  j.update(json_of(budget));
  j.update({{"commit",
             {{"epsilon", commit.epsilon},
              {"spread_factor", commit.spread_factor},
              {"least_speedup", commit.least_speedup},
              {"least_share", commit.least_share}}},
            {"command", command},
            {"object", object},
            {"made_by", made_by}});
  return j;
}

OptimizationSettings OptimizationSettings::from_json(const Json& j) {
  OptimizationSettings s;
  Json setup = j.at("setup");
  setup["k0"] = Json::binary({});
  s.setup = gate::SetupRequest::from_json(setup);
  s.driver = j.at("driver"), s.proposals = j.at("proposals");
  s.rules = j.at("rules").get<std::vector<std::string>>();
  s.mode = mode_named(j.value("mode", "single")).value_or(Mode::Single);
  s.memory = j.value("memory", ""), s.remembers = j.value("remembers", false);
  s.width = j.at("width");
  s.patience = j.value("patience", uint64_t{StallWatch::standard_patience});
  s.budget = budget_from(j);
  const Json& c = j.at("commit");
  s.commit = {c.at("epsilon"), c.at("spread_factor"), c.at("least_speedup"), c.at("least_share")};
  s.command = j.at("command");
  s.object = j.value("object", ""), s.made_by = j.value("made_by", "");
  return s;
}

Status OptimizationSettings::check() const {
  const auto within = [](std::string_view what, double value, double least, double most) -> Status {
    if (value >= least && value <= most) return {};
    return bad_input("settings: {} of {}, which must be {} to {}", what, value, least, most);
  };
  ASMEVO_CHECK(within("members", setup.members, 1, 1000));
  ASMEVO_CHECK(within("width", static_cast<double>(width), 1, 1024));
  ASMEVO_CHECK(within("patience", static_cast<double>(patience), 1, 1e6));
  ASMEVO_CHECK(within("effort", static_cast<double>(setup.effort), 1e3, 1e10));
  ASMEVO_CHECK(within("epsilon", commit.epsilon, 0, 1));
  ASMEVO_CHECK(within("spread_factor", commit.spread_factor, 0, 1000));
  ASMEVO_CHECK(within("least_speedup", commit.least_speedup, 0, 1000));
  ASMEVO_CHECK(within("least_share", commit.least_share, 0, 1));
  return within("seconds", budget.seconds.value_or(0), 0, 1e9);
}

Result<OptimizationResult> optimize(const std::filesystem::path& folder, const OptimizationSettings& settings,
                                    const Bytes& k0, const OptimizationHooks& hooks) {
  ASMEVO_CHECK(settings.check());
  std::optional<Bytes> launch;
  if (!settings.setup.launch.empty()) {
    ASMEVO_TRY(launch, read_file(settings.setup.launch));
  }
  // A mistake in what was asked for leaves no folder behind.
  ASMEVO_TRY(const auto subject, oracle::Subject::open(k0));
  ASMEVO_CHECK(gate::check_request(settings.setup, *subject));
  ASMEVO_TRY(const Memory memory, read_user_memory(settings.memory));
  ASMEVO_CHECK(make_driver(settings, memory, subject->object().target()));
  ASMEVO_TRY(const auto run, run::RunFolder::create(folder, settings.json(), k0, launch));
  return carry_out(*run, settings, hooks);
}

Result<OptimizationResult> resume(const std::filesystem::path& folder, const std::optional<Budget>& budget,
                                  const OptimizationHooks& hooks) {
  ASMEVO_TRY(const auto run, run::RunFolder::open(folder, true));
  OptimizationSettings settings;
  try {
    settings = OptimizationSettings::from_json(run->settings());
  } catch (const nlohmann::json::exception& e) {
    return bad_input("{}: run.sqlite: settings: {}", folder.string(), e.what());
  }
  if (budget) settings.budget = *budget;
  if (const Status good = settings.check(); !good)
    return failed(good.error(), folder.string() + ": run.sqlite");
  ASMEVO_CHECK(run->record(run::Event{0, "resumed", ""}));
  return carry_out(*run, std::move(settings), hooks);
}

} // namespace asmevo::search
