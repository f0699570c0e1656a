// Races between workgroups on global memory. Workgroups run in any order and at once, so bytes that one
// writes and another touches are a race, unless what orders them is in the code: atomics and accesses with sc
// bits (glc on gfx90a) synchronise. Whether they do so rightly a run on an emulator cannot tell, so where the
// writer releases and the other acquires in some way, a race is possible only.
//
// Each workgroup notes what it touches by itself, whichever thread runs it; the notes are put together in the
// order of the workgroups, so that the result does not depend on threads.
#pragma once

#include "emulator/observer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace asmevo::sanitizer {

inline constexpr uint64_t shadow_page = 4096;

using ByteSet = std::array<uint64_t, shadow_page / 64>; // of a page

/// What is known of each byte of a page: by dword, and by byte where the bytes of a dword differ.
template <class T>
class ByteNotes {
 public:
  T at(unsigned byte) const {
    if (!divided_.empty()) [[unlikely]]
      if (const auto found = divided_.find(byte / 4); found != divided_.end()) return found->second[byte % 4];
    return dwords_[byte / 4];
  }
  /// `which`: of the four bytes; `others`: those that something is known of.
  void set(unsigned dword, unsigned which, unsigned others, const T& note) {
    if ((others & ~which) == 0) {
      dwords_[dword] = note;
      if (!divided_.empty()) [[unlikely]]
        divided_.erase(dword);
      return;
    }
    auto found = divided_.find(dword);
    if (found == divided_.end()) {
      if (dwords_[dword] == note) return;
      const T& all = dwords_[dword];
      found = divided_.emplace(dword, std::array<T, 4>{all, all, all, all}).first;
    }
    for (unsigned b = 0; b < 4; ++b)
      if ((which >> b & 1) != 0) found->second[b] = note;
  }
  /// All bytes of these dwords.
  void fill(unsigned dword, unsigned count, const T& note) {
    std::fill_n(dwords_.begin() + dword, count, note);
    for (unsigned d = dword; !divided_.empty() && d < dword + count; ++d) divided_.erase(d);
  }
  bool is_divided() const { return !divided_.empty(); }
  void clear() { divided_.clear(); }

 private:
  std::array<T, shadow_page / 4> dwords_;
  std::unordered_map<unsigned, std::array<T, 4>> divided_;
};

/// Which bytes of a page, and by which instruction (MicroOp::index).
struct TouchedBytes {
  ByteSet bytes{};
  std::unique_ptr<ByteNotes<uint32_t>> ops; // where any byte is set
  bool any = false;

  void mark(unsigned offset, unsigned count, uint32_t op);
  void clear();
};

/// What one workgroup touched.
class WorkgroupTouches {
 public:
  struct Page {
    TouchedBytes read, written;
    // By atomics or past caches.
    TouchedBytes synchronised_read, synchronised_written;
  };
  /// Of memory spaces that workgroups share.
  void note(const emulator::MemoryEvent&, uint32_t op, bool synchronising);
  void clear();

  uint64_t workgroup = 0;
  bool acquires = false, releases = false;
  const std::map<uint64_t, Page*>& pages() const { return pages_; }

 private:
  Page& page(uint64_t number);
  std::map<uint64_t, Page*> pages_; // by address / shadow_page
  std::vector<std::unique_ptr<Page>> made_;
  size_t used_ = 0;
  uint64_t last_number_ = ~uint64_t{0};
  Page* last_ = nullptr;
};

class GlobalShadow {
 public:
  struct Race {
    bool read_before = false, read_now = false; // neither: both write
    bool possible = false;
    uint64_t address = 0;
    uint64_t workgroup_before = 0, workgroup_now = 0;
    uint32_t op_before = 0, op_now = 0;
  };
  /// All races with what was added before, one a pair of instructions.
  /// A pair may come as certain and as possible.
  void add(const WorkgroupTouches&, const std::function<void(const Race&)>& report);

 private:
  // The last to touch a byte.
  struct Toucher {
    uint32_t op = 0;
    uint32_t workgroup = 0; // number in `workgroups_`
    friend bool operator==(const Toucher&, const Toucher&) = default;
  };
  struct Known {
    ByteSet bytes{};
    ByteNotes<Toucher> touchers;
    void add(const TouchedBytes&, uint32_t workgroup);
  };
  // Workgroups that release or acquire anything, and those that do not, apart: a race with the ones may be
  // possible only, and must not hide one with the others that is certain.
  struct Mark {
    bool acquires = false, releases = false;
    static constexpr size_t count = 4;
    size_t index() const { return size_t{acquires} + 2 * size_t{releases}; }
    static Mark of(size_t index) { return {(index & 1) != 0, (index & 2) != 0}; }
  };
  struct Side {
    bool read = false, synchronised = false;
  };
  using KnownByMark = std::array<std::unique_ptr<Known>, Mark::count>;
  struct Page {
    KnownByMark read, written, synchronised_read, synchronised_written;
  };
  using Report = std::function<void(const Race&)>;
  void compare(uint64_t page, const KnownByMark&, Side before, const TouchedBytes&, Side now, const Mark&,
               const Report&) const;

  std::unordered_map<uint64_t, Page> pages_;
  std::vector<uint64_t> workgroups_;
};

} // namespace asmevo::sanitizer
