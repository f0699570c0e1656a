// Registers of a wave as the sanitizer keeps them: by where they are, not by what they are called, so that an
// AGPR and the VGPR of the same row are one.
#pragma once

#include "emulator/wave.h"
#include "isa/registers.h"

#include <array>
#include <bit>
#include <cstdint>

namespace asmevo::sanitizer {

inline constexpr unsigned row_units = 512; // vector rows
/// Rows, then the scalar file from s0 on (SCC included).
inline constexpr unsigned unit_count = row_units + emulator::slot::scc + 1;

inline bool is_row(unsigned unit) {
  return unit < row_units;
}

/// A set of units: a few vector registers wide, so that two are compared in a few instructions.
struct alignas(32) UnitSet {
  static constexpr size_t word_count = 12;
  static_assert(word_count * 64 >= unit_count);
  std::array<uint64_t, word_count> words{};

  void insert(unsigned u) { words[u / 64] |= uint64_t{1} << (u % 64); }
  void erase(unsigned u) { words[u / 64] &= ~(uint64_t{1} << (u % 64)); }
  bool contains(unsigned u) const { return (words[u / 64] >> (u % 64) & 1) != 0; }
  void clear() { words.fill(0); }
  bool meets(const UnitSet& o) const {
    uint64_t any = 0;
    for (size_t i = 0; i < word_count; ++i) any |= words[i] & o.words[i];
    return any != 0;
  }
  /// With one of the two.
  bool meets_either(const UnitSet& a, const UnitSet& b) const {
    uint64_t any = 0;
    for (size_t i = 0; i < word_count; ++i) any |= words[i] & (a.words[i] | b.words[i]);
    return any != 0;
  }
  UnitSet& operator|=(const UnitSet& o) {
    for (size_t i = 0; i < word_count; ++i) words[i] |= o.words[i];
    return *this;
  }
  friend UnitSet operator&(UnitSet a, const UnitSet& b) {
    for (size_t i = 0; i < word_count; ++i) a.words[i] &= b.words[i];
    return a;
  }
  friend UnitSet operator|(UnitSet a, const UnitSet& b) { return a |= b; }
  /// Calls f(unit) in ascending order.
  template <class F>
  void for_each(F f) const {
    for (size_t i = 0; i < word_count; ++i)
      for (uint64_t w = words[i]; w != 0; w &= w - 1)
        f(static_cast<unsigned>(i * 64 + static_cast<size_t>(std::countr_zero(w))));
  }
};

/// "v12", "a3" (from accum_offset on, where the kernel has AGPRs), "s5", "vcc_lo".
std::string unit_name(unsigned unit, unsigned accum_offset);

} // namespace asmevo::sanitizer
