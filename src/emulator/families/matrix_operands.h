// What dense and sparse matrix instructions share: fetching factors and accumulators, and which elements
// meet.
#pragma once

#include "emulator/families/matrix_arithmetic.h"
#include "emulator/families/matrix_layout.h"

namespace asmevo::emulator {

inline MatrixMode matrix_mode(const Wave& wave) {
  const isa::Target& target = wave.dispatch->target;
  return {.ocp = target.gfx == isa::Gfx::gfx950,
          // CDNA4 ISA 7.3; gfx90a's manual gives the bit no meaning for matrix instructions.
          .flush32 = !wave.mode.keeps_input_denormals32(),
          .saturate = wave.mode.fp16_overflow() && target.gfx != isa::Gfx::gfx90a};
}

/// The registers of a factor, lanes exchanged as `map` says.
struct MappedRows {
  Row rows[8];
  const Row* map(const Row* from, unsigned count, const LaneMap& map) {
    for (unsigned r = 0; r < count; ++r)
      for (unsigned l = 0; l < lanes; ++l) rows[r].lane[l] = from[r].lane[map[l]];
    return rows;
  }
};

/// Where each k of a factor's first row or column is in the prepared operand.
template <FactorLayout L>
inline constexpr auto element_places = [] {
  std::array<uint16_t, L.k> places{};
  for (unsigned k = 0; k < L.k; ++k) {
    const ItemPosition p = L.position(k);
    places[k] = static_cast<uint16_t>(p.item * lanes + p.lane);
  }
  return places;
}();

/// Where each row of each block begins among the accumulators.
template <ResultLayout L>
inline constexpr auto row_places = [] {
  std::array<uint16_t, size_t{L.m} * L.blocks> places{};
  for (unsigned n = 0; n < places.size(); ++n) {
    const ItemPosition p = L.position(n / L.m, n % L.m, 0);
    places[n] = static_cast<uint16_t>(p.item * lanes + p.lane);
  }
  return places;
}();

/// C while it becomes D. D may share registers with any source, so it is written when everything has been
/// read.
template <class T, MatrixShape S>
class Accumulators {
 public:
  static constexpr ResultLayout layout = layout_of_result(S, sizeof(T) == 8);

  void load(const Wave& wave, const Place& from) {
    for (unsigned item = 0; item < layout.items(); ++item) {
      if (!from.vector()) {
        std::fill_n(value_[item], lanes, constant(from.value));
      } else if constexpr (sizeof(T) == 8) {
        const Row* rows = wave.vectors + from.index + size_t{2} * item;
        for (unsigned l = 0; l < lanes; ++l)
          value_[item][l] = std::bit_cast<T>(rows[0].lane[l] | uint64_t{rows[1].lane[l]} << 32);
      } else {
        __builtin_memcpy(value_[item], wave.vectors[from.index + item].lane, sizeof value_[item]);
      }
    }
  }

  void negate() {
    for (auto& item : value_)
      for (T& v : item) v = -v;
  }

  /// The S.n accumulators of a row of a block.
  T* row(unsigned block, unsigned row) { return &value_[0][0] + row_places<layout>[block * S.m + row]; }

  void store(Wave& wave, const Place& to) const {
    for (unsigned item = 0; item < layout.items(); ++item) {
      if constexpr (sizeof(T) == 8) {
        Row* rows = wave.vectors + to.index + size_t{2} * item;
        for (unsigned l = 0; l < lanes; ++l) {
          const auto bits = std::bit_cast<uint64_t>(value_[item][l]);
          rows[0].lane[l] = static_cast<uint32_t>(bits);
          rows[1].lane[l] = static_cast<uint32_t>(bits >> 32);
        }
      } else {
        __builtin_memcpy(wave.vectors[to.index + item].lane, value_[item], sizeof value_[item]);
      }
    }
  }

 private:
  static T constant(uint64_t bits) {
    if constexpr (sizeof(T) == 8)
      return std::bit_cast<T>(bits);
    else
      return std::bit_cast<T>(static_cast<uint32_t>(bits));
  }
  alignas(64) T value_[layout.items()][lanes];
};

} // namespace asmevo::emulator
