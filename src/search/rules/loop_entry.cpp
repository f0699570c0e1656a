#include "search/rules/loop_entry.h"

namespace asmevo::search {

using program::Index;

std::optional<LoopEntry> entry_of(const profile::KernelCode& code, uint32_t loop) {
  const program::Cfg& cfg = code.cfg();
  const uint32_t header = cfg.loops()[loop].header;
  std::optional<uint32_t> outside;
  for (const uint32_t p : cfg.blocks()[header].predecessors)
    if (!cfg.in_loop(p, loop)) {
      if (outside) return std::nullopt;
      outside = p;
    }
  if (!outside) return std::nullopt;
  LoopEntry entry;
  for (const uint32_t s : cfg.blocks()[*outside].successors)
    if (s != header) entry.live_around |= code.liveness().before(cfg.blocks()[s].begin);
  entry.last = cfg.blocks()[*outside].end - 1;
  const isa::Instruction& last = code.instruction(entry.last);
  const bool goes_on =
      !last.ends_block() && code.program().entries[entry.last].reference == program::no_index;
  if (!goes_on && !last.branch) return std::nullopt;
  const auto waves = program::WaveStates::compute(code.program(), code.function(), cfg);
  program::WaveState state = waves.before(entry.last);
  state.advance(last);
  for (const auto& pending : state.pending) entry.in_flight |= pending.registers;
  return entry;
}

void put_in_front(const RuleContext& context, Rewrite& rewrite, const LoopEntry& entry,
                  const std::string& text) {
  const isa::Instruction& last = context.code.instruction(entry.last);
  if (last.branch)
    rewrite.insert(entry.last, text);
  else
    rewrite.put(entry.last, context.codec.print(last) + "\n" + text);
}

} // namespace asmevo::search
