// The shadow of LDS against one that keeps a list of all accesses of an epoch for each byte.
#include "base/random.h"
#include "emulator/memory_access.h"
#include "sanitizer/lds_shadow.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace asmevo::sanitizer {
namespace {

struct Access {
  emulator::MemoryEvent event;
  emulator::LaneAddresses at;
  uint32_t wave = 0, op = 0;
};

class PlainShadow {
 public:
  explicit PlainShadow(uint32_t bytes) : bytes_(bytes) {}

  void barrier() {
    for (Byte& b : bytes_) b.reads.clear(), b.writes.clear();
  }

  LdsShadow::Seen access(const Access& a) {
    LdsShadow::Seen seen;
    emulator::for_each_lane(a.event.lanes, [&](unsigned l) {
      const uint64_t first = a.at.lane[l], end = first + a.event.bytes;
      if (end > bytes_.size()) return;
      for (uint64_t b = first; b < end; ++b) look(a, static_cast<uint32_t>(b), l, seen);
      for (uint64_t b = first; b < end; ++b) note(a, bytes_[b]);
    });
    return seen;
  }

 private:
  struct Touch {
    uint32_t wave, op;
    bool atomic;
  };
  struct Byte {
    bool ever_written = false;
    std::vector<Touch> writes, reads;
  };

  static bool writes(const Access& a) { return a.event.store || a.event.atomic; }

  void look(const Access& a, uint32_t at, unsigned lane, LdsShadow::Seen& seen) const {
    const Byte& b = bytes_[at];
    const bool reads = a.event.load || a.event.atomic;
    if (reads && !b.ever_written && !seen.uninitialised)
      seen.uninitialised = true, seen.unwritten = at, seen.unwritten_lane = lane;
    if (seen.conflict) return;
    const auto other_of = [&](const std::vector<Touch>& list) {
      const auto other = std::ranges::find_if(list, [&](const Touch& t) { return t.wave != a.wave; });
      return other == list.end() ? nullptr : &*other;
    };
    const Touch *const writer = other_of(b.writes), *const reader = other_of(b.reads);
    if (writer != nullptr && !(a.event.atomic && writer->atomic)) {
      seen.conflict = true;
      seen.first = {false, writer->wave, writer->op, at, lane};
    } else if (writes(a) && reader != nullptr) {
      seen.conflict = true;
      seen.first = {true, reader->wave, reader->op, at, lane};
    }
  }

  static void note(const Access& a, Byte& b) {
    const Touch touch{a.wave, a.op, a.event.atomic};
    if (!writes(a)) return add(b.reads, touch);
    b.ever_written = true;
    if (!a.event.atomic || b.writes.empty() || !b.writes.front().atomic) b.writes.clear();
    add(b.writes, touch);
  }
  // The first two waves; and of the first, as long as nothing else, the latest touch.
  static void add(std::vector<Touch>& list, const Touch& touch) {
    if (!list.empty() && list.front().wave == touch.wave)
      list.front().op = touch.op;
    else if (list.size() < 2)
      list.push_back(touch);
  }

  std::vector<Byte> bytes_;
};

Access random_access(RandomStream& random, uint32_t lds_bytes) {
  Access a;
  constexpr std::array<unsigned, 8> sizes = {1, 2, 4, 4, 8, 8, 12, 16};
  a.event.space = isa::MemoryKind::Lds;
  a.event.bytes = sizes[random.below(sizes.size())];
  const uint64_t kind = random.below(8);
  a.event.atomic = kind == 0;
  a.event.load = kind < 5;
  a.event.store = kind == 0 || kind >= 5;
  a.event.lanes = random.below(3) == 0 ? random.next() & random.next() : emulator::all_lanes;
  a.wave = static_cast<uint32_t>(random.below(4));
  a.op = static_cast<uint32_t>(random.below(1000));
  // In a row, some places again and again, anywhere; now and then not on a dword, and beyond the end.
  const uint64_t pattern = random.below(4),
                 first = random.below(lds_bytes) & ~uint64_t{random.below(4) != 0 ? 3U : 0U};
  for (unsigned l = 0; l < emulator::lanes; ++l) {
    const uint64_t lane = pattern == 0   ? l * a.event.bytes
                          : pattern == 1 ? l / 16 * 16
                          : pattern == 2 ? random.below(lds_bytes) & ~uint64_t{3}
                                         : random.below(64);
    a.at.lane[l] = first + lane;
  }
  return a;
}

TEST(LdsShadow, SeesWhatTheListOfAllAccessesShows) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed);
    const auto lds_bytes = static_cast<uint32_t>(64 + random.below(2000));
    LdsShadow shadow;
    shadow.start(lds_bytes);
    PlainShadow plain(lds_bytes);
    // Few barriers, so that much clashes; or many, so that they are counted beyond what a touch can hold.
    const uint64_t barrier_every = 1 + random.below(seed % 2 == 0 ? 3 : 20);
    for (int step = 0; step < 2000; ++step) {
      if (random.below(barrier_every) == 0) shadow.barrier(), plain.barrier();
      Access a = random_access(random, lds_bytes);
      a.event.addresses = a.at.lane;
      const LdsShadow::Seen got = shadow.access(a.event, a.wave, a.op), want = plain.access(a);
      ASSERT_EQ(got.uninitialised, want.uninitialised) << "seed " << seed << ", step " << step;
      ASSERT_EQ(got.conflict, want.conflict) << "seed " << seed << ", step " << step;
      if (want.uninitialised) {
        ASSERT_EQ(std::pair(got.unwritten, got.unwritten_lane),
                  std::pair(want.unwritten, want.unwritten_lane));
      }
      if (!want.conflict) continue;
      ASSERT_EQ(got.first.read_before, want.first.read_before) << "seed " << seed << ", step " << step;
      ASSERT_EQ(std::tuple(got.first.wave, got.first.op, got.first.byte, got.first.lane),
                std::tuple(want.first.wave, want.first.op, want.first.byte, want.first.lane))
          << "seed " << seed << ", step " << step;
    }
  }
}

} // namespace
} // namespace asmevo::sanitizer
