// What the gates say of a candidate. Gates stand in a fixed order; the first that refuses decides, and what
// it says is made for a driver to read: why, where, and what was there instead.
//
//   G0  asm_invalid         the edit is not plain instructions and labels that fit the base
//   G1  abi_invalid         a field that host programs rely on differs, or resources beyond what is declared
//       hazard              the static check finds what K0 does not have
//   G2  fault, hang, race, guard_damaged, divergent; and hazard, where a watched run shows one
//   G3  timing_unstable     the times of one and the same object lie too far apart to say anything
//   G4  insufficient_speedup, divergent_held_back, else committed
//
// duplicate (its bytes were judged before) and infrastructure_error (this program's fault or the machine's)
// are no verdicts on a candidate.
#pragma once

#include "base/bytes.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::gate {

using Json = nlohmann::ordered_json;

enum class Outcome : uint8_t {
  Passed, // all gates so far
  AsmInvalid,
  AbiInvalid,
  Hazard,
  Fault,
  Hang,
  Race,
  GuardDamaged,
  Divergent,
  TimingUnstable,
  InsufficientSpeedup,
  DivergentHeldBack,
  Committed,
  Duplicate,
  InfrastructureError,
};
inline constexpr size_t outcome_count = static_cast<size_t>(Outcome::InfrastructureError) + 1;
/// "asm_invalid", "insufficient_speedup", ...
std::string_view name(Outcome);
std::optional<Outcome> outcome_named(std::string_view);

/// How far a candidate came.
enum class Gate : uint8_t { G0, G1, G2, G3, G4 };
std::string_view name(Gate);

/// What is known of a candidate after some of the gates. Through JSON it loses nothing but `object`.
struct Evaluation {
  Outcome outcome = Outcome::Passed;
  Gate gate = Gate::G0; // the last one it was at
  std::string text;     // one line: why it was refused; empty where it was not
  /// What a driver can act on: {"change", "line", "column"}, {"fields"}, {"findings"}, {"case", "buffer",
  /// "index", "k0", "candidate", "cosine", ...}, {"address", "pc", "lane"}.
  Json details = Json::object();

  Bytes object;                   // as built; empty where it was not
  std::string object_hash;        // of it
  std::string built_by;           // "direct", "in place"
  Json resources = Json::array(); // {"kernel", "field", "from", "to"}

  unsigned cases = 0;          // of G2, run
  bool paper_rule = true;      // rule paper says the same of them
  uint64_t instructions = 0;   // executed by the candidate in G2
  std::vector<double> seconds; // by member of the ensemble; fewer than it has where more would change nothing
  // For statistics, decide nothing: of the evaluation, and of its G3.
  double wall_seconds = 0, timing_seconds = 0;

  bool passed() const { return outcome == Outcome::Passed; }
  void refuse(Outcome why, std::string line) { outcome = why, text = std::move(line); }
  Json json() const;
  static Evaluation from_json(const Json&);
};

} // namespace asmevo::gate
