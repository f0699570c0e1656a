// Vector instructions that read or write masks: comparisons, carries, choices; and wide multiply-adds.
#include "emulator/reference/vector.h"

#include <optional>

namespace asmevo::reference {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::Role;

// The scalar that gets the mask: VCC where the encoding has no field for it.
unsigned mask_register(const Instruction& i) {
  const Operand* o = i.find(Role::Sdst);
  return o != nullptr && o->kind == Operand::Kind::Register ? o->reg.first - isa::unit::scalar0 : code::vcc;
}
uint64_t mask_operand(const State& state, const Instruction& i) {
  return i.find(Role::Src2) != nullptr ? scalar_operand(state, i, 2, 2) : state.pair(code::vcc);
}

// --- comparisons: v_cmp_<relation>_<type>

std::optional<Type> type_named(std::string_view name) {
  constexpr std::pair<std::string_view, Type> all[] = {
      {"f16", Type::F16}, {"f32", Type::F32}, {"f64", Type::F64}, {"i16", Type::I16}, {"u16", Type::U16},
      {"i32", Type::I32}, {"u32", Type::U32}, {"i64", Type::I64}, {"u64", Type::U64}};
  for (const auto& [text, type] : all)
    if (text == name) return type;
  return std::nullopt;
}

// -1, 0, 1; 2 where one is NaN.
int order(const Lane& l, Type t, uint64_t a, uint64_t b) {
  if (is_float(t)) {
    const bool keeps = l.rules(t).keeps_inputs;
    return compare(unpack(format(t), a, keeps), unpack(format(t), b, keeps));
  }
  if (t == Type::U16 || t == Type::U32 || t == Type::U64) return a < b ? -1 : a > b ? 1 : 0;
  const unsigned bits = is_narrow(t) ? 16 : is_wide(t) ? 64 : 32;
  const int64_t x = sign_extended(a, bits), y = sign_extended(b, bits);
  return x < y ? -1 : x > y ? 1 : 0;
}

// Which orders make a relation true: bits for less, equal, greater, NaN.
std::optional<unsigned> relation_named(std::string_view name) {
  constexpr std::pair<std::string_view, unsigned> all[] = {
      {"f", 0},    {"lt", 1},   {"eq", 2},   {"le", 3},   {"gt", 4},   {"lg", 5},
      {"ge", 6},   {"o", 7},    {"u", 8},    {"nge", 9},  {"nlg", 10}, {"ngt", 11},
      {"nle", 12}, {"neq", 13}, {"nlt", 14}, {"tru", 15}, {"ne", 5},   {"t", 15}};
  for (const auto& [text, orders] : all)
    if (text == name) return orders;
  return std::nullopt;
}

bool in_class(Format f, uint64_t value, uint64_t classes) {
  const bool negative = (value & f.sign_bit()) != 0;
  unsigned kind = 0;
  if (is_nan(f, value)) {
    kind = is_signalling(f, value) ? 0 : 1;
  } else {
    const uint64_t size = value & ~f.sign_bit();
    const unsigned rank = size == f.infinity() ? 0 : (size & f.infinity()) != 0 ? 1 : size != 0 ? 2 : 3;
    kind = negative ? 2 + rank : 9 - rank;
  }
  return (classes >> kind & 1) != 0;
}

void finish_comparison(const Instruction& i, State& state, uint64_t mask) {
  state.set_pair(mask_register(i), mask);
  if (i.base_mnemonic.starts_with("v_cmpx")) state.set_pair(code::exec, mask);
}

bool compare_class(const Instruction& i, State& state, Type t) {
  uint64_t mask = 0;
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const Lane l{i, state, n};
    const uint64_t classes = source(l, 1, t == Type::F16 ? Type::U16 : Type::U32);
    if (in_class(format(t), source(l, 0, t), classes)) mask |= uint64_t{1} << n;
  }
  finish_comparison(i, state, mask);
  return true;
}

bool compare_vectors(const Instruction& i, State& state) {
  std::string_view rest = i.base_mnemonic;
  if (!rest.starts_with("v_cmp")) return false;
  rest.remove_prefix(rest.find('_', 2) + 1);
  const size_t between = rest.rfind('_');
  const auto type = type_named(rest.substr(between + 1));
  if (!type) return false;
  if (rest.starts_with("class")) return compare_class(i, state, *type);
  const auto orders = relation_named(rest.substr(0, between));
  if (!orders) return false;
  uint64_t mask = 0;
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const Lane l{i, state, n};
    const int o = order(l, *type, source(l, 0, *type), source(l, 1, *type));
    if ((*orders >> (o + 1) & 1) != 0) mask |= uint64_t{1} << n;
  }
  finish_comparison(i, state, mask);
  return true;
}

// --- carries

struct Carry {
  std::string_view mnemonic;
  bool subtracts, reversed, takes;
};
constexpr Carry carries[] = {
    {"v_add_co_u32", false, false, false},  {"v_addc_co_u32", false, false, true},
    {"v_sub_co_u32", true, false, false},   {"v_subb_co_u32", true, false, true},
    {"v_subrev_co_u32", true, true, false}, {"v_subbrev_co_u32", true, true, true},
};

bool carry(const Instruction& i, State& state) {
  const Carry* c = nullptr;
  for (const Carry& each : carries)
    if (i.is(each.mnemonic)) c = &each;
  if (c == nullptr) return false;
  const uint64_t in = c->takes ? mask_operand(state, i) : 0;
  const isa::RegUnit to = i.find(Role::Vdst)->reg.first;
  uint64_t out = 0;
  std::array<uint32_t, lane_count> rows = state.vectors[to];
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    const Lane l{i, state, n};
    int64_t a = static_cast<int64_t>(source(l, 0, Type::U32)),
            b = static_cast<int64_t>(source(l, 1, Type::U32));
    if (c->reversed) std::swap(a, b);
    const auto carried = static_cast<int64_t>(in >> n & 1);
    const int64_t exact = c->subtracts ? a - b - carried : a + b + carried;
    const bool over = exact < 0 || exact > 0xffffffff;
    if (over) out |= uint64_t{1} << n;
    uint64_t value = static_cast<uint32_t>(exact);
    if (l.clamp() && over) value = c->subtracts ? 0 : 0xffffffff;
    std::array<uint32_t, 2> placed = {rows[n], 0};
    place(l, Type::U32, value, placed);
    rows[n] = placed[0];
  }
  state.vectors[to] = rows;
  state.wrote(to);
  state.set_pair(mask_register(i), out);
  return true;
}

bool choice(const Instruction& i, State& state) {
  if (!i.is("v_cndmask_b32")) return false;
  const uint64_t mask = mask_operand(state, i);
  const isa::RegUnit to = i.find(Role::Vdst)->reg.first;
  std::array<uint32_t, lane_count> rows = state.vectors[to];
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n) || !dpp_writes(i, state, n)) continue;
    const Lane l{i, state, n};
    std::array<uint32_t, 2> placed = {rows[n], 0};
    place(l, Type::U32, source(l, (mask >> n & 1) != 0 ? 1 : 0, Type::F32), placed);
    rows[n] = placed[0];
  }
  state.vectors[to] = rows;
  state.wrote(to);
  return true;
}

// 65 bits: the upper one is the carry.
bool wide_multiply_add(const Instruction& i, State& state) {
  const bool has_sign = i.is("v_mad_i64_i32");
  if (!has_sign && !i.is("v_mad_u64_u32")) return false;
  const isa::RegUnit to = i.find(Role::Vdst)->reg.first;
  uint64_t carry_out = 0;
  std::array<uint64_t, lane_count> results{};
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    const Lane l{i, state, n};
    const uint64_t a = source(l, 0, Type::U32), b = source(l, 1, Type::U32), c = source(l, 2, Type::U64);
    const Signed exact = has_sign
                             ? Signed{sign_extended(a, 32)} * sign_extended(b, 32) + static_cast<int64_t>(c)
                             : static_cast<Signed>(a) * b + c;
    results[n] = static_cast<uint64_t>(exact);
    if ((static_cast<uint64_t>(exact >> 64) & 1) != 0) carry_out |= uint64_t{1} << n;
    if (l.clamp()) results[n] = l.fit(has_sign ? Type::I64 : Type::U64, exact);
  }
  for (unsigned n = 0; n < lane_count; ++n) {
    if (!state.active(n)) continue;
    state.vectors[to][n] = static_cast<uint32_t>(results[n]);
    state.vectors[to + 1U][n] = static_cast<uint32_t>(results[n] >> 32);
  }
  state.wrote(to);
  state.wrote(static_cast<isa::RegUnit>(to + 1));
  state.set_pair(mask_register(i), carry_out);
  return true;
}

} // namespace

bool run_vector_masks(const Instruction& i, State& state) {
  return compare_vectors(i, state) || carry(i, state) || choice(i, state) || wide_multiply_add(i, state);
}

} // namespace asmevo::reference
