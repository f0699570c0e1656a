// Versions of the pair kernel, and outcomes, that nobody has run: for what decides by profiles and outcomes.
#pragma once

#include "gate/pair_kernel.h"
#include "search/driver.h"

namespace asmevo::search::testing {

using gate::edit_of;
using gate::id_of;
using gate::inserted;
using gate::replaced;

inline std::shared_ptr<const oracle::Subject> k0() {
  static const auto subject = *oracle::Subject::open(gate::pair_request().k0);
  return subject;
}

// Waves stand for `reason` only, most of it in the first of two windows.
inline gate::NodeProfile profile_of(const std::string& reason) {
  const program::Program& p = k0()->program();
  const program::Function* f = p.find_function("slow");
  const auto id = [&](program::Index i) { return p.entries[i].id.text(); };
  const program::Index middle = f->begin + (f->padding - f->begin) / 2;
  const auto window = [&](program::Index first, program::Index last, double share) {
    return gate::Json{{"first", id(first)},
                      {"last", id(last)},
                      {"share_of_time", share},
                      {"stalled", {{reason, 100.0 * share}}}};
  };
  gate::KernelTimes k;
  k.kernel = "slow", k.share = 1;
  k.time.resize(f->end - f->begin), k.issues.resize(f->end - f->begin);
  k.report = {{"summary",
               {{"wave_cycles", {{"busy", 5.0}, {"stalled", {{reason, 95.0}}}}},
                {"limiter", {{"bound", "latency"}}}}},
              {"windows", {window(f->begin, middle - 1, 0.9), window(middle, f->padding - 1, 0.1)}}};
  gate::NodeProfile profile;
  profile.kernels.push_back(std::move(k));
  return profile;
}

inline Lineage lineage_of(const std::string& reason = "WAITCNT") {
  run::Node root;
  root.seconds = {1, 1, 1, 1};
  root.profile = profile_of(reason).json();
  return *Lineage::start(k0(), root, profile_of(reason));
}

inline void add_node(Lineage& lineage, uint32_t parent, double speedup, const program::Edit& edit) {
  run::Node n;
  n.id = lineage.size(), n.parent = parent, n.speedup = speedup;
  program::Edit based = edit;
  based.base = parent;
  n.edit = based.json();
  n.seconds.assign(4, 1 / speedup);
  ASSERT_TRUE(lineage.add(n, gate::pair_request().k0, profile_of("WAITCNT")));
}

inline program::Edit nop_before(std::string_view text, unsigned count = 1) {
  std::string nops;
  for (unsigned n = 0; n < count; ++n) nops += "s_nop 0\n";
  return edit_of({inserted(id_of(*k0(), text), nops)}, std::string(text));
}

struct Made {
  Suggestion suggestion;
  gate::Evaluation evaluation;
  gate::Comparison comparison;
  Outcome outcome{suggestion, gate::Outcome::InsufficientSpeedup, evaluation, comparison, 0, {}};

  Made(program::Edit edit, double gain) {
    suggestion.edit = std::move(edit), suggestion.rule = "some-rule";
    evaluation.seconds.assign(4, 1 / gain);
    comparison.over_best = outcome.over_base = gain;
  }
  Made& refused(gate::Outcome why) {
    evaluation.outcome = outcome.outcome = why;
    evaluation.seconds.clear();
    outcome.over_base = 0;
    return *this;
  }
};

} // namespace asmevo::search::testing
