// Races between workgroups on global memory. Workgroups run in any order and at once, so bytes that one
// writes and another touches are a race, unless what orders them is in the code: atomics and accesses with sc
// bits (glc on gfx90a) synchronise. Whether they do so rightly a run on an emulator cannot tell, so where the
// writer releases and the other acquires in some way, a race is possible only.
//
// Each workgroup notes what it touches by itself, whichever thread runs it; the notes are put together in the
// order of the workgroups, so that the result does not depend on threads.
#pragma once

#include "emulator/observer.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace asmevo::sanitizer {

inline constexpr uint64_t shadow_page = 4096;

/// Which bytes of a page, and by which instruction each dword of them (MicroOp::index).
struct TouchedBytes {
  std::array<uint64_t, shadow_page / 64> bytes{};
  std::unique_ptr<std::array<uint32_t, shadow_page / 4>> ops; // where any byte is set
  bool any = false;

  void mark(unsigned offset, unsigned count, uint32_t op);
  void clear();
};

/// What one workgroup touched.
class WorkgroupTouches {
 public:
  struct Page {
    TouchedBytes read, written, synchronised; // the last: written by atomics or past caches
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
  void add(const WorkgroupTouches&, const std::function<void(const Race&)>& report);

 private:
  struct Known {
    std::array<uint64_t, shadow_page / 64> bytes{};
    std::array<uint32_t, shadow_page / 4> ops;
    std::array<uint32_t, shadow_page / 4> workgroups; // numbers in `marks_`
    void add(const TouchedBytes&, uint32_t workgroup);
  };
  struct Page {
    std::unique_ptr<Known> read, written, synchronised;
  };
  struct Mark {
    uint64_t workgroup = 0;
    bool acquires = false, releases = false;
  };
  struct Side {
    bool read = false, synchronised = false;
  };
  void compare(uint64_t page, const Known*, Side before, const TouchedBytes&, Side now, const Mark&,
               const std::function<void(const Race&)>&) const;

  std::unordered_map<uint64_t, Page> pages_;
  std::vector<Mark> marks_;
};

} // namespace asmevo::sanitizer
