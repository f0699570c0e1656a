// The buffers of a launch plan in the memory of a device, between guards.
//
// On the emulator each buffer is a region of its own: its pages are filled when they are first touched, and a
// write to a guard ends the run at the instruction. On other devices an allocation is one block; guards are
// canary bytes in it that damage() compares afterwards.
#pragma once

#include "device/device.h"
#include "emulator/address_space.h"
#include "oracle/first_contents.h"
#include "oracle/launch_plan.h"

#include <atomic>
#include <functional>

namespace asmevo::device {
class EmulatedDevice;
}

namespace asmevo::oracle {

/// A guard, and whether anybody has looked into it. Emulator only.
struct GuardWatch {
  std::string what; // "memory behind buffer 'x'"
  uint64_t address = 0, bytes = 0;
  std::atomic<bool> touched = false;
};

class LaunchMemory {
 public:
  /// `plan` and `device` must outlive the memory. BadInput where an address is taken. `known`: pages of this
  /// plan's buffers that earlier memories have filled (emulator only).
  static Result<std::unique_ptr<LaunchMemory>> create(const LaunchPlan& plan, device::Device& device,
                                                      std::shared_ptr<FirstContents> known = {});
  ~LaunchMemory();
  LaunchMemory(const LaunchMemory&) = delete;
  LaunchMemory& operator=(const LaunchMemory&) = delete;

  uint64_t address(size_t buffer) const;
  device::Device& device() const { return device_; }
  const LaunchPlan& plan() const { return plan_; }

  /// What is in a buffer now, from byte `offset` on.
  Status read(size_t buffer, uint64_t offset, std::span<uint8_t> into) const;
  Status write(size_t buffer, uint64_t offset, std::span<const uint8_t> from);
  /// Gives all bytes of a buffer one value without touching any of them. False where that cannot be: not on
  /// the emulator, or the buffer is a part of another one.
  Result<bool> set_untouched(size_t buffer, uint8_t value);
  /// The codes of elements `first` to `first + count - 1` (by index; fewer at the end), of at most 64 bits
  /// each.
  Result<std::vector<uint64_t>> codes(size_t buffer, uint64_t first, uint64_t count) const;
  /// What was there at first.
  void original(size_t buffer, uint64_t offset, std::span<uint8_t> into) const;

  /// The first byte that the launch should have left alone and did not, as one line: guards, and padding
  /// between rows of buffers that were not written from here. Empty: none.
  Result<std::string> damage() const;
  /// The buffers of role In of which some byte has changed, though nobody wrote them from here.
  Result<std::vector<size_t>> changed_inputs() const;
  /// "memory behind buffer 'x' was read": guards that the run has looked into. Emulator only.
  std::vector<std::string> guard_reads() const;
  const std::vector<std::shared_ptr<GuardWatch>>& guards() const { return guards_; }

 private:
  LaunchMemory(const LaunchPlan& plan, device::Device& device);
  Status place();
  Status place_regions(size_t allocation);
  Status place_block(size_t allocation);
  Status map_guard(uint64_t address, uint64_t bytes, size_t buffer, bool behind);
  Status write_block(size_t allocation);
  void set_pointers();
  uint64_t start(size_t allocation) const;
  /// Calls f(offset, bytes now, bytes at first) for each part of a buffer that may have changed, until it
  /// says false.
  using Compare = std::function<bool(uint64_t, std::span<const uint8_t>, std::span<const uint8_t>)>;
  Status compare(size_t buffer, const Compare& f) const;
  Result<std::string> padding_damage(size_t buffer) const;
  Result<std::string> block_guard_damage(size_t allocation) const;
  Result<std::string> compare_canaries(size_t allocation, uint64_t from, uint64_t to) const;

  /// What fills the pages of a buffer.
  emulator::PageFill filling(size_t buffer) const;

  const LaunchPlan& plan_;
  device::Device& device_;
  std::shared_ptr<FirstContents> known_;
  device::EmulatedDevice* emulated_;
  std::vector<uint64_t> addresses_;          // of allocations, behind the guard in front
  std::vector<uint64_t> own_;                // what to give back
  std::vector<std::shared_ptr<Init>> inits_; // of buffers, with the pointers worked out
  struct ByteRange {
    uint64_t offset = 0, size = 0;
  };
  std::vector<std::vector<ByteRange>> host_written_; // of each buffer, by steps
  void note_host_write(size_t buffer, uint64_t offset, uint64_t bytes);
  bool host_wrote(size_t buffer, uint64_t offset) const;
  std::vector<std::shared_ptr<GuardWatch>> guards_;
};

/// Fills a guard with canaries, and notes when somebody looks.
emulator::PageFill canaries(std::shared_ptr<GuardWatch>, uint8_t byte = canary_byte);

/// The guards that were looked into, one line each.
std::vector<std::string> guard_reads(const std::vector<std::shared_ptr<GuardWatch>>&);

} // namespace asmevo::oracle
