#include "program/working_barriers.h"

#include "program/wave_divergence.h"

#include <algorithm>
#include <set>

namespace asmevo::program {

namespace {

// What other waves could not tell from doing nothing.
bool is_private(const isa::Instruction& i) {
  return i.memory.kind == isa::MemoryKind::None && i.issue != isa::IssueClass::Waitcnt && !i.side_effects &&
         !i.ends_block() && !i.is_data();
}

struct BarrierList {
  std::vector<Index> all;
  std::set<Index> doubled; // right behind another in its block
};

BarrierList list_barriers(const Program& program, const Cfg& cfg) {
  BarrierList list;
  for (const Block& block : cfg.blocks()) {
    bool behind_another = false;
    for (Index at = block.begin; at < block.end; ++at) {
      const isa::Instruction& i = program.instruction(at);
      if (i.issue == isa::IssueClass::Barrier) {
        list.all.push_back(at);
        if (behind_another) list.doubled.insert(at);
        behind_another = true;
      } else if (!is_private(i)) {
        behind_another = false;
      }
    }
  }
  return list;
}

std::set<uint32_t> parted_blocks(const Program& program, const Function& function, const Cfg& cfg) {
  std::set<uint32_t> blocks;
  for (const PartingBranch& branch : find_parting_branches(program, function, cfg))
    blocks.insert(branch.blocks.begin(), branch.blocks.end());
  return blocks;
}

} // namespace

std::vector<Index> working_barriers(const Program& program, const Function& function, const Cfg& cfg,
                                    bool one_wave) {
  if (one_wave) return {};
  BarrierList list = list_barriers(program, cfg);
  if (list.doubled.empty()) return list.all;
  const std::set<uint32_t> parted = parted_blocks(program, function, cfg);
  std::erase_if(list.all,
                [&](Index at) { return list.doubled.contains(at) && !parted.contains(cfg.block_of(at)); });
  return list.all;
}

} // namespace asmevo::program
