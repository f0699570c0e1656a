#include "report/outcome_meaning.h"

namespace asmevo::report {

using gate::Outcome;

std::string_view meaning(Outcome outcome) {
  switch (outcome) {
  case Outcome::Passed: return "Passed the gates so far; its decision is still to come.";
  case Outcome::AsmInvalid:
    return "The text is not plain instructions and labels that assemble and fit the version it starts from.";
  case Outcome::AbiInvalid:
    return "Something that a host program relies on would change, or the code uses more than is declared.";
  case Outcome::Hazard:
    return "A wait, a wait state or a barrier is missing where K0 lacks none, by the code or by a watched "
           "run.";
  case Outcome::Fault: return "A run touched memory that is not its own.";
  case Outcome::Hang: return "A run did not come to its end.";
  case Outcome::Race: return "Two waves touched the same memory with nothing between them that K0 has.";
  case Outcome::GuardDamaged: return "A run wrote beside its buffers.";
  case Outcome::Divergent: return "A result is not K0's, beyond the tolerance.";
  case Outcome::TimingUnstable: return "Times of the same object lie too far apart to say anything.";
  case Outcome::InsufficientSpeedup: return "Right, but not faster than the best of its moment by enough.";
  case Outcome::DivergentHeldBack:
    return "Right on the cases it was tried with, wrong on those that were held back.";
  case Outcome::Committed: return "Right on all cases and faster by enough: a new version.";
  case Outcome::Duplicate: return "The same bytes as an earlier attempt, or K0's.";
  case Outcome::InfrastructureError: return "The machine or asmevo failed; nothing is said of the candidate.";
  }
  return "";
}

std::string_view gate_of(Outcome outcome) {
  switch (outcome) {
  case Outcome::AsmInvalid: return "G0";
  case Outcome::AbiInvalid: return "G1";
  case Outcome::Hazard: return "G1, G2";
  case Outcome::Fault:
  case Outcome::Hang:
  case Outcome::Race:
  case Outcome::GuardDamaged:
  case Outcome::Divergent: return "G2";
  case Outcome::TimingUnstable: return "G3";
  case Outcome::InsufficientSpeedup:
  case Outcome::DivergentHeldBack:
  case Outcome::Committed: return "G4";
  case Outcome::Passed:
  case Outcome::Duplicate:
  case Outcome::InfrastructureError: return "";
  }
  return "";
}

std::vector<Outcome> outcomes_in_order() {
  std::vector<Outcome> list = {Outcome::Committed};
  for (size_t n = static_cast<size_t>(Outcome::AsmInvalid); n < gate::outcome_count; ++n)
    if (static_cast<Outcome>(n) != Outcome::Committed) list.push_back(static_cast<Outcome>(n));
  list.push_back(Outcome::Passed);
  return list;
}

} // namespace asmevo::report
