// Registers as the dataflow analyses see them. A register unit is one 32-bit register of a wave (64 lanes
// wide for vector registers) or one piece of machine state. Scalar units are numbered by the 7-bit scalar
// operand code of the ISA (CDNA3 ISA, "Scalar operands"), so s5 is scalar0 + 5, VCC is scalar0 + 106 and EXEC
// is scalar0 + 126.
#pragma once

#include "base/static_vector.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace asmevo::isa {

using RegUnit = uint16_t;

namespace unit {
inline constexpr RegUnit vgpr0 = 0;                    // v0 .. v255
inline constexpr RegUnit agpr0 = 256;                  // a0 .. a255
inline constexpr RegUnit scalar0 = 512;                // s0 .. s101, then by scalar operand code
inline constexpr RegUnit flat_scratch = scalar0 + 102; // 2 units, gfx90a only
inline constexpr RegUnit xnack_mask = scalar0 + 104;   // 2 units
inline constexpr RegUnit vcc = scalar0 + 106;          // 2 units
inline constexpr RegUnit ttmp0 = scalar0 + 108;        // ttmp0 .. ttmp15
inline constexpr RegUnit m0 = scalar0 + 124;
inline constexpr RegUnit exec = scalar0 + 126; // 2 units
inline constexpr RegUnit scc = scalar0 + 128;
inline constexpr RegUnit mode =
    scc + 1; // the MODE hardware register: rounding, denormals, gpr_idx enable, vskip
inline constexpr RegUnit hwreg = scc + 2; // all other hardware registers s_getreg/s_setreg reach, as one
inline constexpr RegUnit count = scc + 3;
} // namespace unit

/// `count` consecutive units from `first`.
struct RegRange {
  RegUnit first = 0;
  uint16_t count = 0;
  bool contains(RegUnit u) const { return u >= first && u < first + count; }
  bool overlaps(const RegRange& o) const { return first < o.first + o.count && o.first < first + count; }
  friend bool operator==(const RegRange&, const RegRange&) = default;
};

inline constexpr RegRange all_vgprs{unit::vgpr0, 256}, all_agprs{unit::agpr0, 256},
    all_sgprs{unit::scalar0, 102};

inline bool is_vgpr(RegUnit u) {
  return u < unit::agpr0;
}
inline bool is_agpr(RegUnit u) {
  return u >= unit::agpr0 && u < unit::scalar0;
}
inline bool is_vector(RegUnit u) {
  return u < unit::scalar0;
}
/// s0..s101 only.
inline bool is_sgpr(RegUnit u) {
  return u >= unit::scalar0 && u < unit::scalar0 + 102;
}

/// "v12", "a[0:3]", "s[4:5]", "vcc", "exec_lo", "scc", "m0", "ttmp[2:3]".
std::string name(const RegRange&);
inline std::string name(RegUnit u) {
  return name(RegRange{u, 1});
}

/// A set of units; a few machine words, cheap to copy.
class RegSet {
 public:
  void insert(RegUnit u) { words_[u / 64] |= uint64_t{1} << (u % 64); }
  void insert(const RegRange& r) {
    for (RegUnit u = r.first; u < r.first + r.count; ++u) insert(u);
  }
  void erase(RegUnit u) { words_[u / 64] &= ~(uint64_t{1} << (u % 64)); }
  void erase(const RegRange& r) {
    for (RegUnit u = r.first; u < r.first + r.count; ++u) erase(u);
  }
  bool contains(RegUnit u) const { return (words_[u / 64] >> (u % 64) & 1) != 0; }
  bool overlaps(const RegRange& r) const {
    for (RegUnit u = r.first; u < r.first + r.count; ++u)
      if (contains(u)) return true;
    return false;
  }
  bool empty() const {
    for (const uint64_t w : words_)
      if (w != 0) return false;
    return true;
  }
  size_t size() const {
    size_t n = 0;
    for (const uint64_t w : words_) n += static_cast<size_t>(std::popcount(w));
    return n;
  }
  RegSet& operator|=(const RegSet& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
    return *this;
  }
  RegSet& operator&=(const RegSet& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
    return *this;
  }
  RegSet& operator-=(const RegSet& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~o.words_[i];
    return *this;
  }
  friend RegSet operator|(RegSet a, const RegSet& b) { return a |= b; }
  friend RegSet operator&(RegSet a, const RegSet& b) { return a &= b; }
  friend RegSet operator-(RegSet a, const RegSet& b) { return a -= b; }
  friend bool operator==(const RegSet&, const RegSet&) = default;
  /// Calls f(unit) in ascending order.
  template <class F>
  void for_each(F f) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t w = words_[i]; w != 0; w &= w - 1)
        f(static_cast<RegUnit>(i * 64 + static_cast<size_t>(std::countr_zero(w))));
  }

 private:
  std::array<uint64_t, (unit::count + 63) / 64> words_{};
};

} // namespace asmevo::isa
