// First contents of buffers, kept for the next run: many candidates are run from the same inputs, and to work
// out a page of random floats takes longer than to copy it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace asmevo::oracle {

/// Thread-safe. Of one launch plan: pages go by buffer and offset.
class FirstContents {
 public:
  static constexpr uint64_t most_bytes = uint64_t{256} << 20;
  /// Bytes that may be kept, by all that share it.
  using Room = std::atomic<uint64_t>;
  explicit FirstContents(std::shared_ptr<Room> room = std::make_shared<Room>(most_bytes))
      : room_(std::move(room)) {}
  /// Fills `page` of a buffer, by `make` where it is not known yet. What does not fit any more is made each
  /// time.
  void fill(size_t buffer, uint64_t offset, std::span<uint8_t> page,
            const std::function<void(std::span<uint8_t>)>& make);

 private:
  bool take_room(uint64_t bytes);
  std::shared_ptr<Room> room_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<uint8_t>> pages_;
};

} // namespace asmevo::oracle
