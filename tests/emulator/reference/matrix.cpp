// MFMA, by the layout equations and rules of arithmetic that docs/emulator.md states: one result at a time,
// sums in integers.
#include "emulator/reference/matrix_shape.h"
#include "emulator/reference/vector.h"

#include <bit>
#include <cmath>

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using isa::Role;

unsigned group_lane(unsigned lane, unsigned blgp) {
  switch (blgp) {
  case 1: return lane % 32;
  case 2: return lane % 32 + 32;
  case 3: return (lane + 16) % 64;
  case 4: return lane % 16;
  case 5: return lane % 16 + 16;
  case 6: return lane % 16 + 32;
  case 7: return lane % 16 + 48;
  default: return lane;
  }
}

struct Product {
  const Instruction& i;
  const State& state;
  MatrixShape s;
  std::vector<uint64_t> a, b, c, d; // by block, row, k; block, column, k; block, row, column

  void fetch() {
    const bool wide = s.a.kind == MatrixFormat::Kind::F64;
    const unsigned per_lane = s.k * s.m * s.blocks / lane_count,
                   per_lane_b = s.k * s.n * s.blocks / lane_count;
    if (per_lane == 0 || per_lane_b == 0) return; // no shape is that small
    const RegUnit first = i.find(Role::Src0)->reg.first, second = i.find(Role::Src1)->reg.first;
    for (unsigned block = 0; block < s.blocks; ++block) {
      const unsigned from =
          wide ? block : (block >> i.mods.cbsz << i.mods.cbsz) + (i.mods.cbsz != 0 ? i.mods.abid : 0);
      for (unsigned row = 0; row < s.m; ++row)
        for (unsigned k = 0; k < s.k; ++k)
          a.push_back(
              item_of(state, first, row + s.m * (from + s.blocks * (k / per_lane)), k % per_lane, s.a.bits));
      for (unsigned column = 0; column < s.n; ++column)
        for (unsigned k = 0; k < s.k; ++k) {
          const unsigned lane = column + s.n * (block + s.blocks * (k / per_lane_b));
          b.push_back(
              item_of(state, second, group_lane(lane, wide ? 0 : i.mods.blgp), k % per_lane_b, s.b.bits));
        }
    }
  }

  std::pair<unsigned, unsigned> place(unsigned block, unsigned row, unsigned column) const {
    return result_place(s, block, row, column);
  }

  uint64_t addend(unsigned item, unsigned lane) const {
    const Operand* o = i.find(Role::Src2);
    const bool wide = s.a.kind == MatrixFormat::Kind::F64;
    if (o->kind != Operand::Kind::Register)
      return wide ? static_cast<uint64_t>(o->value) : static_cast<uint32_t>(o->value);
    return wide ? state.vector64(o->reg.first + 2 * item, lane) : state.vectors[o->reg.first + item][lane];
  }

  uint64_t element(const uint64_t* row, const uint64_t* column, uint64_t start) const {
    // CDNA3's manual has it, CDNA2's does not.
    const bool saturates = state.target.gfx != isa::Gfx::gfx90a && Mode{state.mode}.fp16_overflow();
    switch (s.a.kind) {
    case MatrixFormat::Kind::F64: return chain64(row, column, start);
    case MatrixFormat::Kind::F32: return chain32(row, column, start, saturates);
    case MatrixFormat::Kind::I8: return integers(row, column, start, saturates);
    default: break;
    }
    const bool halves = s.a.kind == MatrixFormat::Kind::F16 || s.a.kind == MatrixFormat::Kind::Bf16;
    if (state.target.gfx == isa::Gfx::gfx90a) {
      const bool twos = s.a.kind == MatrixFormat::Kind::Bf16 && !i.base_mnemonic.ends_with("_1k");
      return pairwise_sum(s.a, {row, s.k}, {column, s.k}, static_cast<uint32_t>(start), twos ? 2 : 4,
                          saturates);
    }
    const unsigned group = s.a.kind == MatrixFormat::Kind::Xf32 ? 4 : halves ? 8 : 16;
    return grouped_sum(s.a, s.b, {row, s.k}, {column, s.k}, static_cast<uint32_t>(start), group, saturates);
  }

  // BLGP negates A, B and C.
  uint64_t chain64(const uint64_t* row, const uint64_t* column, uint64_t start) const {
    const auto sign = [&](unsigned n) { return uint64_t{i.mods.blgp >> n & 1U} << 63; };
    auto total = std::bit_cast<double>(start ^ sign(2));
    for (unsigned k = 0; k < s.k; ++k)
      total = std::fma(std::bit_cast<double>(row[k] ^ sign(0)), std::bit_cast<double>(column[k] ^ sign(1)),
                       total);
    return std::bit_cast<uint64_t>(total);
  }
  uint64_t chain32(const uint64_t* row, const uint64_t* column, uint64_t start, bool saturates) const {
    const bool keeps = (state.mode >> 4 & 1) != 0;
    auto total = std::bit_cast<float>(static_cast<uint32_t>(start));
    bool infinite = std::isinf(total);
    for (unsigned k = 0; k < s.k; ++k) {
      const auto x = std::bit_cast<float>(static_cast<uint32_t>(flushed(f32, row[k], keeps)));
      const auto y = std::bit_cast<float>(static_cast<uint32_t>(flushed(f32, column[k], keeps)));
      infinite = infinite || std::isinf(x) || std::isinf(y);
      total = std::fma(x, y, total);
      if (saturates && !infinite && std::isinf(total)) total = std::copysign(0x1.fffffep127F, total);
    }
    return std::bit_cast<uint32_t>(total);
  }
  uint64_t integers(const uint64_t* row, const uint64_t* column, uint64_t start, bool saturates) const {
    int64_t total = static_cast<int32_t>(start);
    for (unsigned k = 0; k < s.k; ++k) total += sign_extended(row[k], 8) * sign_extended(column[k], 8);
    if (saturates) total = total < INT32_MIN ? INT32_MIN : total > INT32_MAX ? INT32_MAX : total;
    return static_cast<uint32_t>(total);
  }

  void run() {
    fetch();
    d.resize(size_t{s.blocks} * s.m * s.n);
    for (unsigned block = 0; block < s.blocks; ++block)
      for (unsigned row = 0; row < s.m; ++row)
        for (unsigned column = 0; column < s.n; ++column) {
          const auto [item, lane] = place(block, row, column);
          d[(block * s.m + row) * s.n + column] =
              element(&a[(block * s.m + row) * s.k], &b[(block * s.n + column) * s.k], addend(item, lane));
        }
  }
};

} // namespace

bool run_matrix(const Instruction& i, State& state) {
  if (run_exact_matrix(i, state)) return true;
  const auto shape = matrix_shape(i, state.target);
  if (!shape) return false;
  Product p{i, state, *shape, {}, {}, {}, {}};
  p.run();
  const bool wide = shape->a.kind == MatrixFormat::Kind::F64;
  const isa::RegRange to = i.find(Role::Vdst)->reg;
  for (unsigned block = 0; block < shape->blocks; ++block)
    for (unsigned row = 0; row < shape->m; ++row)
      for (unsigned column = 0; column < shape->n; ++column) {
        const auto [item, lane] = p.place(block, row, column);
        const uint64_t value = p.d[(block * shape->m + row) * shape->n + column];
        const unsigned unit = to.first + item * (wide ? 2 : 1);
        state.vectors[unit][lane] = static_cast<uint32_t>(value);
        if (wide) state.vectors[unit + 1][lane] = static_cast<uint32_t>(value >> 32);
      }
  const bool integer = shape->a.kind == MatrixFormat::Kind::I8;
  for (unsigned d = 0; d < to.count; ++d)
    state.wrote(static_cast<RegUnit>(to.first + d), integer ? Tolerance::None
                                                    : wide  ? Tolerance::NanDouble
                                                            : Tolerance::NanFloat);
  return true;
}

} // namespace asmevo::reference
