// Where the time of a verified object goes, in a form that travels: what drivers read, and what reports show.
#pragma once

#include "gate/gated_eval.h"
#include "program/liveness.h"

namespace asmevo::gate {

struct KernelTimes {
  std::string kernel;
  double share = 0; // of the modelled time of all launches
  // By entry of the kernel's function: share of the kernel's time that waves spend at it, and how often one
  // issued it.
  std::vector<double> time, issues;
  Json report;                                          // profile::report_json
  program::StartLanes start = program::StartLanes::Any; // of its launches
};

/// Kernels that were launched, the longest first.
struct NodeProfile {
  std::vector<KernelTimes> kernels;
  Json json() const;
  static NodeProfile from_json(const Json&);
};

/// The edits that made an object out of K0, by whose ids its instructions are named; none of an object that
/// was given whole, whose own they are.
using Chain = std::optional<std::vector<Proposed::Step>>;

/// On the nominal machine.
Result<NodeProfile> profile_node(const Setup&, const Bytes& object, const Chain& chain);

} // namespace asmevo::gate
