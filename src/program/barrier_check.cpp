#include "program/barrier_check.h"

#include "program/wave_divergence.h"

#include <algorithm>
#include <map>

namespace asmevo::program {

namespace {

constexpr unsigned most_branches = 32; // around one barrier; shipped kernels have a handful

} // namespace

void check_barriers(const Program& program, const Function& function, const Cfg& cfg, FindingList& findings) {
  std::vector<std::vector<Index>> barriers(cfg.blocks().size()); // by block
  for (uint32_t b = 0; b < cfg.blocks().size(); ++b)
    for (Index i = cfg.blocks()[b].begin; i < cfg.blocks()[b].end; ++i)
      if (cfg.blocks()[b].reachable && program.instruction(i).issue == isa::IssueClass::Barrier)
        barriers[b].push_back(i);
  if (std::ranges::all_of(barriers, &std::vector<Index>::empty)) return;
  std::vector<PartingBranch> branches = find_parting_branches(program, function, cfg);
  std::ranges::stable_sort(branches, {}, [](const PartingBranch& b) { return b.blocks.size(); });
  std::map<Index, unsigned> found;
  for (const PartingBranch& branch : branches)
    for (const uint32_t b : branch.blocks)
      for (const Index barrier : barriers[b]) {
        if (++found[barrier] > most_branches) continue;
        Finding finding;
        finding.kind = FindingKind::Barrier;
        finding.rule = "barrier-branched-around";
        finding.producer = branch.at;
        finding.consumer = barrier;
        finding.possible = true;
        findings.add(std::move(finding), branch.condition);
      }
}

} // namespace asmevo::program
