#include "emulator/lanes.h"

#include "emulator/half_bits.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace asmevo::emulator {

namespace {

// --- DPP: source 0 comes from another lane (CDNA3 ISA, 13.3.9 "DPP").

constexpr unsigned dpp_row_shl = 0x100, dpp_row_shr = 0x110, dpp_row_ror = 0x120, dpp_wave_shl = 0x130,
                   dpp_wave_rol = 0x134, dpp_wave_shr = 0x138, dpp_wave_ror = 0x13c, dpp_row_mirror = 0x140,
                   dpp_row_half_mirror = 0x141, dpp_row_bcast15 = 0x142, dpp_row_bcast31 = 0x143,
                   dpp_row_newbcast = 0x150;

// The lane that lane `l` reads, or none where there is no such lane.
std::optional<unsigned> dpp_source(unsigned control, unsigned l) {
  const unsigned row = l & ~15U, in_row = l & 15U;
  if (control < dpp_row_shl) return (l & ~3U) | (control >> (2 * (l & 3)) & 3);
  const unsigned amount = control & 15;
  switch (control & ~15U) {
  case dpp_row_shl: return in_row + amount < 16 ? std::optional(l + amount) : std::nullopt;
  case dpp_row_shr: return in_row >= amount ? std::optional(l - amount) : std::nullopt;
  case dpp_row_ror: return row | ((in_row - amount) & 15);
  case dpp_row_newbcast: return row | amount;
  default: break;
  }
  switch (control) {
  case dpp_wave_shl: return l < 63 ? std::optional(l + 1) : std::nullopt;
  case dpp_wave_rol: return (l + 1) & 63;
  case dpp_wave_shr: return l > 0 ? std::optional(l - 1) : std::nullopt;
  case dpp_wave_ror: return (l - 1) & 63;
  case dpp_row_mirror: return row | (15 - in_row);
  case dpp_row_half_mirror: return (l & ~7U) | (7 - (l & 7));
  case dpp_row_bcast15: return row > 0 ? std::optional(row - 1) : std::nullopt;
  case dpp_row_bcast31: return l >= 32 ? std::optional(31U) : std::nullopt;
  default: return l;
  }
}

// What one value of DPP_CTRL does: which lane each lane reads (itself where there is none), and who has one
// at all.
struct LaneMove {
  uint8_t from[lanes];
  uint64_t in_range = 0;
};

const LaneMove& lane_move(unsigned control) {
  constexpr unsigned controls = 0x200;
  static const std::vector<LaneMove> all = [] {
    std::vector<LaneMove> moves(controls);
    for (unsigned c = 0; c < controls; ++c)
      for (unsigned l = 0; l < lanes; ++l) {
        const auto from = dpp_source(c, l);
        moves[c].from[l] = static_cast<uint8_t>(from.value_or(l));
        moves[c].in_range |= uint64_t{from.has_value()} << l;
      }
    return moves;
  }();
  return all[control % controls];
}

// Lanes that get a value: a lane that EXEC disables cannot be read either.
uint64_t dpp_valid(const Wave& wave, const LaneMove& move) {
  const uint64_t exec = wave.exec();
  if (exec == all_lanes) return move.in_range;
  uint64_t readable = 0;
  for (unsigned l = 0; l < lanes; ++l) readable |= (exec >> move.from[l] & 1) << l;
  return readable & move.in_range;
}

void dpp_permute(const LaneMove& move, uint64_t valid, const uint32_t* from, Row& to) {
  constexpr Row zeros{};
  for (unsigned l = 0; l < lanes; ++l) to.lane[l] = from[move.from[l]];
  blend(to.lane, to.lane, zeros.lane, valid);
}

// Lanes of the rows of 16 and the banks of 4 that the instruction works on.
uint64_t dpp_enabled(const isa::Modifiers& m) {
  uint64_t banks = 0, rows = 0;
  for (unsigned n = 0; n < 4; ++n) {
    if ((m.bank_mask >> n & 1) != 0) banks |= uint64_t{0x000f'000f'000f'000f} << (4 * n);
    if ((m.row_mask >> n & 1) != 0) rows |= uint64_t{0xffff} << (16 * n);
  }
  return banks & rows;
}

// --- SDWA: a byte or word of a source, or of the result (CDNA3 ISA, 13.3.8 "SDWA").

struct Selection {
  unsigned shift, bits;
};
Selection selection(unsigned selector) {
  if (selector < 4) return {selector * 8, 8};
  if (selector < 6) return {(selector - 4) * 16, 16};
  return {0, 32};
}

uint32_t select(uint32_t value, unsigned selector, bool sign_extend) {
  const auto [shift, bits] = selection(selector);
  if (bits == 32) return value;
  const uint32_t part = value >> shift & ((1U << bits) - 1);
  if (!sign_extend) return part;
  const unsigned up = 32 - bits;
  return static_cast<uint32_t>(static_cast<int32_t>(part << up) >> up);
}

uint32_t place(uint32_t value, uint32_t before, unsigned selector, unsigned unused) {
  const auto [shift, bits] = selection(selector);
  if (bits == 32) return value;
  const uint32_t mask = ((1U << bits) - 1) << shift;
  const uint32_t part = value << shift & mask;
  constexpr unsigned pad = 0, sign_extend = 1;
  if (unused == pad) return part;
  if (unused == sign_extend) {
    const bool negative = (value >> (bits - 1) & 1) != 0;
    const uint32_t above = shift + bits == 32 ? 0 : ~uint32_t{0} << (shift + bits);
    return part | (negative ? above : 0);
  }
  return part | (before & ~mask);
}

// --- neg, abs

uint32_t sign_bit(LaneType t) {
  return t == LaneType::Float16 || t == LaneType::Int16 ? 0x8000U : 0x8000'0000U;
}

void apply_sign_modifiers(Row& row, uint32_t sign, bool abs, bool neg) {
  for (uint32_t& v : row.lane) {
    if (abs) v &= ~sign;
    if (neg) v ^= sign;
  }
}

void broadcast(Row& row, uint32_t value) {
  std::ranges::fill(row.lane, value);
}

// The source's register, or its scalar or constant in every lane.
SourceRows plain_rows(const Wave& wave, const Place& p, bool wide, SourceBuffer& buffer) {
  if (p.vector()) {
    const Row* row = wave.vectors + p.index;
    return {row->lane, wide ? row[1].lane : nullptr};
  }
  const uint64_t value = wide ? wave.scalar64(p) : wave.scalar32(p);
  broadcast(buffer.low, static_cast<uint32_t>(value));
  if (wide) broadcast(buffer.high, static_cast<uint32_t>(value >> 32));
  return {buffer.low.lane, wide ? buffer.high.lane : nullptr};
}

void copy_in(SourceRows& rows, SourceBuffer& buffer) {
  if (rows.low != buffer.low.lane) std::ranges::copy_n(rows.low, lanes, buffer.low.lane);
  if (rows.high != nullptr && rows.high != buffer.high.lane)
    std::ranges::copy_n(rows.high, lanes, buffer.high.lane);
  rows = {buffer.low.lane, rows.high == nullptr ? nullptr : buffer.high.lane};
}

} // namespace

SourceRows prepare_source(Wave& wave, const MicroOp& op, unsigned index, LaneType type,
                          SourceBuffer& buffer) {
  const bool wide = is_wide(type);
  SourceRows rows = plain_rows(wave, op.source[index], wide, buffer);
  if (op.plain_sources) return rows;

  const isa::Modifiers& m = op.mods();
  if (op.dpp() && index == 0) {
    const LaneMove& move = lane_move(m.dpp_ctrl);
    const uint64_t valid = dpp_valid(wave, move);
    SourceBuffer permuted;
    dpp_permute(move, valid, rows.low, permuted.low);
    if (wide) dpp_permute(move, valid, rows.high, permuted.high);
    buffer = permuted;
    rows = {buffer.low.lane, wide ? buffer.high.lane : nullptr};
  }
  copy_in(rows, buffer);
  if (op.sdwa() && index < 2) {
    const unsigned selector = index == 0 ? m.src0_sel : m.src1_sel;
    const bool sign_extend = (m.sext >> index & 1) != 0;
    for (uint32_t& v : buffer.low.lane) v = select(v, selector, sign_extend);
  }
  const bool half = type == LaneType::Float16 || type == LaneType::Int16;
  if (half && !op.sdwa() && (m.op_sel >> index & 1) != 0)
    for (uint32_t& v : buffer.low.lane) v >>= 16;
  apply_sign_modifiers(wide ? buffer.high : buffer.low, sign_bit(type), (m.abs >> index & 1) != 0,
                       (m.neg >> index & 1) != 0);
  return rows;
}

uint64_t write_mask(const Wave& wave, const MicroOp& op) {
  const uint64_t exec = wave.exec();
  if (!op.dpp()) return exec;
  const isa::Modifiers& m = op.mods();
  const uint64_t enabled = exec & dpp_enabled(m);
  // BOUND_CTRL: lanes without a source read 0 and are written, otherwise they stay as they are.
  return m.bound_ctrl ? enabled : enabled & dpp_valid(wave, lane_move(m.dpp_ctrl));
}

namespace {

// Output modifiers do nothing where denormal results are kept or IEEE is set (ISA manual, "Output
// modifiers").
bool omod_counts(const FloatMode& mode, LaneType type) {
  const bool denormals =
      type == LaneType::Float32 ? mode.keeps_output_denormals32() : mode.keeps_output_denormals64();
  return !denormals && !mode.ieee();
}

// 1: *2, 2: *4, 3: /2
template <class T>
T scaled(T value, unsigned omod) {
  constexpr T factors[] = {1, 2, 4, T{0.5}};
  const T result = value * factors[omod];
  return result == 0 || std::fpclassify(result) == FP_SUBNORMAL ? T{0} : result;
}

template <class T>
T clamped(T value, bool dx10_clamp) {
  if (std::isnan(value)) return dx10_clamp ? T{0} : value;
  return value > 1 ? T{1} : value > 0 ? value : T{0};
}

void modify_result(const Wave& wave, const MicroOp& op, LaneType type, Row& low, Row* high) {
  const isa::Modifiers& m = op.mods();
  const unsigned omod = omod_counts(wave.mode, type) ? m.omod : 0;
  const bool dx10 = wave.mode.dx10_clamp();
  if (omod == 0 && !m.clamp) return;
  const MxcsrScope plain(FloatMode::csr_plain);
  const auto apply = [&](auto value) {
    if (omod != 0) value = scaled(value, omod);
    return m.clamp ? clamped(value, dx10) : value;
  };
  for (unsigned l = 0; l < lanes; ++l) switch (type) {
    case LaneType::Float32:
      low.lane[l] = std::bit_cast<uint32_t>(apply(std::bit_cast<float>(low.lane[l])));
      break;
    case LaneType::Float16: {
      const uint32_t half = float_to_half(apply(half_to_float(low.lane[l])));
      low.lane[l] = omod != 0 && (half & 0x7c00) == 0 ? 0 : half; // a denormal is one of f16 only
      break;
    }
    case LaneType::Float64: {
      const auto bits =
          std::bit_cast<uint64_t>(apply(std::bit_cast<double>(low.lane[l] | uint64_t{high->lane[l]} << 32)));
      low.lane[l] = static_cast<uint32_t>(bits);
      high->lane[l] = static_cast<uint32_t>(bits >> 32);
      break;
    }
    default: break;
    }
}

} // namespace

void write_prepared(Wave& wave, const MicroOp& op, LaneType type, Row& low, Row* high) {
  const isa::Modifiers& m = op.mods();
  modify_result(wave, op, type, low, high);
  Row& to = wave.vectors[op.result.index];
  if (op.sdwa()) {
    for (unsigned l = 0; l < lanes; ++l)
      low.lane[l] = place(low.lane[l], to.lane[l], m.dst_sel, m.dst_unused);
  } else if (type == LaneType::Float16 || type == LaneType::Int16) {
    if (op.instruction->family == isa::Family::Vop3 && (m.op_sel & 8) != 0)
      for (unsigned l = 0; l < lanes; ++l) low.lane[l] = low.lane[l] << 16 | (to.lane[l] & 0xffff);
    else if (op.keeps_half)
      for (unsigned l = 0; l < lanes; ++l) low.lane[l] = (low.lane[l] & 0xffff) | (to.lane[l] & 0xffff0000);
  }
  const uint64_t mask = write_mask(wave, op);
  write_row(to, low, mask);
  if (high != nullptr) write_row(wave.vectors[op.result.index + 1], *high, mask);
}

} // namespace asmevo::emulator
