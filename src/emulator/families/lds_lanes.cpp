// DS instructions that move data between lanes: permutes and swizzles through the LDS crossbar, which touch
// no memory, the transposing reads of gfx950, and those that synchronise waves.
#include "emulator/families/lds_address.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

namespace {

bool active(uint64_t exec, unsigned lane) {
  return (exec >> lane & 1) != 0;
}

void write_active(Row& to, const Row& from, uint64_t exec) {
  for_each_lane(exec, [&](unsigned l) { to.lane[l] = from.lane[l]; });
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
  write_active(wave.vectors[op.result.index], moved, wave.exec());
}

// Lanes pull; from inactive lanes 0.
void backward_permute(Wave& wave, const MicroOp& op) {
  const Row& address = wave.vectors[op.source[MicroOp::address].index];
  const Row& data = wave.vectors[op.source[MicroOp::data].index];
  const uint64_t exec = wave.exec();
  Row moved;
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned from = addressed_lane(address, op, l);
    moved.lane[l] = active(exec, from) ? data.lane[from] : 0;
  }
  write_active(wave.vectors[op.result.index], moved, exec);
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
  const Row& data = wave.vectors[op.source[MicroOp::address].index];
  const auto pattern = static_cast<unsigned>(op.mods().offset) & 0xffff;
  const uint64_t exec = wave.exec();
  Row moved;
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned from = swizzle_source(pattern, l);
    moved.lane[l] = active(exec, from) ? data.lane[from] : 0;
  }
  write_active(wave.vectors[op.result.index], moved, exec);
}

// --- transposing reads

// The element at bit `at` of the dwords a lane has read; 6-bit elements may lie in two of them.
template <unsigned bits>
uint32_t element(const Row* rows, unsigned lane, unsigned at) {
  const unsigned d = at / 32, shift = at % 32;
  uint64_t both = rows[d].lane[lane];
  if (shift + bits > 32) both |= uint64_t{rows[d + 1].lane[lane]} << 32;
  return static_cast<uint32_t>(both >> shift) & ((1U << bits) - 1);
}

// 16 lanes hold a matrix of n columns of 16 elements, n = elements a lane: 16 / n lanes to a column, each
// reading n elements of it from its own address. Afterwards lane i has row i. The manual (CDNA4 ISA, 11.4)
// says only that the matrix is transposed; the layouts are those of AITer's kernels, for 8 bits also of
// FlyDSL's, which feed the results to MFMAs. That for 6 bits is inferred from that for 4.
template <unsigned bits, unsigned dwords>
void read_transposed(Wave& wave, const MicroOp& op) {
  constexpr unsigned group = 16, n = dwords * 32 / bits, lanes_a_column = group / n;
  LanePointers p;
  if (!ds(wave, op, wave.exec(), Access::loading(4 * dwords), p)) return;
  Row read[dwords] = {}, result[dwords] = {};
  load_lanes<Dwords<dwords>>(read, p);
  for (unsigned l = 0; l < lanes; ++l) {
    const unsigned i = l % group, first = l - i;
    for (unsigned j = 0; j < n; ++j) {
      const uint64_t e = element<bits>(read, first + j * lanes_a_column + i / n, i % n * bits);
      const unsigned at = j * bits;
      result[at / 32].lane[l] |= static_cast<uint32_t>(e << at % 32);
      if (at % 32 + bits > 32) result[at / 32 + 1].lane[l] |= static_cast<uint32_t>(e >> (32 - at % 32));
    }
  }
  for (unsigned d = 0; d < dwords; ++d)
    write_active(wave.vectors[op.result.index + d], result[d], wave.exec());
}

void nothing(Wave&, const MicroOp&) {}

constexpr OpcodeRow rows[] = {
    {"ds_permute_b32", permute},
    {"ds_bpermute_b32", backward_permute},
    {"ds_swizzle_b32", swizzle},
    {"ds_read_b64_tr_b4", read_transposed<4, 2>},
    {"ds_read_b64_tr_b8", read_transposed<8, 2>},
    {"ds_read_b64_tr_b16", read_transposed<16, 2>},
    {"ds_read_b96_tr_b6", read_transposed<6, 3>},
    {"ds_nop", nothing},
};

} // namespace

OpcodeRows lds_lane_rows() {
  return rows;
}

} // namespace asmevo::emulator
