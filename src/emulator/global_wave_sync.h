// GWS: barriers and semaphores between the waves of a whole device, which cooperative launches use
// (device-libs,
// __ockl_grid_sync). Its state outlives launches as memory does, so it belongs to the address space.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace asmevo::emulator {

class GlobalWaveSync {
 public:
  static constexpr unsigned resources = 64;

  GlobalWaveSync() = default;
  GlobalWaveSync(const GlobalWaveSync&);
  GlobalWaveSync& operator=(const GlobalWaveSync&) = delete;

  // Waves wait by asking again: `ticket` is 0 when an instruction starts, is kept by its wave, and is 0 again
  // when the answer is true: go on.

  /// Waits until `waves` waves have arrived.
  bool barrier(unsigned resource, uint32_t waves, uint64_t& ticket);
  /// Waits for a count and takes it.
  bool take(unsigned resource, uint64_t& ticket);
  void set(unsigned resource, uint32_t count);
  void give(unsigned resource, uint32_t count);
  /// Lets all go on that wait in `take`.
  void release(unsigned resource);

 private:
  struct Resource {
    uint64_t count = 0;
    uint64_t arrived = 0;
    uint64_t releases = 0;
  };
  mutable std::mutex mutex_;
  std::array<Resource, resources> all_;
};

} // namespace asmevo::emulator
