#include "emulator/memory_access.h"

#include "emulator/lanes.h"
#include "emulator/observer.h"

#include <algorithm>

namespace asmevo::emulator {

namespace {

alignas(64) constexpr uint8_t zeros[16] = {};

// Loads only look; the pointers of both directions have one type.
uint8_t* as_pointer(const uint8_t* bytes) {
  return const_cast<uint8_t*>(bytes);
}

bool aligned(uint64_t address, const Access& access) {
  return (address & (access.bytes - 1)) == 0;
}

struct HostWindow {
  uint64_t address = 0, size = 0;
  uint8_t* bytes = nullptr;

  bool holds(uint64_t at, unsigned n) const { return at - address < size && size - (at - address) >= n; }
};

HostWindow window_at(Wave& wave, uint64_t address, const Access& access) {
  if (access.store) {
    const auto w = wave.memory->write_window(address);
    return {w.address, w.size, w.bytes};
  }
  const auto w = wave.memory->read_window(address);
  return {w.address, w.size, as_pointer(w.bytes)};
}

struct LaneBits {
  alignas(64) uint64_t of[lanes];
  constexpr LaneBits() : of{} {
    for (unsigned l = 0; l < lanes; ++l) of[l] = uint64_t{1} << l;
  }
};
constexpr LaneBits lane_bits;

// All ones for active lanes, by a comparison instead of a shift: vector units have it for 64 bits.
uint64_t if_active(uint64_t mask, unsigned lane) {
  return (mask & lane_bits.of[lane]) != 0 ? ~uint64_t{0} : 0;
}

// What the addresses of a wave have in common, found without comparisons so that it vectorises.
struct Spread {
  uint64_t outside = 0; // bit 63 is set if a lane starts below the window or beyond its last place
  uint64_t low = 0;     // all low bits that are set somewhere
  uint64_t gaps = 0;    // 0: each lane is right behind the one before
};

template <bool all_active>
Spread spread_in(const HostWindow& w, const LaneAddresses& a, uint64_t mask, unsigned bytes, uint8_t** at) {
  const uint64_t start = w.address, last = w.size - bytes;
  const auto host = reinterpret_cast<uintptr_t>(w.bytes);
  uint64_t outside = 0, low = 0, gaps = 0, next = a.lane[0];
  for (unsigned l = 0; l < lanes; ++l, next += bytes) {
    const uint64_t address = a.lane[l], offset = address - start;
    const uint64_t on = all_active ? ~uint64_t{0} : if_active(mask, l);
    outside |= (offset | (last - offset)) & on;
    low |= address & on;
    gaps |= address ^ next;
    at[l] = reinterpret_cast<uint8_t*>(host + offset);
  }
  return {outside, low, gaps};
}

// All lanes in one page, the usual case. False: they are not, and nothing has happened.
bool resolve_in_window(Wave& wave, const LaneAddresses& a, uint64_t mask, const Access& access,
                       LanePointers& p) {
  const HostWindow w = window_at(wave, a.lane[std::countr_zero(mask)], access);
  if (w.bytes == nullptr || w.size < access.bytes) return false;
  const bool all_active = mask == all_lanes;
  const Spread s = all_active ? spread_in<true>(w, a, mask, access.bytes, p.at)
                              : spread_in<false>(w, a, mask, access.bytes, p.at);
  if (s.outside >> 63 != 0 || (access.atomic && !aligned(s.low, access))) return false;
  p.in_a_row = all_active && s.gaps == 0;
  return true;
}

// Lanes in a row often lie in two pages. The pages of the first and the last lane; false: some lane is in
// neither.
bool resolve_in_two_windows(Wave& wave, const LaneAddresses& a, uint64_t mask, const Access& access,
                            LanePointers& p) {
  const HostWindow first = window_at(wave, a.lane[std::countr_zero(mask)], access);
  const HostWindow second = window_at(wave, a.lane[63 - std::countl_zero(mask)], access);
  if (first.bytes == nullptr || second.bytes == nullptr || std::min(first.size, second.size) < access.bytes)
    return false;
  const uint64_t last1 = first.size - access.bytes, last2 = second.size - access.bytes;
  const auto host1 = reinterpret_cast<uintptr_t>(first.bytes),
             host2 = reinterpret_cast<uintptr_t>(second.bytes);
  uint64_t outside = 0, low = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t on = if_active(mask, l);
    const uint64_t offset1 = a.lane[l] - first.address, offset2 = a.lane[l] - second.address;
    const uint64_t not1 = offset1 | (last1 - offset1), not2 = offset2 | (last2 - offset2); // bit 63
    outside |= not1 & not2 & on;
    low |= a.lane[l] & on;
    const uint64_t in_second = uint64_t{0} - (not1 >> 63);
    p.at[l] = reinterpret_cast<uint8_t*>(((host2 + offset2) & in_second) | ((host1 + offset1) & ~in_second));
  }
  return outside >> 63 == 0 && (!access.atomic || aligned(low, access));
}

// A lane whose bytes cross pages or regions.
bool copy_lane(Wave& wave, unsigned lane, uint64_t address, const Access& access, LanePointers& p) {
  if (access.store && !wave.memory->may_write(address, access.bytes)) return false;
  if (access.load && !wave.memory->guest_read(address, p.copy[lane], access.bytes)) return false;
  p.at[lane] = p.copy[lane];
  p.copied |= uint64_t{1} << lane;
  p.home[lane] = address;
  p.home_bytes[lane] = static_cast<uint8_t>(access.bytes);
  return true;
}

bool resolve_each_lane(Wave& wave, const MicroOp& op, const LaneAddresses& a, uint64_t mask,
                       const Access& access, LanePointers& p) {
  HostWindow w;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const uint64_t address = a.lane[lane];
    if (access.atomic && !aligned(address, access))
      return fail_misaligned(wave, op, lane, address, access), false;
    if (!w.holds(address, access.bytes)) w = window_at(wave, address, access);
    if (w.bytes == nullptr) return fail_access(wave, op, lane, address, access), false;
    if (w.holds(address, access.bytes))
      p.at[lane] = w.bytes + (address - w.address);
    else if (!copy_lane(wave, lane, address, access, p))
      return fail_access(wave, op, lane, address, access), false;
  }
  return true;
}

void fail(Wave& wave, const MicroOp& op, FaultKind kind, unsigned lane, uint64_t address,
          const Access& access) {
  wave.fail_at(op, {.kind = kind,
                    .lane = static_cast<int>(lane),
                    .address = address,
                    .bytes = access.bytes,
                    .write = access.store,
                    .text = std::string(op.instruction->mnemonic)});
}

} // namespace

void LanePointers::give_zeros(unsigned lane) {
  at[lane] = as_pointer(zeros);
  mask |= uint64_t{1} << lane;
}

void fail_access(Wave& wave, const MicroOp& op, unsigned lane, uint64_t address, Access access) {
  const bool guard = access.store && wave.memory->is_guard(address, access.bytes);
  fail(wave, op, guard ? FaultKind::Guard : FaultKind::Memory, lane, address, access);
}

void fail_misaligned(Wave& wave, const MicroOp& op, unsigned lane, uint64_t address, Access access) {
  fail(wave, op, FaultKind::Misaligned, lane, address, access);
}

void tell(Wave& wave, const MicroOp& op, isa::MemoryKind space, Access access, uint64_t mask,
          const LaneAddresses& a) {
  if (wave.observer == nullptr || mask == 0) return;
  wave.observer->memory(wave, op,
                        {.space = space,
                         .load = access.load,
                         .store = access.store,
                         .atomic = access.atomic,
                         .bytes = access.bytes,
                         .lanes = mask,
                         .addresses = a.lane});
}

bool resolve_memory(Wave& wave, const MicroOp& op, const LaneAddresses& a, uint64_t mask, Access access,
                    LanePointers& p) {
  if (mask == 0) return true;
  // The fast ways write all pointers, so they are for the first that resolves.
  const bool fast = p.mask == 0 && (resolve_in_window(wave, a, mask, access, p) ||
                                    resolve_in_two_windows(wave, a, mask, access, p));
  if (!fast && !resolve_each_lane(wave, op, a, mask, access, p)) return false;
  p.mask |= mask;
  return true;
}

namespace {
uint64_t lanes_in_lds(const Wave& wave, const LaneAddresses& a, unsigned bytes) {
  uint8_t fits[lanes];
  for (unsigned l = 0; l < lanes; ++l)
    fits[l] = a.lane[l] < wave.lds_bytes && a.lane[l] + bytes <= wave.lds_bytes;
  return gather_mask(fits);
}
} // namespace

bool resolve_lds(Wave& wave, const MicroOp& op, const LaneAddresses& a, uint64_t mask, Access access,
                 LanePointers& p) {
  uint64_t inside = mask;
  if (p.mask == 0) {
    const HostWindow w{0, wave.lds_bytes, wave.lds};
    const Spread s = spread_in<false>(w, a, mask, access.bytes, p.at);
    if (s.outside >> 63 != 0 || w.size < access.bytes) inside &= lanes_in_lds(wave, a, access.bytes);
    p.in_a_row = inside == all_lanes && s.gaps == 0;
  } else {
    inside &= lanes_in_lds(wave, a, access.bytes);
    for_each_lane(inside, [&](unsigned l) { p.at[l] = wave.lds + a.lane[l]; });
  }
  if (access.atomic)
    for (uint64_t m = inside; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (!aligned(a.lane[lane], access)) return fail_misaligned(wave, op, lane, a.lane[lane], access), false;
    }
  p.mask |= inside;
  p.in_lds |= inside;
  if (inside == mask) return true;
  if (access.store)
    p.dropped |= mask & ~inside;
  else
    for_each_lane(mask & ~inside, [&](unsigned l) { p.give_zeros(l); });
  return true;
}

namespace {

// The dwords of a lane's scratch are 64 dwords apart.
constexpr uint64_t scratch_stride = 4 * lanes;

uint64_t scratch_address(uint64_t base, unsigned lane, uint64_t byte) {
  return base + byte / 4 * scratch_stride + lane * 4 + byte % 4;
}

// Calls f(guest address, offset in the value, bytes) for each piece of a lane's value.
template <class F>
void for_each_scratch_piece(uint64_t address, unsigned bytes, F f) {
  unsigned in_dword = address % 4;
  address -= in_dword;
  for (unsigned done = 0; done < bytes;) {
    const unsigned n = std::min(4 - in_dword, bytes - done);
    if (!f(address + in_dword, done, n)) return;
    done += n;
    in_dword = 0;
    address += scratch_stride;
  }
}

bool copy_scratch_lane(Wave& wave, unsigned lane, uint64_t address, const Access& access, LanePointers& p) {
  bool good = true;
  for_each_scratch_piece(address, access.bytes, [&](uint64_t at, unsigned offset, unsigned n) {
    good = access.store ? wave.memory->may_write(at, n) : true;
    if (good && access.load) good = wave.memory->guest_read(at, p.copy[lane] + offset, n);
    return good;
  });
  p.at[lane] = p.copy[lane];
  p.home[lane] = address;
  p.home_bytes[lane] = static_cast<uint8_t>(access.bytes);
  return good;
}

} // namespace

bool resolve_scratch(Wave& wave, const MicroOp& op, const LaneAddresses& offsets, uint64_t base,
                     uint64_t mask, Access access, LanePointers& p) {
  LaneAddresses a;
  uint64_t together = 0; // lanes whose bytes are in one dword
  for (unsigned l = 0; l < lanes; ++l) {
    a.lane[l] = scratch_address(base, l, offsets.lane[l]);
    together |= uint64_t{offsets.lane[l] % 4 + access.bytes <= 4} << l;
  }
  tell(wave, op, isa::MemoryKind::Scratch, access, mask, a);
  for (uint64_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const uint64_t end = offsets.lane[lane] + access.bytes;
    if (end > wave.dispatch->scratch_bytes) return fail_access(wave, op, lane, a.lane[lane], access), false;
    if (access.atomic && !aligned(offsets.lane[lane], access))
      return fail_misaligned(wave, op, lane, a.lane[lane], access), false;
  }
  if (!resolve_memory(wave, op, a, mask & together, access, p)) return false;
  for (uint64_t m = mask & ~together; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (!copy_scratch_lane(wave, lane, a.lane[lane], access, p))
      return fail_access(wave, op, lane, a.lane[lane], access), false;
  }
  p.mask |= mask;
  p.copied |= mask & ~together;
  p.in_scratch |= mask & ~together;
  return true;
}

void write_back(Wave& wave, LanePointers& p) {
  for_each_lane(p.copied & p.mask, [&](unsigned l) {
    if ((p.in_scratch >> l & 1) == 0) {
      (void)wave.memory->guest_write(p.home[l], p.copy[l], p.home_bytes[l]); // asked before
      return;
    }
    for_each_scratch_piece(p.home[l], p.home_bytes[l], [&](uint64_t at, unsigned offset, unsigned n) {
      return wave.memory->guest_write(at, p.copy[l] + offset, n);
    });
  });
}

// --- memory to LDS

uint32_t lds_slot_base(const Wave& wave, const MicroOp& op) {
  // CDNA4 ISA 9.1.9: M0[17:0] for buffers, 16 bits before; 10.3: M0[17:2] * 4 for global and scratch.
  const bool buffer = op.instruction->memory.kind == isa::MemoryKind::Buffer;
  const bool narrow = buffer && wave.dispatch->target.gfx != isa::Gfx::gfx950;
  const uint32_t bits = narrow ? 0xffff : buffer ? 0x3ffff : 0x3fffc;
  return (wave.scalars[slot::m0] & bits) + static_cast<uint32_t>(op.mods().offset);
}

namespace {
uint32_t lds_slot(uint32_t first, unsigned dwords, unsigned lane) {
  return first + lane * (dwords > 1 ? 16 : 4);
}
} // namespace

uint64_t lds_slot_mask(Wave& wave, const MicroOp& op, unsigned dwords, uint32_t first) {
  uint64_t mask = 0;
  LaneAddresses a;
  for_each_lane(wave.exec(), [&](unsigned l) {
    a.lane[l] = lds_slot(first, dwords, l);
    if (a.lane[l] + 4 * dwords <= wave.lds_bytes) mask |= uint64_t{1} << l;
  });
  tell(wave, op, isa::MemoryKind::Lds, Access::storing(4 * dwords), mask, a);
  return mask;
}

void write_lds_slots(Wave& wave, const Row* rows, unsigned dwords, uint64_t mask, uint32_t first) {
  for_each_lane(mask, [&](unsigned l) {
    uint8_t* to = wave.lds + lds_slot(first, dwords, l);
    for (unsigned d = 0; d < dwords; ++d) std::memcpy(to + 4 * d, &rows[d].lane[l], 4);
  });
}

} // namespace asmevo::emulator
