// What is known of a candidate without running it: its interface and its hazards, against K0's.
#include "oracle/verify.h"

#include <algorithm>
#include <iterator>

namespace asmevo::oracle {

namespace {

using program::Finding;
using program::Function;

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
    if (original != nullptr && function.kernel && !same_instructions(a, *original, b, function))
      verdict.changed.push_back(function.name);
    for (const Finding& f : program::findings_against(k0.object(), a, candidate.object(), b, function))
      verdict.findings.push_back(
          fmt::format("{}: {}{}", function.name, f.possible ? "possible: " : "", f.message));
  }
  if (!verdict.findings.empty()) verdict.outcome = Outcome::Hazard;
  return verdict;
}

} // namespace asmevo::oracle
