#include "emulator/address_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace asmevo::emulator {

namespace {

constexpr uint64_t leaf_pages = 512;
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
    PageFill fill;
    std::mutex mutex;
    std::vector<std::unique_ptr<Page*[]>> leaves;
    ~Pristine() {
      for (const auto& leaf : leaves)
        for (uint64_t i = 0; leaf && i < leaf_pages; ++i) release(leaf[i]);
    }
    const uint8_t* get(uint64_t page, uint64_t region_bytes) {
      if (!fill) return zero_page;
      const std::scoped_lock lock(mutex);
      auto& leaf = leaves[page / leaf_pages];
      if (!leaf) leaf = std::make_unique<Page*[]>(leaf_pages);
      Page*& p = leaf[page % leaf_pages];
      if (p == nullptr) {
        p = new Page;
        std::memset(p->bytes, 0, page_bytes);
        const uint64_t offset = page * page_bytes;
        fill(offset, std::span(p->bytes, std::min(page_bytes, region_bytes - offset)));
      }
      return p->bytes;
    }
  };

  RegionInfo info;
  std::shared_ptr<Pristine> pristine;
  std::vector<std::atomic<Leaf*>> leaves;
  std::mutex mutex;
  std::vector<Page*> retired; // replaced by a private copy; another thread may still be reading them

  explicit Region(RegionInfo i) : info(std::move(i)), leaves((info.size + leaf_bytes - 1) / leaf_bytes) {}
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
    const uint8_t* bytes = pristine->get(page, info.size);
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
AddressSpace::AddressSpace(AddressSpace&&) noexcept = default;
AddressSpace& AddressSpace::operator=(AddressSpace&&) noexcept = default;

namespace {
// The region this thread found last: waves stay in a few regions for long.
struct LastFound {
  uint64_t generation = ~uint64_t{0};
  void* region = nullptr;
};
thread_local LastFound last_found;
} // namespace

AddressSpace::Region* AddressSpace::find(uint64_t address) const {
  if (last_found.generation == generation_) {
    auto* region = static_cast<Region*>(last_found.region);
    if (address - region->info.address < region->info.size) return region;
  }
  auto after = std::ranges::upper_bound(regions_, address, {}, [](const auto& r) { return r->info.address; });
  if (after == regions_.begin()) return nullptr;
  Region* region = std::prev(after)->get();
  if (address - region->info.address >= region->info.size) return nullptr;
  last_found = {generation_, region};
  return region;
}

Status AddressSpace::map(RegionInfo info, PageFill fill) {
  if (info.size == 0) return bad_input("region '{}' has no bytes", info.name);
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
  const auto aligned = [&](uint64_t a) { return (a + alignment - 1) & ~(alignment - 1); };
  uint64_t candidate = aligned(uint64_t{0x7000'0000'0000});
  for (const auto& r : regions_) {
    if (r->info.address + r->info.size + page_bytes <= candidate) continue;
    if (candidate + size + page_bytes <= r->info.address) break;
    candidate = aligned(r->info.address + r->info.size + page_bytes);
  }
  return candidate;
}

void AddressSpace::unmap(uint64_t address) {
  std::erase_if(regions_, [&](const auto& r) { return r->info.address == address; });
  generation_ = next_generation.fetch_add(1);
}

AddressSpace AddressSpace::fork() const {
  AddressSpace copy;
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
        offset, n, [&](uint64_t page) { return r->read_page(page); },
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
        offset, n, [&](uint64_t page) { return r->write_page(page); },
        [&](uint8_t* to, uint64_t bytes) {
          std::memcpy(to, at, bytes);
          at += bytes;
        });
    address += n;
    from = from.subspan(n);
  }
  return {};
}

const uint8_t* AddressSpace::readable(uint64_t address, uint64_t bytes) const {
  Region* r = find(address);
  if (r == nullptr) return nullptr;
  const uint64_t offset = address - r->info.address, in_page = offset % page_bytes;
  if (in_page + bytes > page_bytes || offset + bytes > r->info.size) return nullptr;
  return r->read_page(offset / page_bytes) + in_page;
}

uint8_t* AddressSpace::writable(uint64_t address, uint64_t bytes) {
  Region* r = find(address);
  if (r == nullptr || r->info.access != RegionAccess::ReadWrite) return nullptr;
  const uint64_t offset = address - r->info.address, in_page = offset % page_bytes;
  if (in_page + bytes > page_bytes || offset + bytes > r->info.size) return nullptr;
  return r->write_page(offset / page_bytes) + in_page;
}

bool AddressSpace::guest_read(uint64_t address, void* into, unsigned bytes) const {
  if (const uint8_t* at = readable(address, bytes)) {
    std::memcpy(into, at, bytes);
    return true;
  }
  return read(address, std::span(static_cast<uint8_t*>(into), bytes)).has_value();
}

bool AddressSpace::guest_write(uint64_t address, const void* from, unsigned bytes) {
  if (uint8_t* at = writable(address, bytes)) {
    std::memcpy(at, from, bytes);
    return true;
  }
  for (uint64_t at = address, left = bytes; left != 0;) {
    const Region* r = find(at);
    if (r == nullptr || r->info.access != RegionAccess::ReadWrite) return false;
    const uint64_t n = std::min(left, r->info.size - (at - r->info.address));
    at += n;
    left -= n;
  }
  return write(address, std::span(static_cast<const uint8_t*>(from), bytes)).has_value();
}

bool AddressSpace::is_guard(uint64_t address, uint64_t bytes) const {
  for (const uint64_t at : {address, address + bytes - 1}) {
    const Region* r = find(at);
    if (r != nullptr && r->info.access == RegionAccess::Guard) return true;
  }
  return false;
}

std::vector<AddressSpace::Range> AddressSpace::written() const {
  std::vector<Range> list;
  for (const auto& r : regions_)
    for (size_t i = 0; i < r->leaves.size(); ++i) {
      Region::Leaf* leaf = r->leaves[i].load();
      if (leaf == nullptr) continue;
      for (uint64_t p = 0; p < leaf_pages; ++p) {
        if (leaf->slots[p].write.load() == nullptr) continue;
        const uint64_t offset = (i * leaf_pages + p) * page_bytes;
        const uint64_t address = r->info.address + offset;
        const uint64_t size = std::min(page_bytes, r->info.size - offset);
        if (!list.empty() && list.back().address + list.back().size == address)
          list.back().size += size;
        else
          list.push_back({address, size});
      }
    }
  return list;
}

} // namespace asmevo::emulator
