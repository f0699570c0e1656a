// Moves: between registers, lanes and register files, and the choice between two values by a mask.
#include "emulator/lanes.h"

#include <bit>

namespace asmevo::emulator {

namespace {

constexpr auto same32 = [](uint32_t a) { return a; };

void choose(Wave& wave, const MicroOp& op) {
  SourceBuffer buffer_a, buffer_b;
  const auto a = fetch<uint32_t>(wave, op, 0, buffer_a);
  const auto b = fetch<uint32_t>(wave, op, 1, buffer_b);
  Results<uint32_t> results;
  blend(results.low.lane, b.low, a.low, wave.scalar64(op.source[2]));
  write_result(wave, op, results);
}

// --- One lane, whatever EXEC says.

uint32_t lane_of(const Wave& wave, const Place& source, unsigned lane) {
  return source.vector() ? wave.vectors[source.index].lane[lane] : wave.scalar32(source);
}

void read_lane(Wave& wave, const MicroOp& op) {
  wave.scalars[op.result.index] = lane_of(wave, op.source[0], wave.scalar32(op.source[1]) % lanes);
}

void read_first_lane(Wave& wave, const MicroOp& op) {
  const uint64_t exec = wave.exec();
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec));
  wave.scalars[op.result.index] = lane_of(wave, op.source[0], lane);
}

void write_lane(Wave& wave, const MicroOp& op) {
  wave.vectors[op.result.index].lane[wave.scalar32(op.source[1]) % lanes] = wave.scalar32(op.source[0]);
}

// --- Swaps

void swap(Wave& wave, const MicroOp& op) {
  Row &a = wave.vectors[op.result.index], &b = wave.vectors[op.scalar_result.index];
  const Row before = a;
  write_row(a, b, wave.exec());
  write_row(b, before, wave.exec());
}

// The odd rows of `count` lanes of VDST and the even ones of the other register change places. The VOP3 form
// has DPP's FI and BOUND_CTRL in op_sel: without FI a disabled lane cannot be read; who would have read it
// gets 0 or stays as it is.
template <unsigned count>
void swap_rows(Wave& wave, const MicroOp& op) {
  constexpr unsigned fetch_inactive = 1, bound_ctrl = 2;
  const uint64_t exec = wave.exec();
  const unsigned controls = op.mods().op_sel;
  Row &a = wave.vectors[op.result.index], &b = wave.vectors[op.scalar_result.index];
  const Row before_a = a, before_b = b;
  const auto move = [&](Row& to, unsigned to_lane, const Row& from, unsigned from_lane) {
    if ((exec >> to_lane & 1) == 0) return;
    if ((controls & fetch_inactive) != 0 || (exec >> from_lane & 1) != 0)
      to.lane[to_lane] = from.lane[from_lane];
    else if ((controls & bound_ctrl) != 0)
      to.lane[to_lane] = 0;
  };
  for (unsigned even = 0; even < lanes; even += 2 * count)
    for (unsigned l = even; l < even + count; ++l) {
      move(a, l + count, before_b, l);
      move(b, l, before_a, l + count);
    }
}

void nothing(Wave&, const MicroOp&) {}

constexpr OpcodeRow rows[] = {
    {"v_mov_b32", lanewise<same32>},
    {"v_mov_b64", lanewise<[](uint64_t a) { return a; }>},
    {"v_accvgpr_read_b32", lanewise<same32>},
    {"v_accvgpr_write_b32", lanewise<same32>},
    {"v_accvgpr_mov_b32", lanewise<same32>},
    {"v_cndmask_b32", choose},
    {"v_readlane_b32", read_lane},
    {"v_readfirstlane_b32", read_first_lane},
    {"v_writelane_b32", write_lane},
    {"v_swap_b32", swap},
    {"v_permlane16_swap_b32", swap_rows<16>},
    {"v_permlane32_swap_b32", swap_rows<32>},
    {"v_nop", nothing},
    {"v_clrexcp", nothing}, // exceptions are not modelled
};

} // namespace

OpcodeRows vector_move_rows() {
  return rows;
}

} // namespace asmevo::emulator
