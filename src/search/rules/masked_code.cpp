#include "search/rules/masked_code.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::RegRange;
using program::Block;
using program::Index;

constexpr RegRange exec{isa::unit::exec, 2};
constexpr RegRange scc{isa::unit::scc, 1};
// What is done with a stretch takes the square of its length.
constexpr size_t most_entries = 400, least_steps = 6;

bool is_salu(const Instruction& i) {
  return i.issue == IssueClass::Salu;
}

// Without lanes it writes at most scalars.
bool touches_nothing_without_lanes(const Instruction& i) {
  if (i.issue == IssueClass::Nop || i.issue == IssueClass::Waitcnt || is_salu(i)) return true;
  if (!i.reads_exec || i.writes_all_lanes || i.cross_lane || i.vgpr_index_mode || i.side_effects)
    return false;
  return i.issue == IssueClass::Valu || i.issue == IssueClass::Transcendental ||
         i.issue == IssueClass::Vmem || i.issue == IssueClass::Lds;
}

class Finder {
 public:
  Finder(const RuleContext& context, const StraightCode& code) : context_(context), code_(code) {}

  std::vector<MaskedStretch> run() {
    const program::Cfg& cfg = context_.code.cfg();
    if (cfg.unknown_edges()) return {};
    for (uint32_t b = 0; b < cfg.blocks().size();) {
      const uint32_t first = b;
      branches_.clear();
      while (const uint32_t next = joined(b)) b = next;
      if (cfg.blocks()[first].reachable) cut(cfg.blocks()[first].begin, cfg.blocks()[b].end);
      ++b;
    }
    return std::move(found_);
  }

 private:
  const Block& block(uint32_t b) const { return context_.code.cfg().blocks()[b]; }
  const Instruction& at(Index i) const { return context_.code.instruction(i); }

  // The block that the blocks up to b can be one stretch with; 0 where there is none.
  uint32_t joined(uint32_t b) {
    const auto count = static_cast<uint32_t>(context_.code.cfg().blocks().size());
    const Block& here = block(b);
    if (here.begin == here.end || b + 1 >= count) return 0;
    if (!at(here.end - 1).ends_block()) return block(b + 1).predecessors == std::vector{b} ? b + 1 : 0;
    if (!at(here.end - 1).is("s_cbranch_execz") || b + 2 >= count) return 0;
    const uint32_t body = b + 1, behind = b + 2;
    if (context_.code.program().branch_target(here.end - 1) != block(behind).begin) return 0;
    std::vector<uint32_t> into = block(behind).predecessors;
    std::ranges::sort(into);
    if (block(body).predecessors != std::vector{b} || into != std::vector{b, body}) return 0;
    if (!needs_no_branch(block(body), block(behind))) return 0;
    branches_.push_back(here.end - 1);
    return behind;
  }

  bool needs_no_branch(const Block& body, const Block& behind) const {
    const isa::RegSet live = context_.code.liveness().before(behind.begin);
    for (Index i = body.begin; i < body.end; ++i) {
      if (!touches_nothing_without_lanes(at(i)) || code_.is_border(i)) return false;
      for (const RegRange& d : at(i).defs)
        if (!isa::is_vector(d.first) && live.overlaps(d)) return false;
    }
    return true;
  }

  bool is_branch_around(Index i) const { return std::ranges::binary_search(branches_, i); }

  // Stretches between what cannot be in one.
  void cut(Index begin, Index end) {
    for (Index i = begin; i < end;) {
      const Index first = i;
      while (i < end && i - first < most_entries && (is_branch_around(i) || !code_.is_border(i))) {
        if (!at(i).writes(exec)) {
          ++i;
          continue;
        }
        const Index behind = end_of_part(i, end);
        if (behind == i || behind - first > most_entries) break;
        i = behind;
      }
      add(first, i);
      if (i == first || i >= end || !is_branch_around(i)) ++i;
    }
  }

  // Behind the s_or_b64 that gives back the lanes which the s_and_saveexec_b64 at i has taken; i: there is
  // none.
  Index end_of_part(Index i, Index end) const {
    if (!at(i).is("s_and_saveexec_b64")) return i;
    const RegRange saved = at(i).operands[0].reg;
    for (Index k = i + 1; k < end; ++k) {
      const Instruction& inst = at(k);
      if (is_branch_around(k)) continue;
      if (code_.is_border(k)) return i;
      if (inst.writes(exec)) return gives_back(inst, saved) ? k + 1 : i;
      if (inst.writes(saved)) return i;
    }
    return i;
  }

  static bool gives_back(const Instruction& inst, const RegRange& saved) {
    if (!inst.is("s_or_b64") || inst.operands.size() < 3 || inst.operands[0].reg != exec) return false;
    const RegRange &a = inst.operands[1].reg, &b = inst.operands[2].reg;
    return (a == exec && b == saved) || (a == saved && b == exec);
  }

  // What reads SCC from before is left outside.
  void add(Index begin, Index end) {
    while (begin < end && context_.code.liveness().before(begin).overlaps(scc)) ++begin;
    if (end - begin < least_steps || inside_part(begin, end)) return;
    MaskedStretch m;
    m.stretch = code_.stretch(begin, end);
    uint32_t part = 0, parts = 0;
    for (const Step& s : m.stretch.steps) {
      const bool begins = s.instruction->writes(exec) && part == 0;
      if (begins) part = ++parts;
      m.part.push_back(part);
      if (!begins && s.instruction->writes(exec)) part = 0;
    }
    if (parts == 0 || m.stretch.steps.size() < least_steps) return;
    m.live_before = context_.code.liveness().lanes_before(begin).on;
    m.live_after = context_.code.liveness().lanes_after(end - 1).on;
    found_.push_back(std::move(m));
  }

  // Cut in the middle of a part.
  bool inside_part(Index begin, Index end) const {
    size_t writes = 0;
    for (Index i = begin; i < end; ++i) {
      if (!at(i).writes(exec)) continue;
      if (writes++ % 2 == 0 && !at(i).is("s_and_saveexec_b64")) return true;
    }
    return writes % 2 != 0;
  }

  const RuleContext& context_;
  const StraightCode& code_;
  std::vector<Index> branches_; // of the blocks at hand, that can go
  std::vector<MaskedStretch> found_;
};

} // namespace

std::vector<MaskedStretch> masked_stretches(const RuleContext& context, const StraightCode& code) {
  return Finder(context, code).run();
}

} // namespace asmevo::search
