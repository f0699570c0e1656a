#include "mutation/lens.h"

#include "emulator/translate.h"
#include "emulator/workgroup.h"

#include <cstring>

namespace asmevo::mutation {

namespace {

using emulator::MicroOp;
using emulator::Wave;

// Everything an instruction without memory can change.
struct State {
  std::array<uint32_t, emulator::slot::count> scalars{};
  std::vector<emulator::Row> rows;

  static State of(const Wave& wave) {
    State s;
    s.scalars = wave.scalars;
    s.rows.assign(wave.vectors, wave.vectors + wave.dispatch->allocated_vgprs);
    return s;
  }
  void restore(Wave& wave) const {
    wave.scalars = scalars;
    std::memcpy(static_cast<void*>(wave.vectors), rows.data(), rows.size() * sizeof(emulator::Row));
  }
  bool same(const State& o) const {
    return scalars == o.scalars &&
           std::memcmp(rows.data(), o.rows.data(), rows.size() * sizeof(emulator::Row)) == 0;
  }
};

class Lens final : public emulator::Observer {
 public:
  Lens(uint64_t address, const isa::Instruction* mutant, bool comparable)
      : address_(address), mutant_(mutant), comparable_(comparable) {}

  void before(Wave& wave, const MicroOp& op) override {
    const emulator::Launch& launch = wave.workgroup->launch();
    if (op.pc - launch.bias != address_ || (op.instruction->reads_exec && wave.exec() == 0)) return;
    ++look.executions;
    constexpr uint64_t enough = 20'000;
    if (!comparable_ || look.executions > enough) return;
    const State start = State::of(wave);
    op.run(wave, op);
    const State original = State::of(wave);
    start.restore(wave);
    if (mutant_ != nullptr) {
      const emulator::RegisterLayout layout = {
          launch.target, codeobject::accum_offset(launch.kernel->descriptor, launch.target),
          launch.context.allocated_vgprs};
      const MicroOp other = emulator::translate(*mutant_, op.pc, layout);
      other.run(wave, other);
    }
    if (!State::of(wave).same(original)) ++look.different;
    start.restore(wave);
  }

  Look look;

 private:
  uint64_t address_;
  const isa::Instruction* mutant_;
  bool comparable_;
};

bool is_comparable(const isa::Instruction& i) {
  return i.memory.kind == isa::MemoryKind::None && !i.ends_block() && !i.side_effects;
}

} // namespace

Look look_at(const Bench& bench, const Mutant& m) {
  const program::Program& program = bench.k0->program();
  const auto codec = *isa::Codec::borrow(program.target);
  const auto spliced = program::splice(program, m.edit(bench.kernel), 1, *codec);
  if (!spliced) return {};
  const program::Index place = *program.find(m.at);
  const isa::Instruction* mutant = m.after.empty() ? nullptr : spliced->entries[place].instruction;
  Look all;
  all.comparable = is_comparable(program.instruction(place)) && (mutant == nullptr || is_comparable(*mutant));
  // Watching is slow: large cases only where the small ones do not come by.
  constexpr uint64_t small = 100'000;
  for (const bool large : {false, true})
    for (const auto& c : bench.cases) {
      if ((c->instructions() > small) != large || (large && all.executions != 0)) continue;
      Lens lens(program.text_address + m.at.n, mutant, all.comparable);
      oracle::CaseRunOptions options;
      options.threads = 1;
      options.workgroups = c->sample();
      options.observer = [&lens](size_t) { return &lens; };
      if (!oracle::run_case(c->dispatch(), bench.k0, options)) continue;
      all.executions += lens.look.executions;
      all.different += lens.look.different;
    }
  return all;
}

std::string Look::describe() const {
  if (executions == 0) return "never executed";
  if (!comparable) return fmt::format("executed {} times", executions);
  if (different == 0) return fmt::format("executed {} times, always with the same result", executions);
  return fmt::format("executed {} times, {} with another result", executions, different);
}

} // namespace asmevo::mutation
