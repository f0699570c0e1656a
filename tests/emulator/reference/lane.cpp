#include "emulator/reference/lane.h"

#include "isa/encoding.h"

namespace asmevo::reference {

using isa::Extension;
using isa::Instruction;
using isa::Operand;
using isa::Role;

Rules Lane::rules(Type t) const {
  const uint32_t m = state.mode;
  const unsigned round = t == Type::F32 ? m & 3 : m >> 2 & 3, denormals = t == Type::F32 ? m >> 4 : m >> 6;
  return {.round = static_cast<Round>(round),
          .keeps_inputs = (denormals & 1) != 0,
          .keeps_outputs = (denormals & 2) != 0,
          .saturates = t == Type::F16 && mode().fp16_overflow(),
          .flushes_rounded = t == Type::F16};
}

uint64_t Lane::fit(Type t, Signed value) const {
  const unsigned bits = is_narrow(t) ? 16 : is_wide(t) ? 64 : 32;
  if (clamp()) {
    const bool has_sign = t == Type::I16 || t == Type::I32 || t == Type::I64;
    constexpr Signed one = 1;
    const Signed least = has_sign ? -(one << (bits - 1)) : 0,
                 most = (one << (has_sign ? bits - 1 : bits)) - 1;
    if (value < least) value = least;
    if (value > most) value = most;
  }
  const auto low = static_cast<uint64_t>(value);
  return bits == 64 ? low : low & ((uint64_t{1} << bits) - 1);
}

uint64_t scalar_value(const State& state, const Operand& o, unsigned dwords) {
  if (o.kind != Operand::Kind::Register) {
    const auto value = static_cast<uint64_t>(o.value);
    return dwords == 2 ? value : value & 0xffffffff;
  }
  const unsigned n = o.reg.first - isa::unit::scalar0;
  return dwords == 2 ? state.pair(n) : state.scalars[n];
}

namespace {

// Machine state that is no register.
std::optional<uint64_t> machine_state(const State& state, unsigned source_code) {
  switch (source_code) {
  case 235: return uint64_t{state.shared_aperture} << 32;
  case 236: return uint64_t{state.shared_aperture} << 32 | 0xffffffff;
  case 237: return uint64_t{state.private_aperture} << 32;
  case 238: return uint64_t{state.private_aperture} << 32 | 0xffffffff;
  case 251: return state.pair(code::vcc) == 0 ? 1 : 0;
  case 252: return state.exec() == 0 ? 1 : 0;
  case 253: return state.scalars[code::scc];
  default: return std::nullopt;
  }
}

} // namespace

uint64_t scalar_operand(const State& state, const Instruction& i, unsigned n, unsigned dwords) {
  const auto codes = isa::source_codes(i);
  if (n < codes.size())
    if (const auto value = machine_state(state, codes[n])) return dwords == 2 ? *value : *value & 0xffffffff;
  const auto* o = i.find(static_cast<Role>(static_cast<unsigned>(Role::Src0) + n));
  return o == nullptr ? 0 : scalar_value(state, *o, dwords);
}

// --- DPP (CDNA3 ISA, "Data parallel primitives")

namespace {

std::optional<unsigned> controlled_lane(unsigned control, unsigned lane) {
  const unsigned row = lane & ~15U, in_row = lane & 15, by = control & 15;
  if (control < 0x100) return (lane & ~3U) + (control >> (2 * (lane & 3)) & 3);
  if (control > 0x100 && control < 0x110) return in_row + by < 16 ? std::optional(lane + by) : std::nullopt;
  if (control > 0x110 && control < 0x120) return in_row >= by ? std::optional(lane - by) : std::nullopt;
  if (control > 0x120 && control < 0x130) return row + (in_row + 16 - by) % 16;
  switch (control) {
  case 0x130: return lane < 63 ? std::optional(lane + 1) : std::nullopt;
  case 0x134: return (lane + 1) % 64;
  case 0x138: return lane > 0 ? std::optional(lane - 1) : std::nullopt;
  case 0x13c: return (lane + 63) % 64;
  case 0x140: return row + 15 - in_row;
  case 0x141: return lane ^ 7;
  case 0x142: return lane >= 16 ? std::optional(row - 1) : std::nullopt;
  case 0x143: return lane >= 32 ? std::optional(31U) : std::nullopt;
  default: return row + by; // 0x150: row_newbcast
  }
}

} // namespace

std::optional<unsigned> dpp_lane(const Instruction& i, const State& state, unsigned lane) {
  const auto from = controlled_lane(i.mods.dpp_ctrl, lane);
  return from && state.active(*from) ? from : std::nullopt;
}

bool dpp_writes(const Instruction& i, const State& state, unsigned lane) {
  if (i.extension != Extension::Dpp) return true;
  if ((i.mods.row_mask >> (lane / 16) & 1) == 0 || (i.mods.bank_mask >> (lane % 16 / 4) & 1) == 0)
    return false;
  return i.mods.bound_ctrl || dpp_lane(i, state, lane).has_value();
}

// --- sources

uint64_t raw_source(const Lane& l, unsigned n, unsigned dwords) {
  const Instruction& i = l.instruction;
  const auto codes = isa::source_codes(i);
  if (n < codes.size() && machine_state(l.state, codes[n])) return scalar_operand(l.state, i, n, dwords);
  const Operand* o = i.find(static_cast<Role>(static_cast<unsigned>(Role::Src0) + n));
  const bool vector = o != nullptr && o->kind == Operand::Kind::Register && isa::is_vector(o->reg.first);
  if (!vector) return scalar_operand(l.state, i, n, dwords);
  unsigned lane = l.number;
  if (n == 0 && i.extension == Extension::Dpp) {
    const auto from = dpp_lane(i, l.state, lane);
    if (!from) return 0;
    lane = *from;
  }
  return dwords == 2 ? l.state.vector64(o->reg.first, lane) : l.state.vectors[o->reg.first][lane];
}

namespace {

uint64_t selected(uint64_t value, unsigned select, bool extends) {
  if (select >= 6) return value;
  const unsigned bits = select < 4 ? 8 : 16, shift = select < 4 ? 8 * select : 16 * (select - 4);
  const uint64_t part = value >> shift & ((1U << bits) - 1);
  return extends ? static_cast<uint32_t>(sign_extended(part, bits)) : part;
}

} // namespace

uint64_t source(const Lane& l, unsigned n, Type t) {
  const Instruction& i = l.instruction;
  const isa::Modifiers& m = i.mods;
  uint64_t value = raw_source(l, n, is_wide(t) ? 2 : 1);
  if (i.extension == Extension::Sdwa && n < 2)
    value = selected(value, n == 0 ? m.src0_sel : m.src1_sel, (m.sext >> n & 1) != 0);
  if (is_narrow(t)) {
    if ((m.op_sel >> n & 1) != 0) value >>= 16;
    value &= 0xffff;
  }
  if (is_float(t)) {
    if ((m.abs >> n & 1) != 0) value &= ~format(t).sign_bit();
    if ((m.neg >> n & 1) != 0) value ^= format(t).sign_bit();
  }
  return value;
}

// --- results

uint64_t finished(const Lane& l, Type t, uint64_t value) {
  if (!is_float(t)) return value;
  const isa::Modifiers& m = l.instruction.mods;
  const Format f = format(t);
  const Rules rules = l.rules(t);
  // Output modifiers mean nothing where denormals are kept or in IEEE mode.
  if (m.omod != 0 && !rules.keeps_outputs && !l.mode().ieee()) {
    // It is no rounding: what overflows is infinite whatever MODE says.
    const Real scaled = scale(unpack(f, value), m.omod == 3 ? -1 : m.omod);
    value = pack(f, scaled, {.keeps_outputs = false, .flushes_rounded = true});
    if ((value & ~f.sign_bit()) == 0) value = 0;
  }
  if (m.clamp) {
    if (is_nan(f, value)) return l.mode().dx10_clamp() ? 0 : value;
    if ((value & f.sign_bit()) != 0) return 0;
    if (value > f.one()) return f.one();
  }
  return value;
}

namespace {

// Minima, maxima and medians of three integers.
bool clears_upper_half(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  return m.size() == 10 && m.find("3_") != std::string_view::npos && m.ends_with("16") && !m.ends_with("f16");
}

} // namespace

void place(const Lane& l, Type t, uint64_t value, std::array<uint32_t, 2>& rows) {
  const Instruction& i = l.instruction;
  const isa::Modifiers& m = i.mods;
  const auto low = static_cast<uint32_t>(value);
  if (i.extension == Extension::Sdwa && m.dst_sel < 6) {
    const unsigned bits = m.dst_sel < 4 ? 8 : 16,
                   shift = m.dst_sel < 4 ? 8 * m.dst_sel : 16 * (m.dst_sel - 4U);
    const uint32_t mask = ((1U << bits) - 1) << shift, part = low << shift & mask;
    const bool negative = (low >> (bits - 1) & 1) != 0;
    const uint32_t above = static_cast<uint32_t>(~uint64_t{0} << (shift + bits));
    rows[0] = part | (m.dst_unused == 2 ? rows[0] & ~mask : m.dst_unused == 1 && negative ? above : 0);
    return;
  }
  if (is_wide(t)) {
    rows = {low, static_cast<uint32_t>(value >> 32)};
  } else if (is_narrow(t) && i.family == isa::Family::Vop3 && (m.op_sel & 8) != 0) {
    rows[0] = (rows[0] & 0xffff) | low << 16;
  } else if (is_narrow(t) && i.family == isa::Family::Vop3 && i.partial_def && !clears_upper_half(i)) {
    rows[0] = (rows[0] & 0xffff0000) | (low & 0xffff);
  } else {
    rows[0] = low;
  }
}

namespace {

// SDWA may place a part of a NaN, or of a result that may be some places off.
bool is_open(const Lane& l, const Operation& o, uint64_t value) {
  if (l.instruction.extension != Extension::Sdwa || l.instruction.mods.dst_sel >= 6 || !is_float(o.result))
    return false;
  if (o.tolerance == Tolerance::None) return false;
  return o.tolerance >= Tolerance::UlpHalf || is_nan(format(o.result), value);
}

} // namespace

void run_operation(const Operation& operation, const Instruction& i, State& state) {
  const Operand* to = i.find(Role::Vdst);
  if (to == nullptr) return;
  const bool wide = is_wide(operation.result);
  // All lanes read before any is written: DPP reads others.
  std::array<std::array<uint32_t, 2>, lane_count> results{};
  std::array<bool, lane_count> written{};
  uint64_t open = 0; // lanes with a part of a value that is not settled
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    const Lane lane{i, state, n};
    uint64_t values[3] = {};
    for (unsigned s = 0; s < operation.sources.size(); ++s) values[s] = source(lane, s, operation.sources[s]);
    const uint64_t value =
        finished(lane, operation.result, operation.run(lane, values[0], values[1], values[2]));
    results[n] = {state.vectors[to->reg.first][n], wide ? state.vectors[to->reg.first + 1U][n] : 0};
    place(lane, operation.result, value, results[n]);
    written[n] = true;
    if (is_open(lane, operation, value)) open |= uint64_t{1} << n;
  }
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!written[n]) continue;
    state.vectors[to->reg.first][n] = results[n][0];
    if (wide) state.vectors[to->reg.first + 1U][n] = results[n][1];
  }
  state.rows.push_back({to->reg.first, operation.tolerance, open});
  if (wide) state.wrote(static_cast<isa::RegUnit>(to->reg.first + 1), operation.tolerance);
}

} // namespace asmevo::reference
