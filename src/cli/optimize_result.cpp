// How a run ends on the terminal, and what it is asked for in words.
#include "cli/optimize_progress.h"
#include "report/run_status.h"

#include <charconv>

namespace asmevo::cli {

using Json = nlohmann::ordered_json;

Result<double> seconds_in(const std::string& text, std::string_view option) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (parsed.ec != std::errc{} || factor == 0 || !(value > 0) || value > 1e6)
    return bad_input("{}: '{}' is no time like 90s, 3m or 1h", option, printable(text));
  return value * factor;
}

Result<std::optional<search::Budget>> budget_of(const std::string& time, uint64_t attempts) {
  if (time.empty() && attempts == 0) return std::nullopt;
  search::Budget budget;
  if (!time.empty()) {
    ASMEVO_TRY(budget.seconds, seconds_in(time, "--budget"));
  }
  if (attempts != 0) budget.attempts = attempts;
  return budget;
}

Answer print_interrupted(const std::string& folder, bool json) {
  if (json)
    print_json({{"run", folder}, {"best", nullptr}, {"end", "interrupted"}});
  else
    fmt::print("interrupted while setting up\n  'asmevo resume {}' goes on\n", folder);
  return Answer::No;
}

search::OptimizationHooks hooks_of(OptimizeProgress& progress, unsigned workers) {
  search::OptimizationHooks hooks;
  hooks.workers = workers;
  hooks.interrupted = &interruption();
  hooks.setting_up = [&progress](std::string_view what, size_t done, size_t of) {
    progress.setting_up(what, done, of);
  };
  hooks.set_up = [&progress](const gate::Json& setup) { progress.set_up(setup); };
  hooks.watch = [&progress](const search::Standing& s) { progress.standing(s); };
  return hooks;
}

Result<Answer> print_result(const std::string& folder, const search::OptimizationResult& r, bool json) {
  const std::string device = fmt::format("modelled ({})", r.setup.at("model").get<std::string>());
  if (json) {
    Json outcomes = Json::object();
    for (size_t n = 0; n < gate::outcome_count; ++n)
      if (r.standing.outcomes[n] != 0)
        outcomes[std::string(name(static_cast<gate::Outcome>(n)))] = r.standing.outcomes[n];
    print_json({{"run", folder},
                {"device", device},
                {"speedup", r.best ? r.best->speedup : 1.0},
                {"speedup_structural", r.best ? r.structural.speedup : 1.0},
                {"best", r.best ? Json(folder + "/best.co") : Json(nullptr)},
                {"attempts", r.standing.attempts},
                {"outcomes", outcomes},
                {"nodes", r.standing.nodes},
                {"seconds", r.standing.seconds},
                {"end", name(r.end)},
                {"setup", r.setup},
                {"notes", r.notes}});
  } else {
    if (r.best) {
      fmt::print("{:.3f}x, {}: {}\n", r.best->speedup, device, folder + "/best.co");
      fmt::print(
          "  {:.3f}x ({:.3f} to {:.3f}) on models of another structure, which the search did not see\n",
          r.structural.speedup, r.structural.low, r.structural.high);
      fmt::print("  verified from disk: {} cases, {} held back, rule {}\n", r.setup.at("cases").get<size_t>(),
                 r.setup.at("held_back").get<size_t>(), r.setup.at("rule").get<std::string>());
    } else {
      fmt::print("{}, {}\n", r.end == search::End::Interrupted ? "interrupted" : "nothing faster was found",
                 device);
    }
    fmt::print("  {} in {:.1f} s; {}\n", report::outcomes_text(r.standing.attempts, r.standing.outcomes),
               r.standing.seconds, name(r.end));
    for (const std::string& note : r.notes) fmt::print("  {}\n", note);
    if (r.end == search::End::Interrupted) fmt::print("  'asmevo resume {}' goes on\n", folder);
  }
  return r.best ? Answer::Yes : Answer::No;
}

} // namespace asmevo::cli
