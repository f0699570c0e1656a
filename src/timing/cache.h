// The tags of a cache: which lines are in it, the least recently used of a set going first. Data are the
// emulator's business.
#pragma once

#include <cstdint>
#include <vector>

namespace asmevo::timing {

class Cache {
 public:
  /// Sizes in bytes; `bytes` is cut to whole sets. 0 bytes: everything misses.
  Cache(uint64_t bytes, unsigned line, unsigned ways);

  /// Whether the line of that address is there; it is the most recently used from here on. A miss brings it
  /// in.
  bool access(uint64_t address);
  /// The same without bringing it in: a write that goes past a cache which holds no writes.
  bool touch(uint64_t address);
  /// Forgets all lines.
  void clear();

  unsigned line() const { return line_; }
  uint64_t sets() const { return sets_; }

 private:
  // The line's number + 1, most recent first; 0: free.
  uint64_t* set_of(uint64_t number) { return tags_.data() + number % sets_ * ways_; }
  bool find(uint64_t number, bool bring);

  unsigned line_, ways_;
  uint64_t sets_;
  std::vector<uint64_t> tags_;
};

} // namespace asmevo::timing
