#include "search/value_flow.h"

#include <algorithm>

namespace asmevo::search {

using isa::Instruction;
using isa::RegUnit;
using program::Index;

namespace {

constexpr isa::RegRange exec_mask{isa::unit::exec, 2};

template <class F>
void each_unit(std::span<const isa::RegRange> ranges, F f) {
  for (const isa::RegRange& r : ranges)
    for (RegUnit u = r.first; u < r.first + r.count; ++u) f(u);
}

} // namespace

ValueFlow::ValueFlow(const profile::KernelCode& code, Index begin, Index end)
    : code_(code), begin_(begin), end_(end), writers_(isa::unit::count), readers_(end - begin),
      escapes_(end - begin) {
  std::vector<Index> last(isa::unit::count, incoming);
  for (Index i = begin; i < end; ++i) {
    const Instruction& instruction = code.instruction(i);
    each_unit({instruction.uses.begin(), instruction.uses.size()}, [&](RegUnit u) {
      if (last[u] == incoming) return;
      std::vector<Index>& list = readers_[last[u] - begin];
      if (list.empty() || list.back() != i) list.push_back(i);
    });
    each_unit({instruction.defs.begin(), instruction.defs.size()}, [&](RegUnit u) {
      last[u] = i;
      writers_[u].push_back(i);
    });
  }
  if (begin == end) return;
  const isa::RegSet live = code.liveness().after(end - 1);
  for (RegUnit u = 0; u < isa::unit::count; ++u)
    if (last[u] != incoming && (live.contains(u) || u >= isa::unit::mode)) escapes_[last[u] - begin] = true;
}

Index ValueFlow::writer(Index at, RegUnit u) const {
  const auto& list = writers_[u];
  const auto behind = std::ranges::lower_bound(list, at);
  return behind == list.begin() ? incoming : *std::prev(behind);
}

Index ValueFlow::next_writer(RegUnit u, Index from, Index to) const {
  const auto found = std::ranges::lower_bound(writers_[u], from);
  return found == writers_[u].end() || *found >= to ? program::no_index : *found;
}

Index ValueFlow::next_reader(RegUnit u, Index from, Index to) const {
  for (Index i = from; i < to; ++i)
    if (code_.instruction(i).reads({u, 1})) return i;
  return program::no_index;
}

std::vector<EntryRange> stretches_of(const profile::KernelCode& code) {
  const program::Function& function = code.function();
  for (Index i = function.begin; i < function.end; ++i)
    if (code.instruction(i).vgpr_index_mode || code.instruction(i).sets_vskip) return {};
  std::vector<EntryRange> list;
  for (const program::Block& block : code.cfg().blocks()) {
    if (!block.reachable) continue;
    Index begin = block.begin;
    for (Index i = block.begin; i < block.end; ++i)
      if (code.instruction(i).writes(exec_mask) || i + 1 == block.end) {
        list.push_back({begin, i + 1});
        begin = i + 1;
      }
  }
  return list;
}

bool is_plain_arithmetic(const Instruction& i) {
  const bool arithmetic = i.issue == isa::IssueClass::Valu || i.issue == isa::IssueClass::Transcendental ||
                          i.issue == isa::IssueClass::Salu;
  constexpr isa::RegRange machine_state{isa::unit::mode, isa::unit::count - isa::unit::mode};
  return arithmetic && !i.side_effects && !i.cross_lane && !i.ends_block() && !i.vgpr_index_mode &&
         !i.sets_vskip && i.memory.kind == isa::MemoryKind::None && !i.writes(exec_mask) &&
         !i.writes(machine_state) && !i.reads({isa::unit::hwreg, 1}) &&
         !i.base_mnemonic.starts_with("s_get") && !i.base_mnemonic.starts_with("s_mem") &&
         i.matrix == isa::MatrixKind::None;
}

} // namespace asmevo::search
