#include "emulator/global_wave_sync.h"

namespace asmevo::emulator {

GlobalWaveSync::GlobalWaveSync(const GlobalWaveSync& other) {
  const std::scoped_lock lock(other.mutex_);
  all_ = other.all_;
}

bool GlobalWaveSync::barrier(unsigned resource, uint32_t waves, uint64_t& ticket) {
  const std::scoped_lock lock(mutex_);
  Resource& r = all_[resource];
  // A ticket is the number of arrivals that opens the barrier for those who came with it.
  if (ticket == 0) ticket = (r.arrived++ / waves + 1) * waves;
  if (r.arrived < ticket) return false;
  ticket = 0;
  return true;
}

bool GlobalWaveSync::take(unsigned resource, uint64_t& ticket) {
  const std::scoped_lock lock(mutex_);
  Resource& r = all_[resource];
  const uint64_t now = r.releases + 1;
  const bool released = ticket != 0 && ticket != now;
  if (!released && r.count == 0) {
    ticket = now;
    return false;
  }
  if (!released) --r.count;
  ticket = 0;
  return true;
}

void GlobalWaveSync::set(unsigned resource, uint32_t count) {
  const std::scoped_lock lock(mutex_);
  all_[resource] = {.count = count};
}

void GlobalWaveSync::give(unsigned resource, uint32_t count) {
  const std::scoped_lock lock(mutex_);
  all_[resource].count += count;
}

void GlobalWaveSync::release(unsigned resource) {
  const std::scoped_lock lock(mutex_);
  ++all_[resource].releases;
}

} // namespace asmevo::emulator
