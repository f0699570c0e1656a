#include "sanitizer/lds_shadow.h"

#include "emulator/memory_access.h"

#include <algorithm>
#include <utility>

namespace asmevo::sanitizer {

namespace {

// Epoch in bits 31:24, the instruction's number in 23:8, then these. Everything of an older epoch compares
// below the first touch of this one.
constexpr uint32_t wave_mask = 31, several = 1U << 5, atomic_bit = 1U << 6, split = 1U << 7;
constexpr unsigned op_shift = 8, epoch_shift = 24;
constexpr uint32_t op_mask = 0xffff, last_epoch = 255;
constexpr uint32_t long_ago = 1; // of no epoch, and not never

} // namespace

struct LdsShadow::Now {
  bool read = false, write = false, atomic = false;
  uint32_t width = 0; // bytes a lane
  Touch start = 0;    // the lowest touch of this epoch
  Touch own = 0;      // ours
  bool current(Touch t) const { return t >= start; }
  bool others(Touch t) const { return ((t ^ own) & wave_mask) != 0; }
  // Touched in this epoch by somebody else, too.
  bool foreign(Touch t) const { return current(t) && (others(t) || (t & several) != 0); }
};

// --- touches

void LdsShadow::Touches::start(size_t dword_count) {
  dwords_.assign(dword_count, 0);
  bytes_.resize(4 * dword_count);
}

LdsShadow::Touch LdsShadow::Touches::at(uint32_t byte) const {
  const Touch t = dwords_[byte / 4];
  return (t & split) != 0 ? bytes_[byte] : t;
}

void LdsShadow::Touches::divide(uint32_t dword) {
  if ((dwords_[dword] & split) != 0) return;
  std::fill_n(bytes_.begin() + 4 * dword, 4, dwords_[dword]);
  dwords_[dword] |= split;
}

bool LdsShadow::Touches::alike(uint32_t dword) const {
  const Touch* const b = bytes_.data() + 4 * dword;
  return b[0] == b[1] && b[0] == b[2] && b[0] == b[3];
}

template <class F>
void LdsShadow::Touches::change_all(F f) {
  std::ranges::transform(dwords_, dwords_.begin(), f);
  std::ranges::transform(bytes_, bytes_.begin(), f);
}

void LdsShadow::start(uint32_t bytes) {
  bytes_ = bytes;
  epoch_ = 1;
  for (Touches* t : {&written_, &read_, &written_again_, &read_again_}) t->start((bytes + 3) / 4);
}

void LdsShadow::barrier() {
  if (++epoch_ <= last_epoch) return;
  epoch_ = 1;
  // Written long ago is not the same as never.
  written_.change_all([](Touch t) { return t == 0 ? 0 : long_ago | (t & split); });
  for (Touches* t : {&read_, &written_again_, &read_again_}) t->change_all([](Touch) { return 0; });
}

uint32_t LdsShadow::number_of(uint32_t op) {
  if (op >= numbers_.size()) numbers_.resize(std::max<size_t>(op + 1, 2 * numbers_.size()));
  if (numbers_[op] == 0) {
    // Code with more LDS instructions than that fills half a megabyte: the rest go by the last one's name.
    if (ops_.size() <= op_mask) ops_.push_back(op);
    numbers_[op] = static_cast<uint32_t>(ops_.size());
  }
  return numbers_[op] - 1;
}

// --- some dwords

namespace {

// The first and the second wave of those that may touch a byte together, and another touch. T: a touch, or a
// vector of them.
template <class T>
struct Together {
  T first, second;
};
template <class T>
Together<T> together(T first, T second, uint32_t own, uint32_t start) {
  const auto current = first >= start, others = ((first ^ own) & wave_mask) != 0;
  const T both = others ? first | several : own | (first & several);
  const auto is_second = current & others & ((first & several) == 0);
  return {current ? both : T{} + own, is_second ? T{} + own : second};
}

template <unsigned N>
struct Several {
  // NOLINTNEXTLINE(modernize-use-using): the attribute needs it
  typedef uint32_t type __attribute__((vector_size(4 * N)));
};
template <>
struct Several<1> {
  using type = uint32_t;
};

template <class V>
bool any_of(const V& v) {
  if constexpr (sizeof(V) == 4) return v != 0;
  uint64_t parts[(sizeof(V) + 7) / 8] = {}, any = 0;
  __builtin_memcpy(parts, &v, sizeof v);
  for (const uint64_t p : parts) any |= p;
  return any != 0;
}

} // namespace

// The usual case: nothing is here but what this wave itself has done in this epoch, or everybody in older
// ones. False: something else is, and nothing has been changed.
template <unsigned count>
bool LdsShadow::plain(const Now& now, uint32_t first) {
  using V = typename Several<count>::type;
  Touch* const written = written_.dwords() + first / 4;
  Touch* const read = read_.dwords() + first / 4;
  V w, r;
  __builtin_memcpy(&w, written, sizeof w);
  __builtin_memcpy(&r, read, sizeof r);
  const uint32_t own = now.own, start = now.start;
  const V zero{}, ones = ~zero;
  const V writes = now.write ? ones : zero, reads = now.read ? ones : zero;
  const V by_others = w >= start ? ((w ^ own) & wave_mask) | (w & several) : zero;
  const V read_by_others = (r >= start ? ((r ^ own) & wave_mask) | (r & several) : zero) & writes;
  const V never = (w == 0 ? ones : zero) & reads;
  if (any_of<V>(by_others | read_by_others | never | ((w | r) & split))) return false;
  if (now.write) {
    w = zero + own;
    __builtin_memcpy(written, &w, sizeof w);
    return true;
  }
  Touch* const again = read_again_.dwords() + first / 4;
  V a;
  __builtin_memcpy(&a, again, sizeof a);
  const Together<V> after = together<V>(r, a, own, start);
  __builtin_memcpy(read, &after.first, sizeof after.first);
  __builtin_memcpy(again, &after.second, sizeof after.second);
  return true;
}

// --- a lane

void LdsShadow::look_closely(const Now& now, unsigned lane, uint32_t first, uint32_t count,
                             Seen& seen) const {
  for (uint32_t b = first; b < first + count; ++b) {
    const Touch w = written_.at(b), r = read_.at(b);
    if (now.read && w == 0 && !seen.uninitialised) {
      seen.uninitialised = true;
      seen.unwritten = b;
      seen.unwritten_lane = lane;
    }
    const auto conflict = [&](bool read, Touch with) {
      const Conflict found{read, with & wave_mask, ops_[with >> op_shift & op_mask], b, lane};
      if (!read && now.write && !now.atomic) seen.write_write.push_back(found);
      if (!std::exchange(seen.conflict, true)) seen.first = found;
    };
    if (now.foreign(w) && !(now.atomic && (w & atomic_bit) != 0))
      conflict(false, now.others(w) ? w : written_again_.at(b));
    else if (now.write && now.foreign(r))
      conflict(true, now.others(r) ? r : read_again_.at(b));
  }
}

void LdsShadow::bytes(const Now& now, unsigned lane, uint32_t first, uint32_t count, Seen& seen) {
  look_closely(now, lane, first, count, seen);
  Touches& touches = now.write ? written_ : read_;
  Touches& again = now.write ? written_again_ : read_again_;
  for (uint32_t d = first / 4; d <= (first + count - 1) / 4; ++d) {
    const uint32_t begin = std::max(first, 4 * d), end = std::min(first + count, 4 * d + 4);
    touches.divide(d);
    again.divide(d);
    for (uint32_t b = begin; b < end; ++b) {
      Touch& t = touches.byte(b);
      const bool beside = !now.write || (now.atomic && (t & atomic_bit) != 0);
      const auto after = beside ? together<Touch>(t, again.byte(b), now.own, now.start)
                                : Together<Touch>{now.own, again.byte(b)};
      t = after.first, again.byte(b) = after.second;
    }
    if (touches.alike(d) && again.alike(d)) touches.join(d), again.join(d);
  }
}

// --- an access

// Whole dwords of all lanes, each right behind the one before.
void LdsShadow::block(const Now& now, uint32_t first, Seen& seen) {
  constexpr uint32_t step = 8; // dwords
  const uint32_t end = first + now.width * emulator::lanes;
  for (uint32_t at = first; at < end; at += 4 * step) {
    if (plain<step>(now, at)) continue;
    for (uint32_t b = at; b < at + 4 * step; b += 4) bytes(now, (b - first) / now.width, b, 4, seen);
  }
}

LdsShadow::Seen LdsShadow::access(const emulator::MemoryEvent& e, uint32_t wave, uint32_t op) {
  Now now{.read = e.load || e.atomic,
          .write = e.store || e.atomic,
          .atomic = e.atomic,
          .width = e.bytes,
          .start = epoch_ << epoch_shift};
  now.own = now.start | number_of(op) << op_shift | (e.atomic ? atomic_bit : 0) | wave;
  Seen seen;
  const bool aligned = e.bytes % 4 == 0 && e.bytes <= 16;
  if (aligned && e.in_a_row() && e.addresses[0] % 4 == 0 &&
      e.addresses[0] + uint64_t{e.bytes} * emulator::lanes <= bytes_) {
    block(now, static_cast<uint32_t>(e.addresses[0]), seen);
    return seen;
  }
  uint64_t before = ~uint64_t{0};
  emulator::for_each_lane(e.lanes, [&](unsigned l) {
    const uint64_t first = e.addresses[l];
    if (first == before || first >= bytes_ || first + e.bytes > bytes_) return;
    before = first;
    const auto at = static_cast<uint32_t>(first);
    bool done = false;
    switch (aligned && at % 4 == 0 ? e.bytes : 0) {
    case 4: done = plain<1>(now, at); break;
    case 8: done = plain<2>(now, at); break;
    case 12: break; // rare
    case 16: done = plain<4>(now, at); break;
    default: break;
    }
    if (!done) bytes(now, l, at, e.bytes, seen);
  });
  return seen;
}

} // namespace asmevo::sanitizer
