#include "program/vector_modes.h"

#include "program/wave_state.h"

namespace asmevo::program {

namespace {

bool changes_modes(const isa::Instruction& i) {
  return i.vgpr_index_mode || i.sets_vskip || i.base_mnemonic.starts_with("s_setreg");
}

bool is_vector_instruction(const isa::Instruction& i) {
  return i.family >= isa::Family::Vop1;
}

} // namespace

VectorModes VectorModes::compute(const Program& program, const Function& function, const Cfg& cfg) {
  VectorModes modes;
  modes.begin_ = function.begin;
  bool any = false;
  for (Index i = function.begin; i < function.end; ++i) any = any || changes_modes(program.instruction(i));
  if (!any) return modes;
  const WaveStates states = WaveStates::compute(program, function, cfg);
  modes.bits_.resize(function.end - function.begin);
  for (uint32_t b = 0; b < cfg.blocks().size(); ++b) {
    WaveState state = states.at_block(b);
    for (Index i = cfg.blocks()[b].begin; i < cfg.blocks()[b].end; ++i) {
      const isa::Instruction& instruction = program.instruction(i);
      uint8_t& bits = modes.bits_[i - function.begin];
      const bool relative = instruction.base_mnemonic.starts_with("v_movrel");
      if (relative || state.indexed_operands(instruction) != 0) bits |= index_bit;
      if (state.may_skip && is_vector_instruction(instruction)) bits |= skip_bit;
      state.advance(instruction);
    }
  }
  return modes;
}

} // namespace asmevo::program
