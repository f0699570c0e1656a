// The tags of a cache: which lines are in it, since when, and which of them were written. Data are the
// emulator's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asmevo::timing {

class Cache {
 public:
  enum class Replacement : uint8_t { LeastRecentlyUsed, Random };
  struct Shape {
    uint64_t bytes = 0; // cut to whole sets; 0: everything misses
    unsigned line = 64, ways = 1;
    // Sets are chosen by all bits of the line's number, as where many units share a cache: lines a power of
    // two apart do not all meet in one set.
    bool hashed = false;
    Replacement replacement = Replacement::LeastRecentlyUsed;
  };
  /// A line that is there.
  struct Line {
    double ready = 0; // when its data are
    bool dirty = false;
  };

  explicit Cache(const Shape&);

  /// The line of that address, from here on the most recently used; null: it is not there.
  Line* find(uint64_t address);
  /// Brings in a line that is not there. `passing`: it will be the first of its set to go again. Null where
  /// nothing can be held.
  Line* bring(uint64_t address, bool passing);
  /// Whether the line that bring() last pushed out was dirty.
  bool pushed_out_dirty() const { return pushed_out_dirty_; }
  /// Forgets a line, or all.
  void drop(uint64_t address);
  void clear();

  unsigned line() const { return shape_.line; }
  uint64_t sets() const { return sets_; }

 private:
  uint64_t number_of(uint64_t address) const { return address >> line_shift_; }
  uint64_t set_of(uint64_t number) const;
  size_t place_of(uint64_t number) const; // index of its tag; tags_.size(): not there
  size_t victim(uint64_t set);

  Shape shape_;
  uint64_t sets_;
  std::vector<uint64_t> tags_; // the line's number + 1; 0: free
  std::vector<Line> lines_;
  std::vector<uint32_t> used_;           // when a line last was; 0: it goes first
  mutable std::vector<uint8_t> guesses_; // in which way of its set a line was last seen
  unsigned fold_bits_, line_shift_;
  uint64_t fraction_; // 2^64 over sets_, rounded up
  uint32_t clock_ = 0;
  uint64_t random_ = 1;
  bool pushed_out_dirty_ = false;
};

} // namespace asmevo::timing
