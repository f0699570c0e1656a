// Read-modify-write operations, in memory (buffer, global, flat, scalar) and in LDS. An operation is a
// function of the old value and the data; what surrounds it is the same for all.
//
// Float operations round to nearest even whatever MODE says. Denormals (CDNA4 ISA, 9.2.2, table 53): the LDS
// obeys MODE (but not for 64-bit add), memory keeps them. gfx90a's 32-bit add in memory flushes them. The
// manual says that of CDNA3 and CDNA4 too; the compiler, which uses the instruction there where denormals
// matter and does not on gfx90a, is followed instead.
#pragma once

#include "emulator/half_bits.h"
#include "emulator/memory_access.h"

#include <atomic>
#include <cmath>
#include <limits>

namespace asmevo::emulator {

/// Two 16-bit floats.
struct PackedHalf {
  uint32_t bits = 0;
};
struct PackedBfloat {
  uint32_t bits = 0;
};

/// How the unit that does the operation treats floats.
struct AtomicRules {
  uint32_t csr = FloatMode::csr_plain;
  bool flush_input = false;  // comparisons, 16-bit add
  bool flush_output = false; // 16-bit add
};

template <class T>
constexpr bool is_atomic_float =
    std::is_floating_point_v<T> || std::is_same_v<T, PackedHalf> || std::is_same_v<T, PackedBfloat>;

template <class T>
AtomicRules lds_rules(const FloatMode& mode) {
  constexpr uint32_t rounding = 0x6000;
  if constexpr (std::is_same_v<T, float>)
    return {mode.csr32() & ~rounding, !mode.keeps_input_denormals32(), !mode.keeps_output_denormals32()};
  else if constexpr (std::is_same_v<T, double>)
    return {FloatMode::csr_plain, !mode.keeps_input_denormals64(), !mode.keeps_output_denormals64()};
  else
    return {mode.csr64() & ~rounding, !mode.keeps_input_denormals64(), !mode.keeps_output_denormals64()};
}

template <class T>
AtomicRules memory_rules(const isa::Target& target) {
  constexpr uint32_t flushing = FloatMode::csr_plain | 0x8040;
  if (std::is_same_v<T, float> && target.gfx == isa::Gfx::gfx90a) return {flushing, true, true};
  return {};
}

// --- operations

namespace atomic_op {

template <class T>
T add(T old, T data) {
  return static_cast<T>(old + data);
}
template <class T>
T sub(T old, T data) {
  return old - data;
}
template <class T>
T rsub(T old, T data) {
  return data - old;
}
template <class T>
T inc(T old, T limit) {
  return old >= limit ? 0 : old + 1;
}
template <class T>
T dec(T old, T limit) {
  return old == 0 || old > limit ? limit : old - 1;
}
template <class T>
T min(T old, T data) {
  return data < old ? data : old;
}
template <class T>
T max(T old, T data) {
  return data > old ? data : old;
}
template <class T>
T bit_and(T old, T data) {
  return old & data;
}
template <class T>
T bit_or(T old, T data) {
  return old | data;
}
template <class T>
T bit_xor(T old, T data) {
  return old ^ data;
}
template <class T>
T swap(T, T data) {
  return data;
}
/// Memory's order of data; the LDS has the comparand first.
template <class T>
T compare_swap(T old, T data, T comparand) {
  return old == comparand ? data : old;
}
template <class T>
T compare_store(T old, T comparand, T data) {
  return old == comparand ? data : old;
}
template <class T>
T mask_or(T old, T mask, T data) {
  return (old & ~mask) | data;
}
inline uint32_t wrap(uint32_t old, uint32_t data, uint32_t data1) {
  return old >= data ? old - data : old + data1;
}

// The order of CDNA4 ISA 9.2.3: -0 is less than +0; a signalling NaN wins and is quieted, a quiet one loses.
// Denormals are flushed for the comparison only.
template <class T>
T quieted(T nan) {
  return nan + nan;
}
template <class T>
bool is_signalling(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Bits quiet = Bits{1} << (std::numeric_limits<T>::digits - 2);
  return std::isnan(value) && (std::bit_cast<Bits>(value) & quiet) == 0;
}
// By the bits: the host may be told to take denormals for 0 itself.
template <class T>
T flushed(T value, bool flush) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  constexpr Bits exponent = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const auto bits = std::bit_cast<Bits>(value);
  return flush && (bits & exponent) == 0 ? std::bit_cast<T>(bits & sign) : value;
}
template <class T>
bool less(T a, T b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <class T>
T float_min(const AtomicRules& rules, T old, T data) {
  if (is_signalling(old)) return quieted(old);
  if (is_signalling(data)) return quieted(data);
  if (std::isnan(old)) return data;
  return less(flushed(data, rules.flush_input), flushed(old, rules.flush_input)) ? data : old;
}
template <class T>
T float_max(const AtomicRules& rules, T old, T data) {
  if (is_signalling(old)) return quieted(old);
  if (is_signalling(data)) return quieted(data);
  if (std::isnan(old)) return data;
  return less(flushed(old, rules.flush_input), flushed(data, rules.flush_input)) ? data : old;
}
/// Flushing, it flushes what it stores too.
template <class T>
T float_compare_store(const AtomicRules& rules, T old, T comparand, T data) {
  const bool flush = rules.flush_input;
  return flushed(flushed(old, flush) == flushed(comparand, flush) ? data : old, flush);
}

inline float half_operand(uint32_t bits, bool flush) {
  const float value = half_to_float(bits);
  return flush && std::fabs(value) < 0x1p-14F ? std::copysign(0.0F, value) : value;
}
inline uint32_t half_result(float value, bool flush) {
  const uint32_t bits = float_to_half(value);
  return flush && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
}
/// The sum of two f16 in 24 bits, rounded again to 11, is the sum rounded once.
inline PackedHalf add_halves(const AtomicRules& r, PackedHalf old, PackedHalf data) {
  const auto sum = [&](unsigned shift) {
    const float a = half_operand(old.bits >> shift & 0xffff, r.flush_input);
    const float b = half_operand(data.bits >> shift & 0xffff, r.flush_input);
    return half_result(a + b, r.flush_output) << shift;
  };
  return {sum(0) | sum(16)};
}

inline uint32_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline PackedBfloat add_bfloats(PackedBfloat old, PackedBfloat data) {
  const auto sum = [&](unsigned shift) {
    const auto a = std::bit_cast<float>(old.bits >> shift << 16),
               b = std::bit_cast<float>(data.bits >> shift << 16);
    return float_to_bfloat(a + b) << shift;
  };
  return {sum(0) | sum(16)};
}

} // namespace atomic_op

// --- what surrounds them

template <class T>
using AtomicBits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T value_of(const Row* rows, unsigned lane) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(rows[0].lane[lane] | uint64_t{rows[1].lane[lane]} << 32);
  else
    return std::bit_cast<T>(rows[0].lane[lane]);
}
template <class T>
void set_value(Row* rows, unsigned lane, T value) {
  const auto bits = std::bit_cast<AtomicBits<T>>(value);
  rows[0].lane[lane] = static_cast<uint32_t>(bits);
  if constexpr (sizeof(T) == 8) rows[1].lane[lane] = static_cast<uint32_t>(bits >> 32);
}

/// The new value: F(old, data...), or F(rules, old, data...) where F asks for the rules.
template <class T, auto F, class... Data>
T apply(const AtomicRules& rules, T old, Data... data) {
  if constexpr (std::is_invocable_v<decltype(F), const AtomicRules&, T, Data...>)
    return F(rules, old, data...);
  else
    return F(old, data...);
}

/// Replaces the value at `at`, which is aligned, and returns the old one. `shared`: other threads may do the
/// same.
template <class T, auto F, bool shared, class... Data>
T update(uint8_t* at, const AtomicRules& rules, Data... data) {
  using Bits = AtomicBits<T>;
  Bits old;
  if constexpr (shared) {
    const std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(at));
    old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(
        old, std::bit_cast<Bits>(apply<T, F>(rules, std::bit_cast<T>(old), data...)),
        std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
  } else {
    std::memcpy(&old, at, sizeof old);
    const auto fresh = std::bit_cast<Bits>(apply<T, F>(rules, std::bit_cast<T>(old), data...));
    std::memcpy(at, &fresh, sizeof fresh);
  }
  return std::bit_cast<T>(old);
}

/// Whether F has two data operands.
template <class T, auto F>
constexpr bool takes_two = std::is_invocable_v<decltype(F), T, T, T> ||
                           std::is_invocable_v<decltype(F), const AtomicRules&, T, T, T>;

namespace detail {
template <class T, auto F, bool shared>
void update_lanes(Wave& wave, const MicroOp& op, uint64_t mask, const AtomicRules& rules,
                  const LanePointers& p) {
  const Row* data = wave.vectors + op.source[MicroOp::data].index;
  // Memory instructions have both operands in a row of registers, LDS ones in two places.
  const Place& second = op.source[MicroOp::data1];
  const Row* data1 = second.present() ? wave.vectors + second.index : data + sizeof(T) / 4;
  Row* result = op.result.present() ? wave.vectors + op.result.index : nullptr;
  for_each_lane(mask, [&](unsigned l) {
    T old;
    if constexpr (takes_two<T, F>)
      old = update<T, F, shared>(p.at[l], rules, value_of<T>(data, l), value_of<T>(data1, l));
    else
      old = update<T, F, shared>(p.at[l], rules, value_of<T>(data, l));
    if (result != nullptr) set_value(result, l, old);
  });
}

template <class T, auto F, bool shared>
void update_lanes_by(Wave& wave, const MicroOp& op, uint64_t mask, const AtomicRules& rules,
                     const LanePointers& p) {
  if constexpr (is_atomic_float<T>) {
    const MxcsrScope scope(rules.csr);
    update_lanes<T, F, shared>(wave, op, mask, rules, p);
  } else {
    update_lanes<T, F, shared>(wave, op, mask, rules, p);
  }
}
} // namespace detail

/// A vector atomic: lanes one after the other, lowest first.
template <Resolver resolve, class T, auto F>
void atomic(Wave& wave, const MicroOp& op) {
  LanePointers p;
  if (!resolve(wave, op, wave.exec(), Access::updating(sizeof(T)), p)) return;
  if (const uint64_t memory = p.mask & ~p.in_lds)
    detail::update_lanes_by<T, F, true>(wave, op, memory, memory_rules<T>(wave.dispatch->target), p);
  if (p.in_lds != 0) detail::update_lanes_by<T, F, false>(wave, op, p.in_lds, lds_rules<T>(wave.mode), p);
  if (p.copied != 0) write_back(wave, p);
  if (p.dropped != 0 && op.result.present())
    for_each_lane(p.dropped, [&](unsigned l) { set_value(wave.vectors + op.result.index, l, T{}); });
}

} // namespace asmevo::emulator
