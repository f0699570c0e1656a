// Where the elements of a matrix instruction's operands are. D = A*B + C, A is M x K, B is K x N, C and D are
// M x N, and some instructions do several such products ("blocks") at once. The 64 lanes share out the
// elements: a lane holds a few consecutive ones, its "items", packed into its registers from bit 0 of the
// first register on.
//
// v_mfma_f32_32x32x8_f16, for example: A has 32*8 f16 elements, 4 a lane in two registers. Lanes 0..31 hold k
// = 0..3 of rows 0..31, lanes 32..63 k = 4..7. D has 32*32 elements, 16 a lane: item t of lane l is column l
// % 32, row t % 4 + 8 * (t / 4) + 4 * (l / 32).
//
// CDNA3 ISA, chapter 7; where its text and AMD's matrix instruction calculator differ (4x4x4 f64), the
// calculator is followed.
#pragma once

#include <array>
#include <cstdint>

namespace asmevo::emulator {

/// How k is shared out among lanes.
enum class KOrder : uint8_t {
  Consecutive, // each lane holds consecutive k
  // 8-bit operands of f8f6f4, and B of gfx950's wide sparse forms: the first half of a lane's registers is
  // from the lower half of K, the second from the upper.
  Halves,
};

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  KOrder order_a = KOrder::Consecutive, order_b = KOrder::Consecutive;
};

struct ItemPosition {
  unsigned item = 0, lane = 0;
  friend constexpr bool operator==(const ItemPosition&, const ItemPosition&) = default;
};

/// One of the two factors, seen as `rows` vectors of length k in each block: rows of A, columns of B.
struct FactorLayout {
  unsigned rows = 0, k = 0, blocks = 1;
  KOrder order = KOrder::Consecutive;

  constexpr unsigned items() const { return k * rows * blocks / 64; }
  /// Where element k of row 0 of block 0 is. Row r of block b is `b * rows + r` lanes further.
  constexpr ItemPosition position(unsigned at_k) const {
    const unsigned per_lane = items(), run = rows * blocks;
    if (order == KOrder::Consecutive) return {at_k % per_lane, run * (at_k / per_lane)};
    const unsigned half = k / 2, items_half = per_lane / 2, in_half = at_k % half;
    return {in_half % items_half + (at_k / half) * items_half, run * (in_half / items_half)};
  }
  constexpr ItemPosition position(unsigned block, unsigned row, unsigned at_k) const {
    ItemPosition p = position(at_k);
    p.lane += block * rows + row;
    return p;
  }
};

constexpr FactorLayout layout_of_a(const MatrixShape& s) {
  return {s.m, s.k, s.blocks, s.order_a};
}
constexpr FactorLayout layout_of_b(const MatrixShape& s) {
  return {s.n, s.k, s.blocks, s.order_b};
}

/// C and D.
struct ResultLayout {
  unsigned m = 0, n = 0, blocks = 1;
  unsigned group = 4; // consecutive rows in a lane: 4, for 64-bit results 1

  constexpr unsigned items() const { return m * n * blocks / 64; }
  /// Columns of a row stand in consecutive lanes.
  constexpr ItemPosition position(unsigned block, unsigned row, unsigned column) const {
    const unsigned area = n * m / group; // lanes that one block could fill with a group each
    const unsigned blocks_abreast = area >= 64 ? 1 : 64 / area;
    const unsigned groups_abreast = 64 / blocks_abreast / n;
    const unsigned groups_deep = m / (group * groups_abreast);
    return {row % group + group * (row / (group * groups_abreast) + groups_deep * (block / blocks_abreast)),
            column + n * (block % blocks_abreast + blocks_abreast * (row / group % groups_abreast))};
  }
};

constexpr ResultLayout layout_of_result(const MatrixShape& s, bool wide) {
  return {s.m, s.n, s.blocks, wide ? 1U : 4U};
}

/// Which lane of the register each lane's value is taken from.
using LaneMap = std::array<uint8_t, 64>;

/// CBSZ and ABID (A, multi-block forms): in each run of 2^cbsz blocks, block `abid` of A serves all of them.
LaneMap broadcast_map(const FactorLayout& a, unsigned cbsz, unsigned abid);

/// BLGP (B): 1 and 2 give both halves of the wave the lower or upper one, 3 rotates by 16 lanes, 4 to 7 give
/// all quarters the first to fourth.
LaneMap group_map(unsigned blgp);

} // namespace asmevo::emulator
