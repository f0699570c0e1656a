// From the addresses of 64 lanes to bytes: what all vector memory instructions share. An instruction goes
// three steps:
//
//   1. its family works out an address for each lane (buffer_address.h, families/flat.cpp, families/lds.cpp);
//   2. resolve_* turns the addresses into host pointers, or faults before anything has been done: the wave
//   then stands
//      at the instruction, and the fault names the lowest lane that cannot access its bytes;
//   3. a template here moves the data between the pointers and the rows of the register file.
//
// When all lanes are in one page, steps 2 and 3 are loops the compiler vectorises, and lanes whose bytes
// follow each other are copied as one block.
#pragma once

#include "emulator/wave.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace asmevo::emulator {

struct alignas(64) LaneAddresses {
  uint64_t lane[lanes];
};

/// What an instruction does in every lane.
struct Access {
  unsigned bytes = 0; // at most 16
  bool load = false, store = false, atomic = false;

  static Access loading(unsigned bytes) { return {bytes, true, false, false}; }
  static Access storing(unsigned bytes) { return {bytes, false, true, false}; }
  static Access updating(unsigned bytes) { return {bytes, true, true, true}; }
};

template <class F>
void for_each_lane(uint64_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Where each lane's bytes are on the host.
struct LanePointers {
  LanePointers() {} // leaves the arrays as they are: they are large, and this is made for each instruction

  uint64_t mask = 0;     // lanes that access something; `at` is valid for them
  uint64_t dropped = 0;  // lanes in EXEC that are out of range: atomics return 0 for them and change nothing
  bool in_a_row = false; // all 64 lanes access, each right behind the one before
  uint64_t in_lds = 0;   // lanes of the mask whose bytes are in LDS
  uint64_t copied = 0;   // lanes whose bytes are not together in host memory: `at` points to a copy
  uint64_t in_scratch = 0; // copied lanes whose bytes are interleaved with other lanes'
  alignas(64) uint8_t* at[lanes];
  // For copied lanes: guest address of the first byte, and how many bytes are written back.
  uint64_t home[lanes];
  uint8_t home_bytes[lanes];
  alignas(16) uint8_t copy[lanes][16];

  /// Loads: this lane gets zeros.
  void give_zeros(unsigned lane);
};

// --- faults and observers

/// Stops the wave at the instruction. The kind is Guard where a write meets a guard region.
void fail_access(Wave&, const MicroOp&, unsigned lane, uint64_t address, Access);
void fail_misaligned(Wave&, const MicroOp&, unsigned lane, uint64_t address, Access);
/// Tells the observer, if there is one. Out-of-range LDS accesses are told too.
void tell(Wave&, const MicroOp&, isa::MemoryKind, Access, uint64_t mask, const LaneAddresses&);

// --- step 2. The lanes of `mask` are added to the pointers; true: none faulted.

/// Guest addresses.
bool resolve_memory(Wave&, const MicroOp&, const LaneAddresses&, uint64_t mask, Access, LanePointers&);
/// Byte offsets in LDS. Lanes beyond it read zeros or are dropped.
bool resolve_lds(Wave&, const MicroOp&, const LaneAddresses&, uint64_t mask, Access, LanePointers&);
/// Byte offsets in each lane's scratch, of which the wave's is at `base`, dwords interleaved by lane: byte b
/// of lane l is at base + (b / 4 * 64 + l) * 4 + b % 4.
bool resolve_scratch(Wave&, const MicroOp&, const LaneAddresses&, uint64_t base, uint64_t mask, Access,
                     LanePointers&);
/// After stores and atomics: copies go where they belong.
void write_back(Wave&, LanePointers&);

// --- step 3: forms of data. `load` fills a lane of the rows, `store` takes it from there; `load_all` and
// `store_all` do so for 64 lanes that follow each other in memory.

template <unsigned N>
struct Dwords {
  static constexpr unsigned bytes = 4 * N, dwords = N;

  static void load(Row* rows, unsigned lane, const uint8_t* from) {
    for (unsigned d = 0; d < N; ++d) std::memcpy(&rows[d].lane[lane], from + 4 * d, 4);
  }
  static void store(const Row* rows, unsigned lane, uint8_t* to) {
    for (unsigned d = 0; d < N; ++d) std::memcpy(to + 4 * d, &rows[d].lane[lane], 4);
  }
  // Through a block that nothing else points to, so that it can be taken apart with shuffles.
  static void load_all(Row* rows, const uint8_t* from) {
    uint32_t block[N * lanes];
    std::memcpy(block, from, sizeof block);
    for (unsigned d = 0; d < N; ++d)
      for (unsigned l = 0; l < lanes; ++l) rows[d].lane[l] = block[l * N + d];
  }
  static void store_all(const Row* rows, uint8_t* to) {
    uint32_t block[N * lanes];
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned d = 0; d < N; ++d) block[l * N + d] = rows[d].lane[l];
    std::memcpy(to, block, sizeof block);
  }
};

/// Which bits of the register a narrow value has. Whole: loads extend it to 32 bits. Low, High (d16): loads
/// extend it to 16 bits and leave the other half as it was.
enum class Half16 : uint8_t { Whole, Low, High };

template <class T, Half16 half = Half16::Whole>
struct Narrow {
  static constexpr unsigned bytes = sizeof(T), dwords = 1;

  static void load(Row* rows, unsigned lane, const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    uint32_t& r = rows->lane[lane];
    const auto extended = static_cast<uint32_t>(static_cast<int32_t>(value));
    if constexpr (half == Half16::Whole)
      r = extended;
    else if constexpr (half == Half16::Low)
      r = (r & 0xffff0000) | (extended & 0xffff);
    else
      r = (r & 0xffff) | extended << 16;
  }
  static void store(const Row* rows, unsigned lane, uint8_t* to) {
    const auto value = static_cast<T>(rows->lane[lane] >> (half == Half16::High ? 16 : 0));
    std::memcpy(to, &value, sizeof value);
  }
  static void load_all(Row* rows, const uint8_t* from) {
    uint8_t block[sizeof(T) * lanes];
    std::memcpy(block, from, sizeof block);
    for (unsigned l = 0; l < lanes; ++l) load(rows, l, block + sizeof(T) * l);
  }
  static void store_all(const Row* rows, uint8_t* to) {
    uint8_t block[sizeof(T) * lanes];
    for (unsigned l = 0; l < lanes; ++l) store(rows, l, block + sizeof(T) * l);
    std::memcpy(to, block, sizeof block);
  }
};

template <class Form>
void load_lanes(Row* rows, const LanePointers& p) {
  if (p.in_a_row) return Form::load_all(rows, p.at[0]);
  if (p.mask == all_lanes) {
    for (unsigned l = 0; l < lanes; ++l) Form::load(rows, l, p.at[l]);
    return;
  }
  for_each_lane(p.mask, [&](unsigned l) { Form::load(rows, l, p.at[l]); });
}

template <class Form>
void store_lanes(const Row* rows, const LanePointers& p) {
  if (p.in_a_row) return Form::store_all(rows, p.at[0]);
  for_each_lane(p.mask, [&](unsigned l) { Form::store(rows, l, p.at[l]); });
}

// --- whole instructions. `Resolve` is steps 1 and 2 of a family:
//   bool (Wave&, const MicroOp&, uint64_t mask, Access, LanePointers&)

using Resolver = bool (*)(Wave&, const MicroOp&, uint64_t mask, Access, LanePointers&);

/// Writes what lanes have read to LDS instead of registers. `rows`: the data of `dwords` registers.
/// Lane l's data goes to `first` + l * (4, or 16 for more than one dword).
void write_lds_slots(Wave&, const Row* rows, unsigned dwords, uint64_t mask, uint32_t first);
/// EXEC without the lanes whose data would not fit in LDS; tells the observer about the others.
uint64_t lds_slot_mask(Wave&, const MicroOp&, unsigned dwords, uint32_t first);
/// Where the data of lane 0 goes: M0 and the instruction's offset.
uint32_t lds_slot_base(const Wave&, const MicroOp&);

/// Memory to LDS, past the registers (CDNA4 ISA, 9.1.9 and 10.3).
template <Resolver resolve, class Form>
void load_to_lds(Wave& wave, const MicroOp& op) {
  const uint32_t first = lds_slot_base(wave, op);
  const uint64_t mask = lds_slot_mask(wave, op, Form::dwords, first);
  LanePointers p;
  if (!resolve(wave, op, mask, Access::loading(Form::bytes), p)) return;
  Row rows[Form::dwords];
  load_lanes<Form>(rows, p);
  write_lds_slots(wave, rows, Form::dwords, p.mask, first);
}

template <Resolver resolve, class Form>
void load(Wave& wave, const MicroOp& op) {
  if (op.mods().lds) [[unlikely]]
    return load_to_lds<resolve, Form>(wave, op);
  LanePointers p;
  if (!resolve(wave, op, wave.exec(), Access::loading(Form::bytes), p)) return;
  load_lanes<Form>(wave.vectors + op.result.index, p);
}

template <Resolver resolve, class Form>
void store(Wave& wave, const MicroOp& op) {
  LanePointers p;
  if (!resolve(wave, op, wave.exec(), Access::storing(Form::bytes), p)) return;
  store_lanes<Form>(wave.vectors + op.source[MicroOp::data].index, p);
  if (p.copied != 0) write_back(wave, p);
}

} // namespace asmevo::emulator
