#include "oracle/first_contents.h"

#include "emulator/address_space.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

// Pages of a buffer lie whole pages apart.
uint64_t key_of(size_t buffer, uint64_t offset) {
  constexpr unsigned buffer_bits = 16;
  return (offset / emulator::page_bytes) << buffer_bits | buffer;
}

} // namespace

void FirstContents::fill(size_t buffer, uint64_t offset, std::span<uint8_t> page,
                         const std::function<void(std::span<uint8_t>)>& make) {
  const uint64_t key = key_of(buffer, offset);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = pages_.find(key); known != pages_.end() && known->second.size() == page.size()) {
      std::ranges::copy(known->second, page.begin());
      return;
    }
  }
  make(page);
  const std::lock_guard lock(mutex_);
  if (!pages_.contains(key) && take_room(page.size())) pages_.try_emplace(key, page.begin(), page.end());
}

bool FirstContents::take_room(uint64_t bytes) {
  uint64_t left = *room_;
  while (left >= bytes)
    if (room_->compare_exchange_weak(left, left - bytes)) return true;
  return false;
}

} // namespace asmevo::oracle
