// A transformation of a kernel: looks at its code and profile, and proposes changes that should leave the
// same and take less time. It decides nothing: every proposal is rebuilt, verified and timed like anybody
// else's. One file a rule; each opens with the pattern, the condition and the reason it pays on CDNA.
#pragma once

#include "profile/kernel_code.h"
#include "program/edit.h"
#include "timing/machine_model.h"

#include <span>
#include <string>
#include <vector>

namespace asmevo::search {

/// What a rule may look at. The program is that of the node the edit starts from; ids are its.
struct RuleContext {
  const profile::KernelCode& code;
  isa::Codec& codec;
  const timing::Machine& machine;
  /// By entry, from the function's first: share of the kernel's time that waves spend at it (stalls in front
  /// of it and its issue), and how often a wave issued it. Zeros where there is no profile.
  std::vector<double> time, issues;
  double time_of(program::Index i) const { return time[i - code.function().begin]; }
  /// Share of the time of the entries [begin, end).
  double time_of(program::Index begin, program::Index end) const;
};

/// One place where a rule applies: changes that belong together.
struct Proposal {
  std::vector<program::Change> changes; // disjoint
  program::ResourceRequest resources = {};
  std::string rationale;    // one line, for people: what, where, why
  double promise = 0;       // share of the kernel's time that it may win; for the order of attempts
  bool same_results = true; // bit for bit; else within the rule of comparison
  // Of rules that make room for others: by instruction of the changes' texts, in order, the entry that it is
  // a copy of; no_index: of none.
  std::vector<program::Index> copies = {};
};

struct Rule {
  std::string_view name;      // "waits", "schedule-block"
  std::string_view direction; // "latency hiding", "dependency reduction", "register pressure", "memory
                              // access", "instruction simplification"
  std::string_view summary;   // one line
  std::vector<Proposal> (*propose)(const RuleContext&);
  // Its proposals are worth trying only with what other rules find on top of them (enabled.h).
  bool enables = false;
};

/// All of them, in the order in which they are tried.
std::span<const Rule> all_rules();
/// Null: there is none of that name.
const Rule* find_rule(std::string_view name);

/// The text of entries [begin, end) as an edit has it, and changes made of entries.
std::string text_of(const RuleContext&, program::Index begin, program::Index end);
program::Change replace(const RuleContext&, program::Index first, program::Index last, std::string text);
program::Change insert_before(const RuleContext&, program::Index at, std::string text);

} // namespace asmevo::search
