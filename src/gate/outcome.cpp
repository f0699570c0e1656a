#include "gate/outcome.h"

#include <algorithm>
#include <array>

namespace asmevo::gate {

namespace {

constexpr std::array<std::string_view, outcome_count> names = {"passed",
                                                               "asm_invalid",
                                                               "abi_invalid",
                                                               "hazard",
                                                               "fault",
                                                               "hang",
                                                               "race",
                                                               "guard_damaged",
                                                               "divergent",
                                                               "timing_unstable",
                                                               "insufficient_speedup",
                                                               "divergent_held_back",
                                                               "committed",
                                                               "duplicate",
                                                               "infrastructure_error"};
constexpr std::array<std::string_view, 5> gates = {"G0", "G1", "G2", "G3", "G4"};

} // namespace

std::string_view name(Outcome outcome) {
  return names[static_cast<size_t>(outcome)];
}

std::optional<Outcome> outcome_named(std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Outcome>(found - names.begin());
}

std::string_view name(Gate gate) {
  return gates[static_cast<size_t>(gate)];
}

Json Evaluation::json() const {
  return {{"outcome", name(outcome)},
          {"gate", name(gate)},
          {"text", text},
          {"details", details},
          {"object", object_hash},
          {"built_by", built_by},
          {"resources", resources},
          {"cases", cases},
          {"paper_rule", paper_rule},
          {"instructions", instructions},
          {"seconds", seconds},
          {"wall_seconds", wall_seconds},
          {"timing_seconds", timing_seconds}};
}

Evaluation Evaluation::from_json(const Json& j) {
  Evaluation e;
  e.outcome = outcome_named(j.at("outcome").get<std::string>()).value_or(Outcome::InfrastructureError);
  const auto gate = std::ranges::find(gates, j.at("gate").get<std::string>());
  e.gate = static_cast<Gate>(std::min<ptrdiff_t>(gate - gates.begin(), 4));
  e.text = j.at("text");
  e.details = j.at("details");
  e.object_hash = j.at("object");
  e.built_by = j.at("built_by");
  e.resources = j.at("resources");
  e.cases = j.at("cases");
  e.paper_rule = j.at("paper_rule");
  e.instructions = j.at("instructions");
  e.seconds = j.at("seconds").get<std::vector<double>>();
  e.wall_seconds = j.at("wall_seconds");
  e.timing_seconds = j.at("timing_seconds");
  return e;
}

} // namespace asmevo::gate
