#include "emulator/address_space.h"

#include "emulator/float_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

namespace asmevo::emulator {

namespace {

// Small leaves: a sampled run touches few pages of large regions.
constexpr uint64_t leaf_pages = 64;
constexpr uint64_t leaf_bytes = leaf_pages * page_bytes;

struct Page {
  std::atomic<uint32_t> owners{1};
  alignas(64) uint8_t bytes[page_bytes];
};

void release(Page* page) {
  if (page != nullptr && page->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete page;
}

alignas(64) constexpr uint8_t zero_page[page_bytes] = {};

std::atomic<uint64_t> next_generation{1};

} // namespace

// Pages begin at multiples of this in guest memory, wherever the region does: then no aligned access is in
// two pages, and an aligned guest address is an aligned host address, as atomics need.
constexpr uint64_t widest_access = 64;

// Two levels of page table. `read` and `write` are what accesses look at without a lock; `page` is who owns
// the bytes, changed under the region's lock only.
struct AddressSpace::Region {
  struct Slot {
    std::atomic<const uint8_t*> read{nullptr};
    std::atomic<uint8_t*> write{nullptr};
    Page* page = nullptr;
  };
  struct Leaf {
    Slot slots[leaf_pages];
  };

  // Pages as they were before anyone wrote: filled on demand, shared by all forks.
  struct Pristine {
    using Leaf = std::array<Page*, leaf_pages>;
    PageFill fill;
    std::mutex mutex;
    std::vector<std::unique_ptr<Leaf>> leaves;
    ~Pristine() {
      for (const auto& leaf : leaves)
        if (leaf != nullptr) std::ranges::for_each(*leaf, release);
    }
    const uint8_t* get(uint64_t page, uint64_t region_bytes, uint64_t lead) {
      if (!fill) return zero_page;
      if (const Page* known = find(page)) return known->bytes;
      // Filling takes its time: threads that want other pages need not wait. Of two that fill the same page,
      // one wins.
      auto* made = new Page;
      std::memset(made->bytes, 0, page_bytes);
      if (lead == 0)
        fill_part(page, region_bytes, made->bytes);
      else
        fill_shifted(page, region_bytes, lead, made->bytes);
      return keep(page, made)->bytes;
    }

   private:
    // `fill` counts pages from the region's first byte.
    // Not with the rounding and the flushing of the wave that asks for the page first.
    void fill_part(uint64_t part, uint64_t region_bytes, uint8_t* to) const {
      const MxcsrScope plain(FloatMode::csr_plain);
      const uint64_t offset = part * page_bytes;
      if (offset < region_bytes) fill(offset, std::span(to, std::min(page_bytes, region_bytes - offset)));
    }
    void fill_shifted(uint64_t page, uint64_t region_bytes, uint64_t lead, uint8_t* to) const {
      uint8_t part[page_bytes] = {};
      if (page != 0) {
        fill_part(page - 1, region_bytes, part);
        std::memcpy(to, part + page_bytes - lead, lead);
        std::memset(part, 0, page_bytes);
      }
      fill_part(page, region_bytes, part);
      std::memcpy(to + lead, part, page_bytes - lead);
    }
    const Page* find(uint64_t page) {
      const std::scoped_lock lock(mutex);
      const auto& leaf = leaves[page / leaf_pages];
      return leaf == nullptr ? nullptr : (*leaf)[page % leaf_pages];
    }
    const Page* keep(uint64_t page, Page* made) {
      const std::scoped_lock lock(mutex);
      auto& leaf = leaves[page / leaf_pages];
      if (leaf == nullptr) leaf = std::make_unique<Leaf>();
      Page*& kept = (*leaf)[page % leaf_pages];
      if (kept == nullptr)
        kept = made;
      else
        release(made);
      return kept;
    }
  };

  RegionInfo info;
  std::shared_ptr<Pristine> pristine;
  std::vector<std::atomic<Leaf*>> leaves;
  std::mutex mutex;
  std::vector<Page*> retired; // replaced by a private copy; another thread may still be reading them

  explicit Region(RegionInfo i)
      : info(std::move(i)), leaves((info.size + lead() + leaf_bytes - 1) / leaf_bytes) {}
  /// Bytes of the first page before the region's first.
  uint64_t lead() const { return info.address % widest_access; }
  ~Region() {
    for (auto& l : leaves) {
      Leaf* leaf = l.load();
      if (leaf == nullptr) continue;
      for (Slot& s : leaf->slots) release(s.page);
      delete leaf;
    }
    for (Page* p : retired) release(p);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  Slot& slot(uint64_t page) {
    std::atomic<Leaf*>& entry = leaves[page / leaf_pages];
    Leaf* leaf = entry.load(std::memory_order_acquire);
    if (leaf == nullptr) {
      const std::scoped_lock lock(mutex);
      leaf = entry.load(std::memory_order_relaxed);
      if (leaf == nullptr) entry.store(leaf = new Leaf, std::memory_order_release);
    }
    return leaf->slots[page % leaf_pages];
  }

  const uint8_t* read_page(uint64_t page) {
    Slot& s = slot(page);
    const uint8_t* bytes = s.read.load(std::memory_order_acquire);
    return bytes != nullptr ? bytes : first_read(s, page);
  }
  const uint8_t* first_read(Slot& s, uint64_t page) {
    const uint8_t* bytes = pristine->get(page, info.size, lead());
    const uint8_t* none = nullptr;
    // A writer may have been faster; its copy is the page now.
    return s.read.compare_exchange_strong(none, bytes) ? bytes : none;
  }

  uint8_t* write_page(uint64_t page) {
    Slot& s = slot(page);
    uint8_t* bytes = s.write.load(std::memory_order_acquire);
    return bytes != nullptr ? bytes : first_write(s, page);
  }
  uint8_t* first_write(Slot& s, uint64_t page) {
    const uint8_t* now = read_page(page);
    const std::scoped_lock lock(mutex);
    if (uint8_t* bytes = s.write.load(std::memory_order_acquire)) return bytes;
    if (s.page == nullptr || s.page->owners.load(std::memory_order_acquire) > 1) {
      auto* copy = new Page;
      std::memcpy(copy->bytes, now, page_bytes);
      if (s.page != nullptr) retired.push_back(s.page);
      s.page = copy;
      s.read.store(copy->bytes, std::memory_order_release);
    }
    s.write.store(s.page->bytes, std::memory_order_release);
    return s.page->bytes;
  }

  std::unique_ptr<Region> fork() {
    auto child = std::make_unique<Region>(info);
    child->pristine = pristine;
    const std::scoped_lock lock(mutex);
    for (size_t i = 0; i < leaves.size(); ++i) {
      Leaf* mine = leaves[i].load();
      if (mine == nullptr) continue;
      auto* theirs = new Leaf;
      for (uint64_t p = 0; p < leaf_pages; ++p) {
        Slot &from = mine->slots[p], &to = theirs->slots[p];
        if (from.page != nullptr) from.page->owners.fetch_add(1, std::memory_order_relaxed);
        from.write.store(nullptr, std::memory_order_release);
        to.page = from.page;
        to.read.store(from.read.load());
      }
      child->leaves[i].store(theirs);
    }
    return child;
  }
};

AddressSpace::AddressSpace() = default;
AddressSpace::~AddressSpace() = default;
AddressSpace::AddressSpace(AddressSpace&& other) noexcept
    : regions_(std::move(other.regions_)), generation_(std::exchange(other.generation_, 0)) {
  other.regions_.clear();
  wave_sync_.swap(other.wave_sync_);
}
AddressSpace& AddressSpace::operator=(AddressSpace&& other) noexcept {
  if (this == &other) return *this;
  regions_ = std::move(other.regions_);
  other.regions_.clear();
  generation_ = std::exchange(other.generation_, 0);
  wave_sync_.swap(other.wave_sync_);
  return *this;
}

// A page that this thread found lately. Only where it is is remembered, not its bytes: another thread may
// make it private at any time.
struct AddressSpace::CachedPage {
  uint64_t generation = 0; // 0: no space with regions has it
  uint64_t address = 0, size = 0, page = 0;
  uint64_t lead = 0; // of the page's bytes before `address`
  Region* region = nullptr;
  Region::Slot* slot = nullptr;

  const uint8_t* read() const {
    const uint8_t* bytes = slot->read.load(std::memory_order_acquire);
    return (bytes != nullptr ? bytes : region->first_read(*slot, page)) + lead;
  }
  uint8_t* write() const {
    uint8_t* bytes = slot->write.load(std::memory_order_acquire);
    return (bytes != nullptr ? bytes : region->first_write(*slot, page)) + lead;
  }
  bool writable() const { return region->info.access == RegionAccess::ReadWrite; }
};

const AddressSpace::CachedPage* AddressSpace::page_at(uint64_t address) const {
  constexpr size_t ways = 64;
  constinit static thread_local CachedPage cache[ways];
  // Launches put buffers around multiples of 4 GiB: pages of different ones must not share a place.
  CachedPage& entry = cache[(address / page_bytes + (address >> 32) * 11) % ways];
  if (entry.generation == generation_ && address - entry.address < entry.size) [[likely]]
    return &entry;
  Region* region = find(address);
  if (region == nullptr) return nullptr;
  const RegionInfo& info = region->info;
  const uint64_t page = (address - info.address + region->lead()) / page_bytes;
  const uint64_t lead = page == 0 ? region->lead() : 0;
  const uint64_t offset = page * page_bytes + lead - region->lead(); // of the page's first byte in the region
  entry = {.generation = generation_,
           .address = info.address + offset,
           .size = std::min(page_bytes - lead, info.size - offset),
           .page = page,
           .lead = lead,
           .region = region,
           .slot = &region->slot(page)};
  return &entry;
}

AddressSpace::Region* AddressSpace::find(uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(regions_, address, {}, [](const auto& r) { return r->info.address; });
  if (after == regions_.begin()) return nullptr;
  Region* region = std::prev(after)->get();
  return address - region->info.address < region->info.size ? region : nullptr;
}

Status AddressSpace::map(RegionInfo info, PageFill fill) {
  if (info.size == 0) return bad_input("region '{}' has no bytes", info.name);
  // The last byte of the address space stays free, so that the end of a region is an address.
  if (info.address + info.size < info.address)
    return bad_input("region '{}' runs past the end of the address space", info.name);
  const auto at =
      std::ranges::upper_bound(regions_, info.address, {}, [](const auto& r) { return r->info.address; });
  const auto overlaps = [&](const Region& r) {
    return r.info.address < info.address + info.size && info.address < r.info.address + r.info.size;
  };
  if (at != regions_.end() && overlaps(**at))
    return bad_input("region '{}' overlaps region '{}'", info.name, (*at)->info.name);
  if (at != regions_.begin() && overlaps(**std::prev(at)))
    return bad_input("region '{}' overlaps region '{}'", info.name, (*std::prev(at))->info.name);
  auto region = std::make_unique<Region>(std::move(info));
  region->pristine = std::make_shared<Region::Pristine>();
  region->pristine->fill = std::move(fill);
  if (region->pristine->fill) region->pristine->leaves.resize(region->leaves.size());
  regions_.insert(at, std::move(region));
  generation_ = next_generation.fetch_add(1);
  return {};
}

Status AddressSpace::map(RegionInfo info, std::span<const uint8_t> contents) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(contents.begin(), contents.end());
  return map(std::move(info), [bytes](uint64_t offset, std::span<uint8_t> page) {
    if (offset < bytes->size())
      std::memcpy(page.data(), bytes->data() + offset,
                  std::min<uint64_t>(page.size(), bytes->size() - offset));
  });
}

uint64_t AddressSpace::find_free(uint64_t size, uint64_t alignment) const {
  alignment = std::max(alignment, page_bytes);
  uint64_t candidate = (0x7000'0000'0000 + alignment - 1) & ~(alignment - 1);
  for (const auto& r : regions_) {
    const uint64_t end = r->info.address + r->info.size;
    if (end + page_bytes <= candidate) continue;
    if (candidate < r->info.address && r->info.address - candidate >= size + page_bytes) break;
    candidate = (end + page_bytes + alignment - 1) & ~(alignment - 1);
    if (candidate < end) return 0;
  }
  return candidate + size + page_bytes < candidate || size > size + page_bytes ? 0 : candidate;
}

uint64_t AddressSpace::find_across_4_gib(uint64_t front, uint64_t middle, uint64_t size) const {
  constexpr uint64_t half_space = uint64_t{1} << 32;
  const uint64_t before = (front + middle + half_space - 1) & ~(half_space - 1);
  const uint64_t free = find_free(before + size, half_space);
  return free == 0 ? 0 : free + before - middle;
}

void AddressSpace::unmap(uint64_t address) {
  std::erase_if(regions_, [&](const auto& r) { return r->info.address == address; });
  generation_ = next_generation.fetch_add(1);
}

AddressSpace AddressSpace::fork() const {
  AddressSpace copy;
  copy.wave_sync_ = std::make_unique<GlobalWaveSync>(*wave_sync_);
  for (const auto& r : regions_) copy.regions_.push_back(r->fork());
  copy.generation_ = next_generation.fetch_add(1);
  return copy;
}

std::vector<RegionInfo> AddressSpace::regions() const {
  std::vector<RegionInfo> list;
  for (const auto& r : regions_) list.push_back(r->info);
  return list;
}

const RegionInfo* AddressSpace::region_at(uint64_t address) const {
  const Region* region = find(address);
  return region == nullptr ? nullptr : &region->info;
}

std::string AddressSpace::describe(uint64_t address) const {
  if (regions_.empty()) return fmt::format("{:#x}: no memory is mapped", address);
  const auto shown = [](const RegionInfo& r) {
    return fmt::format("'{}' ({:#x} to {:#x})", r.name, r.address, r.address + r.size);
  };
  const RegionInfo* nearest = nullptr;
  uint64_t distance = ~uint64_t{0};
  bool before = false;
  for (const auto& r : regions_) {
    const RegionInfo& i = r->info;
    if (address - i.address < i.size)
      return fmt::format("{:#x}: byte {} of region {}", address, address - i.address, shown(i));
    const bool is_before = address < i.address;
    const uint64_t d = is_before ? i.address - address : address - (i.address + i.size);
    if (d < distance || (d == distance && !is_before)) nearest = &i, distance = d, before = is_before;
  }
  return before
             ? fmt::format("{:#x}: {} bytes before region {}", address, distance, shown(*nearest))
             : fmt::format("{:#x}: {} bytes past the end of region {}", address, distance, shown(*nearest));
}

namespace {

// Calls f(pointer into a page, bytes) for each piece of [address, address + bytes).
template <class Pages, class F>
void for_each_piece(uint64_t offset, uint64_t bytes, Pages pages, F f) {
  while (bytes != 0) {
    const uint64_t in_page = offset % page_bytes;
    const uint64_t n = std::min(bytes, page_bytes - in_page);
    f(pages(offset / page_bytes) + in_page, n);
    offset += n;
    bytes -= n;
  }
}

} // namespace

Status AddressSpace::read(uint64_t address, std::span<uint8_t> into) const {
  while (!into.empty()) {
    Region* r = find(address);
    if (r == nullptr) return bad_input("address {}", describe(address));
    const uint64_t offset = address - r->info.address;
    const uint64_t n = std::min<uint64_t>(into.size(), r->info.size - offset);
    uint8_t* at = into.data();
    for_each_piece(
        offset + r->lead(), n, [&](uint64_t page) { return r->read_page(page); },
        [&](const uint8_t* from, uint64_t bytes) {
          std::memcpy(at, from, bytes);
          at += bytes;
        });
    address += n;
    into = into.subspan(n);
  }
  return {};
}

Status AddressSpace::write(uint64_t address, std::span<const uint8_t> from) {
  while (!from.empty()) {
    Region* r = find(address);
    if (r == nullptr) return bad_input("address {}", describe(address));
    const uint64_t offset = address - r->info.address;
    const uint64_t n = std::min<uint64_t>(from.size(), r->info.size - offset);
    const uint8_t* at = from.data();
    for_each_piece(
        offset + r->lead(), n, [&](uint64_t page) { return r->write_page(page); },
        [&](uint8_t* to, uint64_t bytes) {
          std::memcpy(to, at, bytes);
          at += bytes;
        });
    address += n;
    from = from.subspan(n);
  }
  return {};
}

void AddressSpace::restore_written(uint64_t address, uint64_t bytes) {
  while (bytes != 0) {
    Region* r = find(address);
    if (r == nullptr) return;
    const uint64_t offset = address - r->info.address, in_page = (offset + r->lead()) % page_bytes;
    const uint64_t n = std::min({bytes, page_bytes - in_page, r->info.size - offset});
    const uint64_t page = (offset + r->lead()) / page_bytes;
    if (r->leaves[page / leaf_pages].load(std::memory_order_acquire) != nullptr)
      if (uint8_t* own = r->slot(page).write.load(std::memory_order_acquire))
        std::memcpy(own + in_page, r->pristine->get(page, r->info.size, r->lead()) + in_page, n);
    address += n;
    bytes -= n;
  }
}

AddressSpace::Window<const uint8_t> AddressSpace::read_window(uint64_t address) const {
  const CachedPage* p = page_at(address);
  if (p == nullptr) return {};
  return {p->address, p->size, p->read()};
}

AddressSpace::Window<uint8_t> AddressSpace::write_window(uint64_t address) {
  const CachedPage* p = page_at(address);
  if (p == nullptr || !p->writable()) return {};
  return {p->address, p->size, p->write()};
}

const uint8_t* AddressSpace::readable(uint64_t address, uint64_t bytes) const {
  const CachedPage* p = page_at(address);
  if (p == nullptr || bytes > p->size - (address - p->address)) return nullptr;
  return p->read() + (address - p->address);
}

uint8_t* AddressSpace::writable(uint64_t address, uint64_t bytes) {
  const CachedPage* p = page_at(address);
  if (p == nullptr || !p->writable() || bytes > p->size - (address - p->address)) return nullptr;
  return p->write() + (address - p->address);
}

bool AddressSpace::all_mapped(uint64_t address, uint64_t bytes) const {
  while (bytes != 0) {
    const Region* r = find(address);
    if (r == nullptr) return false;
    const uint64_t n = std::min(bytes, r->info.size - (address - r->info.address));
    address += n;
    bytes -= n;
  }
  return true;
}

bool AddressSpace::guest_read(uint64_t address, void* into, unsigned bytes) const {
  if (const uint8_t* at = readable(address, bytes)) {
    std::memcpy(into, at, bytes);
    return true;
  }
  return all_mapped(address, bytes) &&
         read(address, std::span(static_cast<uint8_t*>(into), bytes)).has_value();
}

bool AddressSpace::guest_write(uint64_t address, const void* from, unsigned bytes) {
  if (uint8_t* at = writable(address, bytes)) {
    std::memcpy(at, from, bytes);
    return true;
  }
  return may_write(address, bytes) &&
         write(address, std::span(static_cast<const uint8_t*>(from), bytes)).has_value();
}

bool AddressSpace::may_write(uint64_t address, uint64_t bytes) const {
  while (bytes != 0) {
    const Region* r = find(address);
    if (r == nullptr || r->info.access != RegionAccess::ReadWrite) return false;
    const uint64_t n = std::min(bytes, r->info.size - (address - r->info.address));
    address += n;
    bytes -= n;
  }
  return true;
}

bool AddressSpace::is_guard(uint64_t address, uint64_t bytes) const {
  return std::ranges::any_of(regions_, [&](const auto& r) {
    const RegionInfo& i = r->info;
    return i.access == RegionAccess::Guard && (address - i.address < i.size || i.address - address < bytes);
  });
}

std::vector<AddressSpace::Range> AddressSpace::written() const {
  std::vector<Range> list;
  for (const auto& r : regions_)
    for (size_t i = 0; i < r->leaves.size(); ++i) {
      Region::Leaf* leaf = r->leaves[i].load();
      if (leaf == nullptr) continue;
      for (uint64_t p = 0; p < leaf_pages; ++p) {
        if (leaf->slots[p].write.load() == nullptr) continue;
        const uint64_t page = i * leaf_pages + p, lead = page == 0 ? r->lead() : 0;
        const uint64_t offset = page * page_bytes + lead - r->lead();
        const uint64_t address = r->info.address + offset;
        const uint64_t size = std::min(page_bytes - lead, r->info.size - offset);
        if (!list.empty() && list.back().address + list.back().size == address)
          list.back().size += size;
        else
          list.push_back({address, size});
      }
    }
  return list;
}

} // namespace asmevo::emulator
