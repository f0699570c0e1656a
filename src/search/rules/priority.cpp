// Waves that have matrix work ready go first.
//
// A SIMD has one matrix unit, and in each turn issues for one of its waves. Where one wave has a row of
// matrix instructions ready and another one loads and address arithmetic, whoever waited longest goes first;
// the matrix unit then stands idle for turns in which the other one's work would have done later as well.
// s_setprio lets a wave say so:
//
//     s_setprio 1
//     v_mfma_f32_32x32x8_f16 ...     (eight of them)
//     s_setprio 0
//
// Kernels tuned by hand (AITer, Composable Kernel) have it around the matrix part of their loops. It pays
// where waves of a SIMD are in different parts of the loop, and costs two issue slots.
//
// Pattern: a run of matrix instructions in a loop, in a kernel that sets no priorities itself.
// Condition: none; priorities change nothing but the order in which waves issue.
#include "search/rules/rule_list.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using program::Index;

constexpr size_t least_matrix = 4; // of a run: fewer are over before it shows
constexpr Index farthest = 6;      // instructions between two of a run
constexpr double may_win = 0.05;   // of the time in the run

struct Run {
  Index first = 0, last = 0;
  size_t matrix = 0;
};

bool sets_priority(const RuleContext& context) {
  const program::Function& f = context.code.function();
  for (Index i = f.begin; i < f.padding; ++i)
    if (context.code.instruction(i).is("s_setprio")) return true;
  return false;
}

std::vector<Run> runs_in(const RuleContext& context, const program::Block& block) {
  std::vector<Run> runs;
  for (Index i = block.begin; i < block.end; ++i) {
    const isa::Instruction& inst = context.code.instruction(i);
    if (inst.matrix == isa::MatrixKind::None) continue;
    const bool goes_on = !runs.empty() && i - runs.back().last <= farthest;
    if (!goes_on) runs.push_back({i, i, 0});
    runs.back().last = i;
    ++runs.back().matrix;
  }
  std::erase_if(runs, [](const Run& r) { return r.matrix < least_matrix; });
  return runs;
}

// Behind the last instruction of a run there is always one: the end of the loop.
void add(const RuleContext& context, const Run& r, Proposal& p) {
  p.changes.push_back(insert_before(context, r.first, "s_setprio 1"));
  p.changes.push_back(insert_before(context, r.last + 1, "s_setprio 0"));
  p.promise += may_win * context.time_of(r.first, r.last + 1);
}

} // namespace

std::vector<Proposal> propose_priorities(const RuleContext& context) {
  std::vector<Proposal> proposals;
  if (sets_priority(context)) return proposals;
  Proposal all;
  size_t count = 0;
  for (const program::Block& block : context.code.cfg().blocks()) {
    if (block.loop == program::no_index || !block.reachable) continue;
    for (const Run& r : runs_in(context, block)) {
      if (r.last + 1 >= block.end) continue;
      Proposal p;
      add(context, r, p);
      add(context, r, all);
      ++count;
      p.rationale =
          fmt::format("priority for the {} matrix instructions from {}", r.matrix, context.code.id(r.first));
      proposals.push_back(std::move(p));
    }
  }
  all.rationale = fmt::format("priority for all {} runs of matrix instructions", count);
  if (count > 1) proposals.insert(proposals.begin(), std::move(all));
  return proposals;
}

} // namespace asmevo::search
