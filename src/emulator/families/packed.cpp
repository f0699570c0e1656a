// VOP3P on pairs of 16-bit integers and pairs of 32-bit values. Pairs of f16 are in packed_half.cpp.
#include "emulator/families/integer_lanes.h"
#include "emulator/families/packed_sources.h"

#include <cmath>

namespace asmevo::emulator {

namespace {

// --- 16-bit integers: 128 of them, all alike.

template <auto F, class R, class... T, size_t... I>
void packed16(Wave& wave, const MicroOp& op, std::tuple<T...>, std::index_sequence<I...>) {
  SourceBuffer buffers[sizeof...(I)];
  const auto sources = std::tuple(as_halves<T>(pair_source(wave, op, I, false, buffers[I]))...);
  Halves<R> results;
  for (size_t n = 0; n < results.size(); ++n) results[n] = F(std::get<I>(sources)[n]...);
  write_halves(wave, op, results);
}

template <auto F>
void packed16(Wave& wave, const MicroOp& op) {
  using S = SignatureOf<F>;
  using Arguments = typename S::Arguments;
  packed16<F, typename S::Result>(wave, op, Arguments(),
                                  std::make_index_sequence<std::tuple_size_v<Arguments>>());
}

template <class R, auto F>
constexpr OpcodeRow saturating16(std::string_view mnemonic) {
  using N = Narrowed<R, F>;
  return {mnemonic, packed16<N::wrapped>, packed16<N::saturated>};
}

// --- Pairs of 32-bit values in two registers.

// The register, or the half of a scalar pair or constant, that `select` names. A constant is 64 bits here: a
// float's upper half is 0, an integer's its sign.
const uint32_t* half_of_pair(const Wave& wave, const Place& p, unsigned select, Row& buffer) {
  if (p.vector()) return wave.vectors[p.index + select].lane;
  const auto value = static_cast<uint32_t>(wave.scalar64(p) >> (32 * select));
  for (uint32_t& v : buffer.lane) v = value;
  return buffer.lane;
}

const uint32_t* float_source(const Wave& wave, const MicroOp& op, unsigned index, bool high, Row& buffer) {
  const isa::Modifiers& m = op.mods();
  const unsigned select = (high ? m.op_sel_hi : m.op_sel) >> index & 1;
  const bool negate = ((high ? m.neg_hi : m.neg) >> index & 1) != 0;
  const uint32_t* from = half_of_pair(wave, op.source[index], select, buffer);
  if (!negate) [[likely]]
    return from;
  for (unsigned l = 0; l < lanes; ++l) buffer.lane[l] = from[l] ^ 0x8000'0000;
  return buffer.lane;
}

template <auto F, size_t... I>
void float_half(const Wave& wave, const MicroOp& op, bool high, Row& result, std::index_sequence<I...>) {
  Row buffers[sizeof...(I)];
  const uint32_t* sources[] = {float_source(wave, op, I, high, buffers[I])...};
  for (unsigned l = 0; l < lanes; ++l)
    result.lane[l] = std::bit_cast<uint32_t>(F(std::bit_cast<float>(sources[I][l])...));
  if (!op.mods().clamp) [[likely]]
    return;
  for (uint32_t& v : result.lane)
    v = std::bit_cast<uint32_t>(clamp_to_unit(std::bit_cast<float>(v), wave.mode.dx10_clamp()));
}

template <auto F>
void packed_float(Wave& wave, const MicroOp& op) {
  constexpr auto sources = std::make_index_sequence<std::tuple_size_v<typename SignatureOf<F>::Arguments>>();
  Row low, high;
  float_half<F>(wave, op, false, low, sources);
  float_half<F>(wave, op, true, high, sources);
  write_row(wave.vectors[op.result.index], low, wave.exec());
  write_row(wave.vectors[op.result.index + 1], high, wave.exec());
}

// op_sel alone chooses here: bit 0 what source 0 gives to the low result, bit 1 what source 1 gives to the
// high one.
void packed_move(Wave& wave, const MicroOp& op) {
  const unsigned select = op.mods().op_sel;
  Row low, high;
  const uint32_t* from_low = half_of_pair(wave, op.source[0], select & 1, low);
  const uint32_t* from_high = half_of_pair(wave, op.source[1], select >> 1 & 1, high);
  blend(low.lane, from_low, from_low, all_lanes);
  blend(high.lane, from_high, from_high, all_lanes);
  write_row(wave.vectors[op.result.index], low, wave.exec());
  write_row(wave.vectors[op.result.index + 1], high, wave.exec());
}

constexpr OpcodeRow rows[] = {
    saturating16<uint16_t, [](uint16_t a, uint16_t b) { return int32_t{a} + b; }>("v_pk_add_u16"),
    saturating16<uint16_t, [](uint16_t a, uint16_t b) { return int32_t{a} - b; }>("v_pk_sub_u16"),
    saturating16<int16_t, [](int16_t a, int16_t b) { return int32_t{a} + b; }>("v_pk_add_i16"),
    saturating16<int16_t, [](int16_t a, int16_t b) { return int32_t{a} - b; }>("v_pk_sub_i16"),
    saturating16<uint16_t, [](uint16_t a, uint16_t b) { return uint32_t{a} * b; }>("v_pk_mul_lo_u16"),
    saturating16<uint16_t, [](uint16_t a, uint16_t b, uint16_t c) { return uint32_t{a} * b + c; }>(
        "v_pk_mad_u16"),
    saturating16<int16_t, [](int16_t a, int16_t b, int16_t c) { return int32_t{a} * b + c; }>("v_pk_mad_i16"),
    {"v_pk_lshlrev_b16",
     packed16<[](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b << (a & 15)); }>},
    {"v_pk_lshrrev_b16",
     packed16<[](uint16_t a, uint16_t b) { return static_cast<uint16_t>(b >> (a & 15)); }>},
    {"v_pk_ashrrev_i16", packed16<[](uint16_t a, int16_t b) { return static_cast<int16_t>(b >> (a & 15)); }>},
    {"v_pk_min_u16", packed16<smaller<uint16_t>>},
    {"v_pk_min_i16", packed16<smaller<int16_t>>},
    {"v_pk_max_u16", packed16<larger<uint16_t>>},
    {"v_pk_max_i16", packed16<larger<int16_t>>},

    {"v_pk_add_f32", packed_float<[](float a, float b) { return a + b; }>},
    {"v_pk_mul_f32", packed_float<[](float a, float b) { return a * b; }>},
    {"v_pk_fma_f32", packed_float<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_pk_mov_b32", packed_move},
};

} // namespace

OpcodeRows packed_rows() {
  return rows;
}

} // namespace asmevo::emulator
