// What is known of the contents of a register, beside its value: where they come from. A probe run keeps one
// shadow a register (for all lanes that were written together), one a dword of LDS and of scratch.
//
// Sets of sources are interned: a set is a number, and the union of two is looked up.
#pragma once

#include "infer/value_types.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace asmevo::infer {

/// Where a value can come from: dword `d` of the kernarg segment, elements of region `r`, or an id.
using Source = uint16_t;
namespace source {
inline constexpr Source kernarg0 = 0, most_kernarg_dwords = 1024;
inline constexpr Source region0 = 1024, most_regions = 96;
inline constexpr Source workgroup_id0 = 2048; // x, y, z
inline constexpr Source work_item_id = 2051;
} // namespace source

using SourceSet = uint32_t; // 0 is empty

class SourceSets {
 public:
  SourceSets() : sets_(1) {}
  SourceSet of(Source);
  SourceSet unite(SourceSet, SourceSet);
  const std::vector<Source>& members(SourceSet set) const { return sets_[set]; } // ascending
  bool has(SourceSet set, Source) const;

 private:
  SourceSet intern(std::vector<Source>);
  std::vector<std::vector<Source>> sets_;
  std::unordered_map<Source, SourceSet> singles_;
  std::unordered_map<uint64_t, SourceSet> unions_;
  std::unordered_multimap<uint64_t, SourceSet> by_hash_;
};

/// Which bits of what a register once held are in it now.
enum class Part : uint8_t {
  Whole,
  High16, // 16 bits, in the upper half, zeros below
  Low16,  // 16 bits, in the lower half
  Byte,
  Nibble,
};

struct Shadow {
  SourceSet raw = 0;                // the bits themselves are from there, moved but not computed with
  SourceSet anything = 0;           // all that had an influence
  SourceSet base = 0;               // kernarg dwords that are summands of it: pointers among them
  ValueType type = ValueType::None; // of a computed value
  Part part = Part::Whole;
  friend bool operator==(const Shadow&, const Shadow&) = default;
};

Shadow unite(SourceSets&, const Shadow&, const Shadow&);

/// A vector register. Branches and loops leave different values in different lanes: of the last few writes
/// each has its lanes, what is older is put together.
class LaneShadow {
 public:
  Shadow read(SourceSets&, uint64_t lanes) const;
  void write(SourceSets&, const Shadow&, uint64_t lanes);
  /// All lanes.
  void set(const Shadow& s) {
    parts_[0] = {s, ~uint64_t{0}};
    count_ = 1;
  }
  const Shadow& scalar() const { return parts_[0].shadow; }

 private:
  struct Part {
    Shadow shadow;
    uint64_t lanes = 0;
  };
  std::array<Part, 4> parts_{Part{{}, ~uint64_t{0}}}; // the newest first
  unsigned count_ = 1;
};

} // namespace asmevo::infer
