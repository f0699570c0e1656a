// What a probe run has shown: which instructions used which values as what, and which bytes of which region
// were touched. Observations of several runs are merged.
#pragma once

#include "infer/shadow.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace asmevo::infer {

/// An instruction that shows something. `pc` is the code object's address.
struct Evidence {
  std::string_view mnemonic; // lives as long as the process
  uint64_t pc = 0;
  std::string text() const; // "v_cvt_f32_f16 at 0x1a40"
};

/// The types that instructions took some values for.
class TypeVotes {
 public:
  /// How much an instruction says: integer sums and comparisons are also done to the bits of floats.
  enum Strength : uint8_t { weak = 1, fair = 2, strong = 3 };
  struct Vote {
    Strength strength = weak;
    std::set<uint64_t> places; // pcs
    Evidence first;            // of this strength
  };

  void add(ValueType, Strength, const Evidence&);
  void merge(const TypeVotes&);
  bool empty() const { return votes_.empty(); }
  const std::map<ValueType, Vote>& votes() const { return votes_; }

  struct Choice {
    ValueType type = ValueType::None;
    Strength strength = weak;
    Evidence evidence;
    bool contradicted = false; // by another type of the same strength
  };
  std::optional<Choice> choose() const;

 private:
  std::map<ValueType, Vote> votes_;
};

/// A range of bytes behind a pointer; empty: nothing.
struct ByteExtent {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  void add(int64_t from, int64_t to);
  friend bool operator==(const ByteExtent&, const ByteExtent&) = default;
};

struct RegionTouch {
  ByteExtent read, written;
  uint64_t read_bytes = 0; // different ones
  bool read_first = false; // bytes were read that no lane had written before
  bool atomic = false;
  bool scattered = false;     // where is written depends on what was read somewhere
  std::set<Source> placed_by; // regions whose contents decide where is accessed
  unsigned narrowest = 0;     // bytes of the narrowest access by one lane; 0: none
  std::optional<Evidence> first_read, first_write;

  void merge(const RegionTouch&);
  int64_t end() const { return std::max(read.end, written.end); }
  int64_t begin() const { return std::min(read.begin, written.begin); }
  bool touched() const { return !read.empty() || !written.empty(); }
};

struct Observations {
  std::map<Source, TypeVotes> used_as;   // values as they are in the kernarg segment and in regions
  std::map<Source, TypeVotes> stored_as; // regions
  std::map<Source, std::set<Source>> copied_from;
  std::map<Source, RegionTouch> touched;
  std::map<Source, Evidence> in_address;  // values that addresses depend on: ids, kernarg dwords, regions
  std::map<Source, Evidence> in_branch;   // values that branches depend on
  std::set<Source> used;                  // kernarg dwords that were loaded and read by something
  std::set<uint64_t> accesses;            // pcs of instructions that accessed memory, LDS aside
  std::map<Source, Evidence> pointers;    // kernarg dword: it and the next one are used as a base address
  std::map<Source, Evidence> pointers_in; // regions whose elements are used as base addresses

  void merge(const Observations&);
};

} // namespace asmevo::infer
