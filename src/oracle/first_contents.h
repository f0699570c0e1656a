// First contents of buffers, kept for the next run: many candidates are run from the same inputs, and to work
// out a page of random floats takes longer than to copy it.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace asmevo::oracle {

/// Thread-safe. Of one launch plan: pages go by buffer and offset.
class FirstContents {
 public:
  explicit FirstContents(uint64_t most_bytes = uint64_t{256} << 20) : most_bytes_(most_bytes) {}
  /// Fills `page` of a buffer, by `make` where it is not known yet. What does not fit any more is made each
  /// time.
  void fill(size_t buffer, uint64_t offset, std::span<uint8_t> page,
            const std::function<void(std::span<uint8_t>)>& make);

 private:
  uint64_t most_bytes_, bytes_ = 0;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<uint8_t>> pages_;
};

} // namespace asmevo::oracle
