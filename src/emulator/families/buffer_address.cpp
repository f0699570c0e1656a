#include "emulator/families/buffer_address.h"

#include "emulator/lanes.h"

#include <algorithm>

namespace asmevo::emulator {

namespace {

// GFX9 has no field for it: contiguous bytes of a record before the next index follows.
constexpr uint32_t element_size = 4;

struct BufferAddresses {
  LaneAddresses at;
  LaneAddresses offset; // what raw buffers check: SOFFSET and the rest, but no index
  Row index;
};

uint64_t swizzled(const BufferResource& r, uint32_t stride, uint64_t index, uint64_t offset) {
  const uint64_t rows = index / r.index_stride * stride + offset / element_size * element_size;
  return rows * r.index_stride + index % r.index_stride * element_size + offset % element_size;
}

void buffer_addresses(const Wave& wave, const MicroOp& op, const BufferResource& r, bool formatted,
                      BufferAddresses& a) {
  const isa::Modifiers& m = op.mods();
  const Row* row = wave.vectors + op.source[MicroOp::address].index;
  if (m.idxen)
    a.index = *row++;
  else
    std::ranges::fill(a.index.lane, 0);
  if (r.add_lane)
    for (unsigned l = 0; l < lanes; ++l) a.index.lane[l] += l;
  const auto immediate = static_cast<uint32_t>(m.offset);
  if (m.offen)
    for (unsigned l = 0; l < lanes; ++l) a.offset.lane[l] = immediate + row->lane[l]; // 32 bits
  else
    std::ranges::fill(a.offset.lane, immediate);

  const uint64_t scalar_offset = wave.scalar32(op.source[MicroOp::offset]), base = r.base + scalar_offset;
  const uint32_t stride = r.stride_of(formatted);
  if (r.swizzle)
    for (unsigned l = 0; l < lanes; ++l)
      a.at.lane[l] = base + swizzled(r, stride, a.index.lane[l], a.offset.lane[l]);
  else
    for (unsigned l = 0; l < lanes; ++l)
      a.at.lane[l] = base + uint64_t{stride} * a.index.lane[l] + a.offset.lane[l];
  if (scalar_offset != 0)
    for (unsigned l = 0; l < lanes; ++l) a.offset.lane[l] += scalar_offset;
}

// Lanes with at least `bytes` bytes in range (9.1.5.1 "Range checking"; that SOFFSET has a part in it is how
// production kernels find the end of a tensor).
uint64_t in_range(const BufferResource& r, const MicroOp& op, const BufferAddresses& a, uint32_t bytes) {
  const bool indexed = op.mods().idxen;
  if (r.add_lane && !indexed) return all_lanes; // scratch
  const bool by_index = indexed && r.stride != 0;
  // Usually all lanes are in range: no difference is negative.
  const auto room = static_cast<int64_t>(r.records) - (by_index ? 1 : bytes);
  int64_t signs = 0;
  if (by_index)
    for (unsigned l = 0; l < lanes; ++l) signs |= room - static_cast<int64_t>(a.index.lane[l]);
  else
    for (unsigned l = 0; l < lanes; ++l) signs |= room - static_cast<int64_t>(a.offset.lane[l]);
  if (signs >= 0) return all_lanes;
  uint8_t good[lanes];
  for (unsigned l = 0; l < lanes; ++l)
    good[l] = static_cast<int64_t>(by_index ? a.index.lane[l] : a.offset.lane[l]) <= room;
  return gather_mask(good);
}

void give_way(LanePointers& p, uint64_t outside, const Access& access) {
  if (access.store)
    p.dropped |= outside;
  else
    for_each_lane(outside, [&](unsigned l) { p.give_zeros(l); });
}

// Lanes whose value runs out of the buffer: the dwords in range only.
bool resolve_partly(Wave& wave, const MicroOp& op, const BufferResource& r, const BufferAddresses& a,
                    uint64_t mask, const Access& access, LanePointers& p) {
  for (uint64_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const auto inside = static_cast<unsigned>((r.records - a.offset.lane[l]) / 4 * 4);
    Access part = access;
    part.bytes = std::min(inside, access.bytes);
    std::memset(p.copy[l], 0, sizeof p.copy[l]);
    const bool good = access.store ? wave.memory->may_write(a.at.lane[l], part.bytes)
                                   : wave.memory->guest_read(a.at.lane[l], p.copy[l], part.bytes);
    if (!good) return fail_access(wave, op, l, a.at.lane[l], part), false;
    p.at[l] = p.copy[l];
    p.home[l] = a.at.lane[l];
    p.home_bytes[l] = static_cast<uint8_t>(part.bytes);
  }
  p.mask |= mask;
  p.copied |= mask;
  return true;
}

} // namespace

BufferResource::BufferResource(const Wave& wave, const Place& place) {
  const uint32_t* word = wave.scalars.data() + place.index;
  base = word[0] | uint64_t{word[1] & 0xffff} << 32;
  stride = word[1] >> 16 & 0x3fff;
  swizzle = word[1] >> 31 != 0;
  records = word[2];
  for (unsigned c = 0; c < 4; ++c) select[c] = word[3] >> (3 * c) & 7;
  num_format = word[3] >> 12 & 7;
  data_format = word[3] >> 15 & 15;
  index_stride = 8U << (word[3] >> 21 & 3);
  add_lane = (word[3] >> 23 & 1) != 0;
}

bool resolve_buffer_whole(Wave& wave, const MicroOp& op, const BufferResource& r, bool formatted,
                          uint64_t mask, Access access, LanePointers& p) {
  BufferAddresses a;
  buffer_addresses(wave, op, r, formatted, a);
  const uint64_t inside = mask & in_range(r, op, a, access.bytes);
  tell(wave, op, isa::MemoryKind::Global, access, inside, a.at);
  if (!resolve_memory(wave, op, a.at, inside, access, p)) return false;
  give_way(p, mask & ~inside, access);
  return true;
}

bool resolve_buffer(Wave& wave, const MicroOp& op, uint64_t mask, Access access, LanePointers& p) {
  const BufferResource r(wave, op.source[MicroOp::base]);
  if (access.atomic) return resolve_buffer_whole(wave, op, r, false, mask, access, p);
  BufferAddresses a;
  buffer_addresses(wave, op, r, false, a);
  const uint64_t whole = mask & in_range(r, op, a, access.bytes);
  const uint64_t partly = whole == mask || access.bytes <= 4 ? 0 : mask & ~whole & in_range(r, op, a, 4);
  tell(wave, op, isa::MemoryKind::Global, access, whole | partly, a.at);
  if (!resolve_memory(wave, op, a.at, whole, access, p)) return false;
  if (partly != 0 && !resolve_partly(wave, op, r, a, partly, access, p)) return false;
  if (whole != mask) give_way(p, mask & ~whole & ~partly, access);
  return true;
}

} // namespace asmevo::emulator
