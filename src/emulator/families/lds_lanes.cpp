// DS instructions that move data between lanes: permutes and swizzles through the LDS crossbar, which touch
// no memory, the transposing reads of gfx950, and those that synchronise waves.
#include "emulator/families/lds_address.h"
#include "emulator/lanes.h"
#include "emulator/opcode_table.h"

#include <algorithm>

namespace asmevo::emulator {

namespace {

// The data of active lanes; others give 0.
Row active_data(const Row& data, uint64_t exec) {
  constexpr Row zeros{};
  Row active;
  blend(active.lane, data.lane, zeros.lane, exec);
  return active;
}

unsigned addressed_lane(const Row& address, const MicroOp& op, unsigned lane) {
  return (address.lane[lane] + static_cast<uint32_t>(op.mods().offset)) / 4 % lanes;
}

// Lanes push: of several that push to one lane, the highest wins; nobody's lane gets 0.
void permute(Wave& wave, const MicroOp& op) {
  const Row& address = wave.vectors[op.source[MicroOp::address].index];
  const Row& data = wave.vectors[op.source[MicroOp::data].index];
  Row moved{};
  for_each_lane(wave.exec(), [&](unsigned l) { moved.lane[addressed_lane(address, op, l)] = data.lane[l]; });
  write_row(wave.vectors[op.result.index], moved, wave.exec());
}

// Lanes pull; from inactive lanes 0.
void backward_permute(Wave& wave, const MicroOp& op) {
  const Row& address = wave.vectors[op.source[MicroOp::address].index];
  const Row data = active_data(wave.vectors[op.source[MicroOp::data].index], wave.exec());
  Row moved;
  for (unsigned l = 0; l < lanes; ++l) moved.lane[l] = data.lane[addressed_lane(address, op, l)];
  write_row(wave.vectors[op.result.index], moved, wave.exec());
}

unsigned reversed5(unsigned bits) {
  unsigned r = 0;
  for (unsigned i = 0; i < 5; ++i) r |= (bits >> i & 1) << (4 - i);
  return r;
}

// Which lane's data a lane gets (Vega ISA, DS_SWIZZLE_B32). The upper half of the wave does as the lower
// does.
unsigned swizzle_source(unsigned pattern, unsigned lane) {
  const unsigned half = lane & 32, l = lane & 31;
  if (pattern >= 0xe000) { // FFT: the bits that the mask leaves out, in reverse
    const unsigned mask = pattern & 0x1f;
    return half | (reversed5(l) >> std::popcount(mask)) | (l & mask);
  }
  if (pattern >= 0xc000) { // rotation within groups; the mask says which bits stay
    const unsigned mask = pattern & 0x1f, by = pattern >> 5 & 0x1f;
    const unsigned turned = (pattern >> 10 & 1) != 0 ? l - by : l + by;
    return half | (l & mask) | (turned & ~mask & 31);
  }
  if (pattern >= 0x8000)
    return (lane & ~3U) | (pattern >> (2 * (lane & 3)) & 3); // any permutation of four lanes
  const unsigned and_mask = pattern & 0x1f, or_mask = pattern >> 5 & 0x1f, xor_mask = pattern >> 10 & 0x1f;
  return half | (((l & and_mask) | or_mask) ^ xor_mask);
}

void swizzle(Wave& wave, const MicroOp& op) {
  const Row data = active_data(wave.vectors[op.source[MicroOp::address].index], wave.exec());
  const auto pattern = static_cast<unsigned>(op.mods().offset) & 0xffff;
  Row moved;
  for (unsigned l = 0; l < lanes; ++l) moved.lane[l] = data.lane[swizzle_source(pattern, l)];
  write_row(wave.vectors[op.result.index], moved, wave.exec());
}

// --- transposing reads

// 16 lanes hold a matrix of columns of 16 elements, each lane n of them: 16 / n lanes to a column, each
// reading from an address of its own. Afterwards lane i has row i. The manual (CDNA4 ISA, 11.4) says only
// that the matrix is transposed; the layouts are those of AITer's kernels, for 8 bits also of FlyDSL's, which
// feed the results to MFMAs. That for 6 bits is inferred from that for 4.
struct TransposeSource {
  unsigned lane, element;
};
constexpr TransposeSource transpose_source(unsigned lane, unsigned element, unsigned n) {
  constexpr unsigned group = 16;
  const unsigned i = lane % group;
  return {lane - i + element * (group / n) + i / n, i % n};
}

template <class T>
struct WholeElements {
  static constexpr unsigned count = 8 / sizeof(T), dwords = 2;
  T at[count];
  T get(unsigned i) const { return at[i]; }
  void set(unsigned i, T value) { at[i] = value; }
};

// 4 or 6 bits each. Those of 6 may lie in two dwords.
template <unsigned bits, unsigned words>
struct BitElements {
  static constexpr unsigned count = 32 * words / bits, dwords = words;
  uint32_t at[words];
  uint32_t get(unsigned i) const {
    const unsigned d = i * bits / 32, shift = i * bits % 32;
    const uint64_t next = shift + bits > 32 ? at[d + 1] : 0;
    return static_cast<uint32_t>((at[d] | next << 32) >> shift) & ((1U << bits) - 1);
  }
  void set(unsigned i, uint64_t value) {
    const unsigned d = i * bits / 32, shift = i * bits % 32;
    at[d] |= static_cast<uint32_t>(value << shift);
    if (shift + bits > 32) at[d + 1] |= static_cast<uint32_t>(value << shift >> 32);
  }
};

template <class Elements>
void read_transposed(Wave& wave, const MicroOp& op) {
  constexpr unsigned dwords = Elements::dwords, n = Elements::count;
  LanePointers p;
  if (!ds(wave, op, wave.exec(), Access::loading(4 * dwords), p)) return;
  Elements read[lanes], result[lanes] = {};
  for (unsigned l = 0; l < lanes; ++l) {
    if ((p.mask >> l & 1) != 0)
      std::memcpy(read[l].at, p.at[l], 4 * dwords);
    else
      read[l] = {};
  }
  for (unsigned l = 0; l < lanes; ++l)
    for (unsigned j = 0; j < n; ++j) {
      const TransposeSource from = transpose_source(l, j, n);
      result[l].set(j, read[from.lane].get(from.element));
    }
  Row rows[dwords];
  Dwords<dwords>::load_all(rows, reinterpret_cast<const uint8_t*>(result));
  for (unsigned d = 0; d < dwords; ++d) write_row(wave.vectors[op.result.index + d], rows[d], wave.exec());
}

// --- GWS (global_wave_sync.h). The resource is M0[21:16] and the instruction's offset; the number comes from
// the first active lane.

unsigned sync_resource(const Wave& wave, const MicroOp& op) {
  const uint32_t base = wave.scalars[slot::m0] >> 16;
  return (base + static_cast<uint32_t>(op.mods().offset)) % GlobalWaveSync::resources;
}

uint32_t sync_number(const Wave& wave, const MicroOp& op) {
  const auto first = static_cast<unsigned>(std::countr_zero(wave.exec() | uint64_t{1} << 63));
  return wave.vectors[op.source[MicroOp::address].index].lane[first];
}

void sync_set(Wave& wave, const MicroOp& op) {
  wave.memory->wave_sync().set(sync_resource(wave, op), sync_number(wave, op));
}
void sync_give_one(Wave& wave, const MicroOp& op) {
  wave.memory->wave_sync().give(sync_resource(wave, op), 1);
}
void sync_give(Wave& wave, const MicroOp& op) {
  wave.memory->wave_sync().give(sync_resource(wave, op), sync_number(wave, op));
}
void sync_release(Wave& wave, const MicroOp& op) {
  wave.memory->wave_sync().release(sync_resource(wave, op));
}

// The wave comes back to the instruction after others have run.
void go_on_if(bool ready, Wave& wave, const MicroOp& op) {
  if (ready) return;
  wave.pc = op.pc;
  wave.attention |= Wave::yield;
}
void sync_take(Wave& wave, const MicroOp& op) {
  go_on_if(wave.memory->wave_sync().take(sync_resource(wave, op), wave.sync_ticket), wave, op);
}
// The number is one less than that of waves.
void sync_barrier(Wave& wave, const MicroOp& op) {
  const uint32_t waves = std::max(sync_number(wave, op) + 1, 1U);
  go_on_if(wave.memory->wave_sync().barrier(sync_resource(wave, op), waves, wave.sync_ticket), wave, op);
}

void nothing(Wave&, const MicroOp&) {}

constexpr OpcodeRow rows[] = {
    {"ds_permute_b32", permute},
    {"ds_bpermute_b32", backward_permute},
    {"ds_swizzle_b32", swizzle},
    {"ds_read_b64_tr_b4", read_transposed<BitElements<4, 2>>},
    {"ds_read_b64_tr_b8", read_transposed<WholeElements<uint8_t>>},
    {"ds_read_b64_tr_b16", read_transposed<WholeElements<uint16_t>>},
    {"ds_read_b96_tr_b6", read_transposed<BitElements<6, 3>>},
    {"ds_gws_init", sync_set},
    {"ds_gws_sema_v", sync_give_one},
    {"ds_gws_sema_br", sync_give},
    {"ds_gws_sema_p", sync_take},
    {"ds_gws_sema_release_all", sync_release},
    {"ds_gws_barrier", sync_barrier},
    {"ds_nop", nothing},
};

} // namespace

OpcodeRows lds_lane_rows() {
  return rows;
}

} // namespace asmevo::emulator
