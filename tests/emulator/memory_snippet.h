// What the tests of memory instructions share: a region of memory, patterns, and buffer resources.
#pragma once

#include "emulator/observer.h"
#include "one_instruction.h"

#include <cstring>

namespace asmevo::emulator {

inline constexpr uint64_t memory_at = Snippet::memory_address;

/// Byte i of the region is pattern(i), unlike its neighbours.
inline uint8_t pattern(uint64_t i) {
  return static_cast<uint8_t>((i * 0x9e3779b1U) >> 13);
}
template <class T>
T pattern_as(uint64_t at) {
  uint8_t bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = pattern(at + i);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline void map_pattern(Snippet& s, uint64_t size, uint64_t address = memory_at) {
  std::vector<uint8_t> bytes(size);
  for (uint64_t i = 0; i < size; ++i) bytes[i] = pattern(i);
  ASSERT_TRUE(s.memory().map({"memory", address, size}, bytes).has_value());
}
inline void map_zeros(Snippet& s, uint64_t size, uint64_t address = memory_at) {
  ASSERT_TRUE(s.memory().map({"memory", address, size}).has_value());
}
inline void fill_lds(Snippet& s) {
  for (size_t i = 0; i < s.lds().size(); ++i) s.lds()[i] = pattern(i);
}

template <class T>
T in_memory(Snippet& s, uint64_t address) {
  T value{};
  EXPECT_TRUE(s.memory().guest_read(address, &value, sizeof value)) << std::hex << address;
  return value;
}
template <class T>
void put_memory(Snippet& s, uint64_t address, T value) {
  ASSERT_TRUE(s.memory().guest_write(address, &value, sizeof value));
}
template <class T>
T in_lds(Snippet& s, uint64_t offset) {
  T value{};
  std::memcpy(&value, s.lds().data() + offset, sizeof value);
  return value;
}
template <class T>
void put_lds(Snippet& s, uint64_t offset, T value) {
  std::memcpy(s.lds().data() + offset, &value, sizeof value);
}

inline void set_s64(Snippet& s, unsigned index, uint64_t value) {
  s.s(index) = static_cast<uint32_t>(value);
  s.s(index + 1) = static_cast<uint32_t>(value >> 32);
}
/// v[row:row+1] = address + lane * step
inline void set_addresses(Snippet& s, unsigned row, uint64_t address, int64_t step) {
  for (unsigned l = 0; l < lanes; ++l)
    s.set_v64(row, l, address + static_cast<uint64_t>(static_cast<int64_t>(l) * step));
}

struct Resource {
  uint64_t base = memory_at;
  uint32_t stride = 0, records = 0x10000;
  bool swizzle = false, add_lane = false;
  unsigned index_stride = 0; // 8 << it
  unsigned data_format = 4, num_format = 4;
  unsigned select = 0b111'110'101'100; // xyzw

  void put(Snippet& s, unsigned sgpr) const {
    s.s(sgpr) = static_cast<uint32_t>(base);
    s.s(sgpr + 1) = static_cast<uint32_t>(base >> 32 & 0xffff) | stride << 16 | (swizzle ? 1U << 31 : 0);
    s.s(sgpr + 2) = records;
    s.s(sgpr + 3) =
        select | num_format << 12 | data_format << 15 | index_stride << 21 | (add_lane ? 1U << 23 : 0);
  }
};

inline float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t float_bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

/// Keeps what it is told.
struct Recorder : Observer {
  struct Event {
    isa::MemoryKind space;
    bool load, store, atomic;
    unsigned bytes;
    uint64_t lane_mask;
    std::vector<uint64_t> addresses;
  };
  std::vector<Event> events;
  void memory(Wave&, const MicroOp&, const MemoryEvent& e) override {
    const size_t n = e.space == isa::MemoryKind::Scalar ? 1 : lanes;
    events.push_back({e.space, e.load, e.store, e.atomic, e.bytes, e.lanes, {e.addresses, e.addresses + n}});
  }
};

} // namespace asmevo::emulator
