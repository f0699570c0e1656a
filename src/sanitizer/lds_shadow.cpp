#include "sanitizer/lds_shadow.h"

#include "emulator/memory_access.h"

#include <algorithm>

namespace asmevo::sanitizer {

using emulator::for_each_lane;

namespace {

constexpr uint32_t several = 1U << 6, atomic_bit = 1U << 7, wave_mask = several - 1;
constexpr uint32_t most_epochs = 1U << 23;

// Whether a byte was touched in this epoch by what does not go with an access of `wave`.
bool clashes(uint32_t who, uint32_t epoch, uint32_t wave, bool both_atomic) {
  return who >> 8 == epoch && ((who & wave_mask) != wave || (who & several) != 0) && !both_atomic;
}

} // namespace

void LdsShadow::start(uint32_t bytes) {
  epoch_ = 1;
  written_.assign(bytes, 0);
  read_.assign(bytes, 0);
  write_op_.resize(bytes);
  read_op_.resize(bytes);
}

void LdsShadow::barrier() {
  if (++epoch_ < most_epochs) return;
  epoch_ = 1;
  // Written long ago is not the same as never.
  for (uint32_t& w : written_) w = w == 0 ? 0 : 1;
  std::ranges::fill(read_, 0);
}

LdsShadow::Seen LdsShadow::look_closely(const emulator::MemoryEvent& e, uint32_t wave, bool read,
                                        bool write) const {
  Seen seen;
  for_each_lane(e.lanes, [&](unsigned l) {
    if (e.addresses[l] >= written_.size() || e.addresses[l] + e.bytes > written_.size()) return;
    for (auto b = static_cast<uint32_t>(e.addresses[l]); b < e.addresses[l] + e.bytes; ++b) {
      const uint32_t w = written_[b], r = read_[b];
      if (read && w == 0 && !seen.uninitialised) {
        seen.uninitialised = true;
        seen.unwritten = b;
        seen.unwritten_lane = l;
      }
      if (seen.conflict) continue;
      if (clashes(w, epoch_, wave, e.atomic && (w & atomic_bit) != 0)) {
        seen.conflict = true;
        seen.first = {false, w & wave_mask, write_op_[b], b, l};
      } else if (write && clashes(r, epoch_, wave, false)) {
        seen.conflict = true;
        seen.first = {true, r & wave_mask, read_op_[b], b, l};
      }
    }
  });
  return seen;
}

LdsShadow::Seen LdsShadow::access(const emulator::MemoryEvent& e, uint32_t wave, uint32_t op) {
  const bool write = e.store || e.atomic, read = e.load || e.atomic;
  const uint32_t own = tag(wave, e.atomic), start = epoch_ << 8;
  // 1: something of this epoch that is not plainly this wave's own; 2: never written.
  uint32_t look = 0;
  const auto size = written_.size();
  for_each_lane(e.lanes, [&](unsigned l) {
    const uint64_t first = e.addresses[l];
    if (first >= size || first + e.bytes > size) return;
    uint32_t* const w = written_.data() + first;
    uint32_t* const r = read_.data() + first;
    uint32_t odd = 0;
    for (unsigned b = 0; b < e.bytes; ++b) odd |= uint32_t{w[b] >= start} & uint32_t{w[b] != own};
    if (read)
      for (unsigned b = 0; b < e.bytes; ++b) odd |= uint32_t{w[b] == 0};
    if (write)
      for (unsigned b = 0; b < e.bytes; ++b)
        odd |= uint32_t{r[b] >= start} & uint32_t{(r[b] & ~atomic_bit) != (own & ~atomic_bit)};
    look |= odd;
  });
  Seen seen;
  if (look != 0) seen = look_closely(e, wave, read, write);
  for_each_lane(e.lanes, [&](unsigned l) {
    const uint64_t first = e.addresses[l];
    if (first >= size || first + e.bytes > size) return;
    if (write) {
      std::fill_n(written_.data() + first, e.bytes, own);
      std::fill_n(write_op_.data() + first, e.bytes, op);
      return;
    }
    for (uint64_t b = first; b < first + e.bytes; ++b) {
      const bool others = read_[b] >= start && (read_[b] & wave_mask) != wave;
      read_[b] = others ? read_[b] | several : own | (read_[b] >= start ? read_[b] & several : 0);
    }
    std::fill_n(read_op_.data() + first, e.bytes, op);
  });
  return seen;
}

} // namespace asmevo::sanitizer
