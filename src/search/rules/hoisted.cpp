// Work that is the same in each turn of a loop, done once in front of it.
//
// Pattern. An instruction in a loop none of whose operands the loop changes: parts of addresses, converted
// bounds, constants that are put into registers.
//
//   L:                                          v_lshlrev_b32 v5, 2, v1
//     v_lshlrev_b32 v5, 2, v1                 L:
//     v_add_u32     v6, v5, v2           =>     v_add_u32     v6, v5, v2
//     ...                                       ...
//     s_cbranch_scc1 L                          s_cbranch_scc1 L
//
// Condition. Plain arithmetic, the only one in the loop that writes its register, which holds nothing else
// that is wanted where the loop is entered, nor behind the loop unless the instruction is always run; the
// loop has one way in and does not change EXEC, so that the same lanes are on in front of it. The register
// keeps the value for the whole loop, and no other is needed. Operands that loads from before the loop have
// still to write are waited for in the loop: what takes them stays.
//
// Why it pays. A vector instruction is 4 cycles of the SIMD in each turn, and the value is there when the
// turn begins. Compilers hoist by themselves; what is left are values that they thought cheap to make again.
#include "search/rules/loop_entry.h"
#include "search/rules/rule_list.h"

#include <algorithm>
#include <array>

namespace asmevo::search {

using isa::Instruction;
using isa::RegUnit;
using program::Index;

namespace {

constexpr size_t most_single = 8; // proposals for one place each

class LoopHoister {
 public:
  LoopHoister(const RuleContext& context, uint32_t loop)
      : context_(context), code_(context.code), cfg_(context.code.cfg()), blocks_(cfg_.blocks_in(loop)),
        header_(cfg_.loops()[loop].header), loop_(loop) {
    for (const uint32_t b : blocks_)
      for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i) {
        const Instruction& instruction = code_.instruction(i);
        for (const isa::RegRange& d : instruction.defs)
          for (RegUnit u = d.first; u < d.first + d.count; ++u) ++writes_[u];
        calls_ |= instruction.call || instruction.indirect || instruction.is_data();
      }
  }

  std::optional<Place> run() {
    entry_ = entry_of(code_, loop_);
    if (!entry_ || calls_ || writes_[isa::unit::exec] != 0 || writes_[isa::unit::exec + 1] != 0 ||
        writes_[isa::unit::mode] != 0)
      return std::nullopt;
    Place p{Rewrite(context_), "the loop at " + code_.id(cfg_.blocks()[header_].begin)};
    std::string text;
    for (bool more = true; more;) { // what one takes from another goes behind it
      more = false;
      for (const uint32_t b : blocks_)
        for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i) {
          if (p.rewrite.removes(i) || !may_go(i, b)) continue;
          p.rewrite.remove(i);
          text += context_.codec.print(code_.instruction(i)) + "\n";
          p.cost += cost_of(code_.instruction(i));
          p.time += context_.time_of(i);
          for (const isa::RegRange& d : code_.instruction(i).defs)
            for (RegUnit u = d.first; u < d.first + d.count; ++u) writes_[u] = 0;
          more = true;
        }
    }
    if (text.empty()) return std::nullopt;
    put_in_front(context_, p.rewrite, *entry_, text);
    p.saved = p.cost;
    return p;
  }

 private:
  bool may_go(Index i, uint32_t block) const {
    const Instruction& instruction = code_.instruction(i);
    if (!is_plain_arithmetic(instruction) || instruction.partial_def || instruction.defs.size() != 1 ||
        code_.program().entries[i].reference != program::no_index)
      return false;
    const isa::RegRange d = instruction.defs[0];
    if (d.count != 1 || (!isa::is_vgpr(d.first) && !isa::is_sgpr(d.first)) || writes_[d.first] != 1 ||
        instruction.reads(d))
      return false;
    for (const isa::RegRange& r : instruction.uses)
      for (RegUnit u = r.first; u < r.first + r.count; ++u)
        if (writes_[u] != 0 || entry_->in_flight.contains(u)) return false;
    if (entry_->in_flight.overlaps(d) || entry_->live_around.overlaps(d)) return false;
    const Index first = cfg_.blocks()[header_].begin;
    return !code_.liveness().before(first).contains(d.first) && (always_run(block) || !live_behind(d.first));
  }

  bool always_run(uint32_t block) const {
    const auto& latches = cfg_.loops()[loop_].latches;
    return block == header_ &&
           std::ranges::all_of(latches, [&](uint32_t l) { return cfg_.dominates(block, l); });
  }

  bool live_behind(RegUnit u) const {
    for (const uint32_t b : blocks_)
      for (const uint32_t s : cfg_.blocks()[b].successors)
        if (!cfg_.in_loop(s, loop_) && code_.liveness().before(cfg_.blocks()[s].begin).contains(u))
          return true;
    return false;
  }

  const RuleContext& context_;
  const profile::KernelCode& code_;
  const program::Cfg& cfg_;
  std::vector<uint32_t> blocks_;
  uint32_t header_, loop_;
  std::array<unsigned, isa::unit::count> writes_{};
  std::optional<LoopEntry> entry_;
  bool calls_ = false;
};

} // namespace

std::vector<Proposal> propose_hoisted(const RuleContext& context) {
  if (stretches_of(context.code).empty() || context.code.cfg().unknown_edges()) return {};
  std::vector<Place> places;
  for (uint32_t loop = 0; loop < context.code.cfg().loops().size(); ++loop)
    if (auto place = LoopHoister(context, loop).run()) places.push_back(*std::move(place));
  return proposals(context, std::move(places), "the same in each turn, so done before", true, most_single);
}

} // namespace asmevo::search
