// What is known of a candidate without running it: its interface and its hazards, against K0's.
#include "oracle/verify.h"

#include <algorithm>
#include <iterator>

namespace asmevo::oracle {

namespace {

using program::Finding;
using program::Function;

std::vector<Finding> findings_of(const Subject& subject, const Function& function) {
  program::CheckOptions options;
  options.possible = true; // K0 did not have it: worth a refusal
  options.every_use = true;
  if (const codeobject::Kernel* kernel = subject.object().find_kernel(function.name)) {
    const isa::Target& target = subject.object().target();
    options.allocated_vgprs = codeobject::allocated_vgprs(kernel->descriptor, target);
    options.accum_offset = codeobject::accum_offset(kernel->descriptor, target);
    options.allocated_sgprs = codeobject::allocated_sgprs(kernel->descriptor, target);
    options.lds_bytes = kernel->descriptor.group_segment_fixed_size;
  }
  const program::Cfg cfg = program::Cfg::build(subject.program(), function);
  return program::check(subject.program(), function, cfg, options);
}

bool same_instructions(const program::Program& a, const Function& f, const program::Program& b,
                       const Function& g) {
  if (f.padding - f.begin != g.padding - g.begin) return false;
  for (program::Index i = 0; i < f.padding - f.begin; ++i)
    if (!std::ranges::equal(a.instruction(f.begin + i).encoding(), b.instruction(g.begin + i).encoding()))
      return false;
  return true;
}

} // namespace

Result<StaticVerdict> compare_statically(const Subject& k0, const Subject& candidate) {
  const program::Program &a = k0.program(), &b = candidate.program();
  if (a.target.gfx != b.target.gfx)
    return bad_input("K0 is for {}, the candidate for {}", a.target.name(), b.target.name());
  StaticVerdict verdict;
  verdict.abi = codeobject::abi_diff(k0.object(), candidate.object());
  if (!verdict.abi.compatible()) {
    verdict.outcome = Outcome::AbiInvalid;
    return verdict;
  }
  for (const Function& function : b.functions) {
    const Function* original = a.find_function(function.name);
    std::vector<Finding> before;
    if (original != nullptr) before = findings_of(k0, *original);
    std::vector<Finding> fresh = program::new_findings(a, before, b, findings_of(candidate, function));
    if (original != nullptr)
      std::ranges::move(program::compared_findings(a, *original, b, function), std::back_inserter(fresh));
    if (original != nullptr && function.kernel && !same_instructions(a, *original, b, function))
      verdict.changed.push_back(function.name);
    for (const Finding& f : fresh)
      verdict.findings.push_back(
          fmt::format("{}: {}{}", function.name, f.possible ? "possible: " : "", f.message));
  }
  if (!verdict.findings.empty()) verdict.outcome = Outcome::Hazard;
  return verdict;
}

} // namespace asmevo::oracle
