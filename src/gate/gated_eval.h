// The gates G0 to G3, one function each (outcome.h says what they refuse). G4 compares with the best of the
// moment and belongs to whoever keeps that (commit_rule.h); what it needs of the held-back cases is here.
#pragma once

#include "gate/setup.h"
#include "program/edit.h"

namespace asmevo::gate {

/// An edit, and the edits that made what it starts from out of K0.
struct Proposed {
  struct Step {
    program::Edit edit;
    uint32_t node = 0; // the number that instructions it inserts are named by
  };
  std::vector<Step> chain;
  program::Edit edit;
  uint32_t node = 1; // of the candidate
};

/// K0's program after a chain of edits. BadInput: one of them does not fit.
Result<program::Program> program_after(const oracle::Subject& k0, std::span<const Proposed::Step> chain);

/// G0 and G1 of an edit, and of a whole object (which has no G0). The object is in the result if it passed.
Evaluation build(const Setup&, const Proposed&);
Evaluation accept_object(const Setup&, Bytes object);

/// G2 and G3 of what passed those. `best`: times by member that the candidate must beat; its timing stops as
/// soon as it cannot any more. Empty: it is timed to the end.
void judge(const Setup&, Evaluation&, std::span<const double> best);

/// What is held back: the cases (divergent_held_back, with nothing said about where, as drivers may read it),
/// and then the models, whose times are in `seconds` afterwards.
void hold_against(const Setup&, Evaluation&);

/// Times on models of another structure (timing/ensemble.h): for final figures, which no search sees.
Result<std::vector<double>> structural_seconds(const Setup&, const Bytes& object);

} // namespace asmevo::gate
