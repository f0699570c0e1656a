// The guest's memory: regions at any 64-bit address, each made of 4 KiB pages that come into being when they
// are first touched. A page is shared between address spaces until one of them writes it, so many runs start
// from one state without copying it. Accesses outside every region are faults; nothing is mapped by accident.
//
// Thread-safe for accesses (read, write, atomics) from many threads; regions are added before the run.
#pragma once

#include "base/result.h"
#include "emulator/global_wave_sync.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::emulator {

inline constexpr uint64_t page_bytes = 4096;

enum class RegionAccess : uint8_t {
  ReadWrite,
  ReadOnly,
  Guard, // may be read; a write is a fault of its own kind
};

/// Fills a page that nobody has written yet: `offset` is that of the page in its region. Called from any
/// thread, must give the same bytes whenever it is asked. Without one, pages start as zeros.
using PageFill = std::function<void(uint64_t offset, std::span<uint8_t> page)>;

struct RegionInfo {
  std::string name;
  uint64_t address = 0, size = 0; // bytes; any alignment
  RegionAccess access = RegionAccess::ReadWrite;
};

class AddressSpace {
 public:
  AddressSpace();
  ~AddressSpace();
  AddressSpace(AddressSpace&&) noexcept; // the other one is empty then
  AddressSpace& operator=(AddressSpace&&) noexcept;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// BadInput: size 0, past the end of the address space, or overlapping a region that is there.
  Status map(RegionInfo info, PageFill fill = {});
  /// The same with first contents; the rest is zeros.
  Status map(RegionInfo info, std::span<const uint8_t> contents);
  /// A free address for `size` bytes, `alignment` a power of two. Deterministic; leaves at least a page free
  /// around.
  uint64_t find_free(uint64_t size, uint64_t alignment = page_bytes) const;
  /// A free address such that byte `middle` of what lies there is the first whose address has another upper
  /// half (bits 63:32) than the first one's: code that loses the carry, or takes the lower half for the
  /// whole, then shows. `front` bytes before it are free too. `middle` at most 4 GiB; 0: there is none.
  uint64_t find_across_4_gib(uint64_t front, uint64_t middle, uint64_t size) const;
  void unmap(uint64_t address);

  /// An independent copy of everything; pages are shared until written. Not while the space is being written.
  AddressSpace fork() const;

  std::vector<RegionInfo> regions() const; // by address
  const RegionInfo* region_at(uint64_t address) const;
  /// "0x7f..: 4 bytes past the end of region 'x' (0x.. - 0x..)": for fault messages.
  std::string describe(uint64_t address) const;

  // --- host access; BadInput names the first byte that is in no region. Guards and read-only regions can be
  // written.
  Status read(uint64_t address, std::span<uint8_t> into) const;
  Status write(uint64_t address, std::span<const uint8_t> from);

  /// Gives what has been written of a range its first contents again; pages nobody wrote stay unmade.
  void restore_written(uint64_t address, uint64_t bytes);

  // --- guest access
  /// The bytes around an address that lie together in host memory: one page of one region.
  template <class Byte>
  struct Window {
    uint64_t address = 0, size = 0;
    Byte* bytes = nullptr; // null: the address is in no region, or may not be written
  };
  /// Valid until this space is changed (map, unmap) or gone, but shows no writes that made the page private
  /// later: look it up again for each instruction.
  Window<const uint8_t> read_window(uint64_t address) const;
  /// The same for writing (ReadWrite regions only), after which the page belongs to this space alone.
  Window<uint8_t> write_window(uint64_t address);
  /// Pointer to `bytes` bytes at `address`; null where they are not all in one page of one region (use
  /// guest_read), or in no region. As long valid as windows.
  const uint8_t* readable(uint64_t address, uint64_t bytes) const;
  uint8_t* writable(uint64_t address, uint64_t bytes);
  /// Any size, across pages and adjoining regions. False: some byte is in no region (and nothing was copied).
  bool guest_read(uint64_t address, void* into, unsigned bytes) const;
  bool guest_write(uint64_t address, const void* from, unsigned bytes);
  /// Whether guest_write would do it.
  bool may_write(uint64_t address, uint64_t bytes) const;
  /// Whether some of the bytes are in a guard region: why a write was refused.
  bool is_guard(uint64_t address, uint64_t bytes) const;

  /// Pages written since they were mapped or forked, by address: [address, address + size) clipped to the
  /// region.
  struct Range {
    uint64_t address = 0, size = 0;
  };
  std::vector<Range> written() const;

  /// What waves of all workgroups meet at; copied by fork like memory.
  GlobalWaveSync& wave_sync() { return *wave_sync_; }

 private:
  struct Region;
  struct CachedPage;
  Region* find(uint64_t address) const;
  const CachedPage* page_at(uint64_t address) const;
  bool all_mapped(uint64_t address, uint64_t bytes) const;
  std::vector<std::unique_ptr<Region>> regions_; // by address
  std::unique_ptr<GlobalWaveSync> wave_sync_ = std::make_unique<GlobalWaveSync>();
  uint64_t generation_ = 0; // changes with the list; no two spaces share one
};

} // namespace asmevo::emulator
