// How a vector ALU instruction is written: as a function of one lane's values. The templates here fetch the
// sources (whatever their encoding: register, scalar, constant, with neg/abs/sext, op_sel, SDWA or DPP), run
// the function for all 64 lanes in a loop that the compiler vectorises, and write the result under EXEC with
// clamp, omod and partial writes:
//
//   {"v_add_f32", lanewise<[](float a, float b) { return a + b; }>},
//   {"v_add_u32", lanewise<[](uint32_t a, uint32_t b) { return a + b; }>, lanewise<saturating_add>},
//   {"v_rndne_f32", lanewise<[](const FloatMode& m, float a) { ... }>},        // the function may ask for
//   the MODE
//   {"v_cmp_lt_f32", compare<[](float a, float b) { return a < b; }>},
//
// The types of parameters and result say how operands are read: float, double, Half (f16 bits), int32_t,
// uint32_t, int16_t, uint16_t, int64_t, uint64_t. 16-bit results zero the other half of the register unless
// the instruction keeps it.
#pragma once

#include "emulator/opcode_table.h"
#include "emulator/wave.h"

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asmevo::emulator {

/// The bits of an f16.
struct Half {
  uint16_t bits = 0;
  friend bool operator==(const Half&, const Half&) = default;
};

/// How many bits a source has and what neg, abs and clamp mean for it.
enum class LaneType : uint8_t { Float32, Float64, Float16, Int32, Int64, Int16 };

template <class T>
constexpr LaneType lane_type() {
  if constexpr (std::is_same_v<T, float>)
    return LaneType::Float32;
  else if constexpr (std::is_same_v<T, double>)
    return LaneType::Float64;
  else if constexpr (std::is_same_v<T, Half>)
    return LaneType::Float16;
  else if constexpr (sizeof(T) == 8)
    return LaneType::Int64;
  else if constexpr (sizeof(T) == 2)
    return LaneType::Int16;
  else
    return LaneType::Int32;
}

constexpr bool is_wide(LaneType t) {
  return t == LaneType::Float64 || t == LaneType::Int64;
}

/// Room for a source that is not simply a register.
struct SourceBuffer {
  Row low, high;
};

/// Where a source's 64 values are.
struct SourceRows {
  const uint32_t* low = nullptr;
  const uint32_t* high = nullptr; // upper dwords of 64-bit values
};

template <class T>
struct Values {
  const uint32_t* low;
  const uint32_t* high;
  T operator[](unsigned lane) const {
    if constexpr (sizeof(T) == 8)
      return std::bit_cast<T>(low[lane] | uint64_t{high[lane]} << 32);
    else if constexpr (sizeof(T) == 2)
      return std::bit_cast<T>(static_cast<uint16_t>(low[lane]));
    else
      return std::bit_cast<T>(low[lane]);
  }
};

/// A source that needs work: see lanes.cpp.
SourceRows prepare_source(Wave&, const MicroOp&, unsigned index, LaneType, SourceBuffer&);

template <class T>
Values<T> fetch(Wave& wave, const MicroOp& op, unsigned index, SourceBuffer& buffer) {
  const Place& p = op.source[index];
  if (p.vector() && op.plain_sources) [[likely]] {
    const Row* row = wave.vectors + p.index;
    return {row->lane, sizeof(T) == 8 ? row[1].lane : nullptr};
  }
  const SourceRows rows = prepare_source(wave, op, index, lane_type<T>(), buffer);
  return {rows.low, rows.high};
}

/// The results of 64 lanes before they are written.
template <class T>
struct Results {
  Row low;
  std::conditional_t<sizeof(T) == 8, Row, std::tuple<>> high;
  void set(unsigned lane, T value) {
    if constexpr (sizeof(T) == 8) {
      const auto bits = std::bit_cast<uint64_t>(value);
      low.lane[lane] = static_cast<uint32_t>(bits);
      high.lane[lane] = static_cast<uint32_t>(bits >> 32);
    } else if constexpr (sizeof(T) == 2) {
      low.lane[lane] = std::bit_cast<uint16_t>(value);
    } else {
      low.lane[lane] = std::bit_cast<uint32_t>(value);
    }
  }
};

/// Which lanes an instruction writes: EXEC, and for DPP only where row and bank mask and the source lane
/// allow it.
uint64_t write_mask(const Wave&, const MicroOp&);

/// to = `set` in the lanes of `mask`, `clear` in the others; `to` may be one of them. Eight lanes at a time,
/// which compilers do not find by themselves.
inline void blend(uint32_t* to, const uint32_t* set, const uint32_t* clear, uint64_t mask) {
  using Eight = uint32_t __attribute__((vector_size(32)));
  constexpr Eight bits = {1, 2, 4, 8, 16, 32, 64, 128};
  for (unsigned l = 0; l < lanes; l += 8) {
    Eight from_set, from_clear;
    __builtin_memcpy(&from_set, set + l, sizeof from_set);
    __builtin_memcpy(&from_clear, clear + l, sizeof from_clear);
    const auto chosen = (bits & static_cast<uint32_t>(mask >> l)) != 0;
    from_set = chosen ? from_set : from_clear;
    __builtin_memcpy(to + l, &from_set, sizeof from_set);
  }
}

/// Writes rows as they are in the lanes of `mask`.
inline void write_row(Row& to, const Row& from, uint64_t mask) {
  if (mask == all_lanes) [[likely]] {
    to = from;
    return;
  }
  blend(to.lane, from.lane, to.lane, mask);
}

/// Applies omod, clamp, op_sel, SDWA's destination selection or a kept half, then writes.
void write_prepared(Wave&, const MicroOp&, LaneType, Row& low, Row* high);

template <class T>
void write_result(Wave& wave, const MicroOp& op, Results<T>& results) {
  Row* high = nullptr;
  if constexpr (sizeof(T) == 8) high = &results.high;
  if (!op.plain_result) [[unlikely]]
    return write_prepared(wave, op, lane_type<T>(), results.low, high);
  const uint64_t exec = wave.exec();
  write_row(wave.vectors[op.result.index], results.low, exec);
  if constexpr (sizeof(T) == 8) write_row(wave.vectors[op.result.index + 1], results.high, exec);
}

// --- functions of one lane

template <class R, class... A>
struct LaneSignature {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr bool takes_mode = false;
};
template <class R, class... A>
struct LaneSignature<R, const FloatMode&, A...> : LaneSignature<R, A...> {
  static constexpr bool takes_mode = true;
};
template <class R, class... A>
LaneSignature<R, A...> signature_of(R (*)(A...));

template <auto F>
using SignatureOf = decltype(signature_of(+F));

/// 16-bit and 64-bit floats obey other MODE fields than 32-bit ones.
template <class T>
constexpr bool uses_mode64 = std::is_same_v<T, double> || std::is_same_v<T, Half>;

namespace detail {
// flatten: a loop with a call left in it does not vectorise.
template <auto F, class S, size_t... I, class Sink>
[[gnu::flatten]] void run_lanes(Wave& wave, const MicroOp& op, std::index_sequence<I...>, Sink sink) {
  using Arguments = typename S::Arguments;
  SourceBuffer buffers[sizeof...(I) == 0 ? 1 : sizeof...(I)];
  const auto values = std::tuple(fetch<std::tuple_element_t<I, Arguments>>(wave, op, I, buffers[I])...);
  const auto loop = [&] {
    for (unsigned l = 0; l < lanes; ++l) {
      if constexpr (S::takes_mode)
        sink(l, F(wave.mode, std::get<I>(values)[l]...));
      else
        sink(l, F(std::get<I>(values)[l]...));
    }
  };
  constexpr bool mode64 =
      (uses_mode64<typename S::Result> || ... || uses_mode64<std::tuple_element_t<I, Arguments>>);
  if constexpr (mode64) {
    if (wave.mode.csr32() != wave.mode.csr64()) [[unlikely]] {
      const MxcsrScope scope(wave.mode.csr64());
      loop();
      return;
    }
  }
  loop();
}

template <auto F, class Sink>
void run_lanes(Wave& wave, const MicroOp& op, Sink sink) {
  using S = SignatureOf<F>;
  run_lanes<F, S>(wave, op, std::make_index_sequence<std::tuple_size_v<typename S::Arguments>>(), sink);
}
} // namespace detail

/// result = F(sources), lane by lane. F: a captureless lambda or function; must not depend on other lanes.
template <auto F>
void lanewise(Wave& wave, const MicroOp& op) {
  using R = typename SignatureOf<F>::Result;
  Results<R> results;
  detail::run_lanes<F>(wave, op, [&](unsigned l, R value) { results.set(l, value); });
  write_result(wave, op, results);
}

/// The bits of `flags` (0 or 1 a lane) as a mask.
inline uint64_t gather_mask(const uint8_t* flags) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < lanes; i += 8) {
    uint64_t eight;
    __builtin_memcpy(&eight, flags + i, 8);
    mask |= (eight * 0x0102040810204080U >> 56) << i;
  }
  return mask;
}

/// A comparison's or carry's mask goes to SDST (or VCC); lanes outside EXEC give 0.
template <auto F>
void compare(Wave& wave, const MicroOp& op) {
  alignas(64) uint8_t flags[lanes];
  detail::run_lanes<F>(wave, op, [&](unsigned l, bool value) { flags[l] = value ? 1 : 0; });
  wave.set_pair(op.scalar_result.index, gather_mask(flags) & wave.exec());
}

/// v_cmpx: EXEC as well (CDNA3 ISA: both SDST and EXEC get the mask).
template <auto F>
void compare_exec(Wave& wave, const MicroOp& op) {
  compare<F>(wave, op);
  wave.set_exec(wave.pair(op.scalar_result.index));
}

} // namespace asmevo::emulator
