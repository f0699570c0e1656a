// Between lanes, and results of more than two registers.
#include "emulator/reference/vector.h"

#include <bit>

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using isa::Role;

const Operand& result(const Instruction& i) {
  return i.operands[0];
}

bool read_lane(const Instruction& i, State& state) {
  const bool first = i.is("v_readfirstlane_b32");
  if (!first && !i.is("v_readlane_b32")) return false;
  unsigned lane = 0;
  if (first)
    lane = state.exec() == 0 ? 0 : static_cast<unsigned>(std::countr_zero(state.exec()));
  else
    lane = scalar_operand(state, i, 1, 1) & 63;
  state.scalars[result(i).reg.first - isa::unit::scalar0] =
      state.vectors[i.find(Role::Src0)->reg.first][lane];
  return true;
}

bool write_lane(const Instruction& i, State& state) {
  if (!i.is("v_writelane_b32")) return false;
  const RegUnit to = result(i).reg.first;
  state.vectors[to][scalar_operand(state, i, 1, 1) & 63] =
      static_cast<uint32_t>(scalar_operand(state, i, 0, 1));
  state.wrote(to);
  return true;
}

bool swap(const Instruction& i, State& state) {
  if (!i.is("v_swap_b32")) return false;
  const RegUnit a = i.find(Role::Vdst)->reg.first, b = i.find(Role::Src0)->reg.first;
  for (unsigned n = 0; n < lane_count; ++n)
    if (state.active(n)) std::swap(state.vectors[a][n], state.vectors[b][n]);
  state.wrote(a);
  state.wrote(b);
  return true;
}

// Odd rows of VDST change places with the even rows before them of the other register. A lane whose partner
// is inactive stays as it is; bound_ctrl and fi are not looked at here.
bool swap_rows(const Instruction& i, State& state) {
  const unsigned row = i.is("v_permlane16_swap_b32") ? 16 : i.is("v_permlane32_swap_b32") ? 32 : 0;
  if (row == 0) return false;
  const RegUnit a = i.find(Role::Vdst)->reg.first, b = i.find(Role::Src0)->reg.first;
  const auto first = state.vectors[a], second = state.vectors[b];
  for (unsigned n = 0; n < lane_count; ++n) {
    const bool odd = (n / row & 1) != 0;
    const unsigned partner = odd ? n - row : n + row;
    if (!state.active(n) || !state.active(partner)) continue;
    if (odd)
      state.vectors[a][n] = second[partner];
    else
      state.vectors[b][n] = first[partner];
  }
  state.wrote(a);
  state.wrote(b);
  return true;
}

bool masked_differences(const Instruction& i, State& state) {
  if (!i.is("v_mqsad_u32_u8")) return false;
  const RegUnit to = i.find(Role::Vdst)->reg.first;
  const Operand* third = i.find(Role::Src2);
  std::array<std::array<uint32_t, lane_count>, 4> rows;
  for (unsigned d = 0; d < 4; ++d) rows[d] = state.vectors[to + d];
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const Lane l{i, state, n};
    const uint64_t a = source(l, 0, Type::U64), b = source(l, 1, Type::U32);
    for (unsigned d = 0; d < 4; ++d) {
      uint64_t total = 0;
      if (third->kind == Operand::Kind::Register)
        total = isa::is_vector(third->reg.first) ? state.vectors[third->reg.first + d][n]
                                                 : state.scalars[third->reg.first - isa::unit::scalar0 + d];
      else
        total =
            d == 0 ? static_cast<uint32_t>(third->value) : static_cast<uint32_t>(third->value < 0 ? -1 : 0);
      for (unsigned k = 0; k < 4; ++k) {
        const uint64_t x = a >> (8 * (d + k)) & 0xff, y = b >> (8 * k) & 0xff;
        if (y != 0) total += x > y ? x - y : y - x;
      }
      rows[d][n] = l.clamp() && total > 0xffffffff ? 0xffffffff : static_cast<uint32_t>(total);
    }
  }
  for (unsigned d = 0; d < 4; ++d) {
    state.vectors[to + d] = rows[d];
    state.wrote(static_cast<RegUnit>(to + d));
  }
  return true;
}

} // namespace

bool run_vector_moves(const Instruction& i, State& state) {
  if (i.is("v_nop") || i.is("v_clrexcp")) return true;
  return read_lane(i, state) || write_lane(i, state) || swap(i, state) || swap_rows(i, state) ||
         masked_differences(i, state);
}

} // namespace asmevo::reference
