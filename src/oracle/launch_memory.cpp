#include "oracle/launch_memory.h"

#include "base/hash.h"
#include "device/emulated_device.h"

#include <algorithm>
#include <cstring>

namespace asmevo::oracle {

namespace {

constexpr uint64_t chunk_bytes = 1 << 20;

// Where an allocation of the emulator starts. With an even seed across a multiple of 4 GiB where its
// alignment allows that, which on a GPU takes an unlucky allocation; with an odd one somewhere, so that the
// bits of its address are others from seed to seed. 0: there is no such place.
uint64_t place_of(const emulator::AddressSpace& memory, const PlannedAllocation& a, uint64_t front,
                  uint64_t seed) {
  constexpr uint64_t most_alignment = uint64_t{1} << 32;
  const uint64_t size = a.bytes + a.guard_behind;
  if (a.alignment <= most_alignment) {
    uint64_t below = align_up(a.bytes / 2, a.alignment); // so much of it lies below the multiple of 4 GiB
    if (seed % 2 != 0) {
      const uint64_t places = most_alignment / std::max<uint64_t>(1, a.alignment);
      below = random_bits(seed, hash64(as_bytes(a.name))) % places * a.alignment;
    }
    return memory.find_across_4_gib(front, below, size);
  }
  const uint64_t free = memory.find_free(front + size, a.alignment);
  return free == 0 ? 0 : free + front;
}

} // namespace

LaunchMemory::LaunchMemory(const LaunchPlan& plan, device::Device& device)
    : plan_(plan), device_(device), emulated_(dynamic_cast<device::EmulatedDevice*>(&device)),
      host_written_(plan.buffers.size()) {}

LaunchMemory::~LaunchMemory() {
  for (const uint64_t address : own_) device_.release(address);
}

Result<std::unique_ptr<LaunchMemory>> LaunchMemory::create(const LaunchPlan& plan, device::Device& device,
                                                           std::shared_ptr<FirstContents> known) {
  std::unique_ptr<LaunchMemory> memory(new LaunchMemory(plan, device));
  memory->known_ = std::move(known);
  if (const Status placed = memory->place(); !placed) return failed(placed.error(), plan.spec.file);
  return memory;
}

Status LaunchMemory::place() {
  // Regions fill themselves from these when they are touched, so pointers may be put in after all have
  // addresses.
  for (const PlannedBuffer& b : plan_.buffers) inits_.push_back(std::make_shared<Init>(b.init));
  for (size_t a = 0; a < plan_.allocations.size(); ++a)
    ASMEVO_CHECK(emulated_ != nullptr ? place_regions(a) : place_block(a));
  set_pointers();
  if (emulated_ != nullptr) return {};
  for (size_t a = 0; a < plan_.allocations.size(); ++a) ASMEVO_CHECK(write_block(a));
  return {};
}

Status LaunchMemory::map_guard(uint64_t address, uint64_t bytes, size_t buffer, bool behind) {
  if (bytes == 0) return {};
  auto guard = std::make_shared<GuardWatch>();
  guard->what =
      fmt::format("memory {} buffer '{}'", behind ? "behind" : "before", plan_.buffers[buffer].name);
  guard->address = address;
  guard->bytes = bytes;
  const std::string name =
      fmt::format("guard {} {}", behind ? "behind" : "before", plan_.buffers[buffer].name);
  ASMEVO_CHECK(
      emulated_->allocate_filled(name, bytes, canaries(guard), address, emulator::RegionAccess::Guard));
  own_.push_back(address);
  guards_.push_back(std::move(guard));
  return {};
}

// Guard, buffer, guard, buffer, ..., guard, each a region; what lies between two buffers is a guard.
Status LaunchMemory::place_regions(size_t allocation) {
  const PlannedAllocation& a = plan_.allocations[allocation];
  const uint64_t front = align_up(a.guard_before, a.alignment);
  const uint64_t first = a.address != 0 ? a.address : place_of(emulated_->memory(), a, front, plan_.seed);
  if (first == 0 || first + a.bytes + a.guard_behind < first)
    return bad_input("allocation '{}' fits nowhere", a.name);
  addresses_.push_back(first);
  if (a.buffers.empty()) return {};
  if (first > a.guard_before)
    ASMEVO_CHECK(map_guard(first - a.guard_before, a.guard_before, a.buffers.front(), false));
  uint64_t end = first; // of what is mapped
  size_t last = a.buffers.front();
  for (const size_t i : a.buffers) {
    const PlannedBuffer& b = plan_.buffers[i];
    const uint64_t at = first + b.offset;
    ASMEVO_CHECK(map_guard(end, at - end, last, i != last));
    end = at + b.bytes;
    last = i;
    if (b.bytes == 0) continue;
    ASMEVO_CHECK(emulated_->allocate_filled(b.name, b.bytes, filling(i), at));
    own_.push_back(at);
  }
  return map_guard(end, a.guard_behind, last, true);
}

// Pages of pointers are not kept: addresses may be others next time.
emulator::PageFill LaunchMemory::filling(size_t buffer) const {
  const PlannedBuffer& b = plan_.buffers[buffer];
  const std::shared_ptr<FirstContents> known = b.pointers.empty() ? known_ : nullptr;
  return [init = std::shared_ptr<const Init>(inits_[buffer]), layout = b.layout, known,
          buffer](uint64_t offset, std::span<uint8_t> page) {
    if (known == nullptr)
      fill(*init, layout, offset, page);
    else
      known->fill(buffer, offset, page, [&](std::span<uint8_t> p) { fill(*init, layout, offset, p); });
  };
}

Status LaunchMemory::place_block(size_t allocation) {
  const PlannedAllocation& a = plan_.allocations[allocation];
  const uint64_t front = align_up(a.guard_before, a.alignment);
  const uint64_t whole = std::max<uint64_t>(front + a.bytes + a.guard_behind, 1);
  if (a.address != 0 && a.address <= front)
    return bad_input("allocation '{}': no room for the guard in front", a.name);
  ASMEVO_TRY(const uint64_t block, device_.allocate(a.name, whole, a.address != 0 ? a.address - front : 0));
  own_.push_back(block);
  addresses_.push_back(block + front);
  return {};
}

Status LaunchMemory::write_block(size_t allocation) {
  const PlannedAllocation& a = plan_.allocations[allocation];
  const uint64_t front = align_up(a.guard_before, a.alignment), from = start(allocation) - front;
  const Bytes canaries(chunk_bytes, canary_byte);
  const uint64_t whole = front + a.bytes + a.guard_behind;
  for (uint64_t at = 0; at < whole; at += chunk_bytes)
    ASMEVO_CHECK(device_.write(from + at, ByteSpan(canaries).first(std::min(chunk_bytes, whole - at))));
  Bytes part(chunk_bytes);
  for (const size_t i : a.buffers)
    for (uint64_t at = 0; at < plan_.buffers[i].bytes; at += chunk_bytes) {
      const std::span<uint8_t> piece =
          std::span(part).first(std::min(chunk_bytes, plan_.buffers[i].bytes - at));
      original(i, at, piece);
      ASMEVO_CHECK(device_.write(address(i) + at, piece));
    }
  return {};
}

void LaunchMemory::set_pointers() {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].pointers.empty()) continue;
    std::vector<uint64_t> codes;
    for (const PlannedPointer& p : plan_.buffers[i].pointers) codes.push_back(address(p.buffer) + p.offset);
    inits_[i]->codes = std::move(codes); // nobody has looked at it yet
  }
}

uint64_t LaunchMemory::start(size_t allocation) const {
  return addresses_[allocation];
}

uint64_t LaunchMemory::address(size_t buffer) const {
  const PlannedBuffer& b = plan_.buffers[buffer];
  return start(b.allocation) + b.offset;
}

Status LaunchMemory::read(size_t buffer, uint64_t offset, std::span<uint8_t> into) const {
  if (into.empty()) return {};
  return device_.read(address(buffer) + offset, into);
}

Status LaunchMemory::write(size_t buffer, uint64_t offset, std::span<const uint8_t> from) {
  if (from.empty()) return {};
  note_host_write(buffer, offset, from.size());
  return device_.write(address(buffer) + offset, from);
}

Result<bool> LaunchMemory::set_untouched(size_t buffer, uint8_t value) {
  if (emulated_ == nullptr) return false;
  emulator::AddressSpace& memory = emulated_->memory();
  const emulator::RegionInfo* found = memory.region_at(address(buffer));
  if (found == nullptr || found->address != address(buffer) || found->size != plan_.buffers[buffer].bytes)
    return false;
  const emulator::RegionInfo region = *found;
  memory.unmap(region.address);
  ASMEVO_CHECK(
      memory.map(region, [value](uint64_t, std::span<uint8_t> page) { std::ranges::fill(page, value); }));
  note_host_write(buffer, 0, region.size);
  return true;
}

void LaunchMemory::note_host_write(size_t buffer, uint64_t offset, uint64_t bytes) {
  std::vector<ByteRange>& ranges = host_written_[plan_.buffers[buffer].alias.value_or(buffer)];
  const auto covered = [&](const ByteRange& r) {
    return offset >= r.offset && offset + bytes <= r.offset + r.size;
  };
  if (std::ranges::any_of(ranges, covered)) return;
  // Steps write from front to back, in pieces.
  if (!ranges.empty() && ranges.back().offset + ranges.back().size == offset)
    ranges.back().size += bytes;
  else
    ranges.push_back({offset, bytes});
}

Result<std::vector<uint64_t>> LaunchMemory::codes(size_t buffer, uint64_t first, uint64_t count) const {
  const Layout& layout = plan_.buffers[buffer].layout;
  const unsigned bits = std::min(layout.type().bits, 64U); // of longer opaque ones the beginning
  std::vector<uint64_t> list;
  for (uint64_t i = first; i < layout.count() && i - first < count; ++i) {
    const uint64_t bit = layout.place_of(i) * layout.type().bits;
    std::array<uint8_t, 16> bytes{};
    ASMEVO_CHECK(read(buffer, bit / 8, std::span(bytes).first((bit % 8 + bits + 7) / 8)));
    uint64_t code = 0;
    std::memcpy(&code, bytes.data(), 8);
    code >>= bit % 8; // elements of several bytes start at one
    list.push_back(bits == 64 ? code : code & ((uint64_t{1} << bits) - 1));
  }
  return list;
}

void LaunchMemory::original(size_t buffer, uint64_t offset, std::span<uint8_t> into) const {
  const PlannedBuffer& b = plan_.buffers[buffer];
  const size_t owner = b.alias.value_or(buffer);
  fill(*inits_[owner], plan_.buffers[owner].layout, offset + b.offset - plan_.buffers[owner].offset, into);
}

Status LaunchMemory::compare(size_t buffer, const Compare& f) const {
  const uint64_t first = address(buffer), end = first + plan_.buffers[buffer].bytes;
  Bytes now(chunk_bytes), before(chunk_bytes);
  const auto part = [&](uint64_t from, uint64_t to) -> Result<bool> {
    for (; from < to; from += chunk_bytes) {
      const uint64_t n = std::min(chunk_bytes, to - from);
      ASMEVO_CHECK(device_.read(from, std::span(now).first(n)));
      original(buffer, from - first, std::span(before).first(n));
      if (!f(from - first, ByteSpan(now).first(n), ByteSpan(before).first(n))) return false;
    }
    return true;
  };
  if (emulated_ == nullptr) {
    ASMEVO_CHECK(part(first, end));
    return {};
  }
  for (const auto& range : emulated_->memory().written()) {
    const uint64_t from = std::max(range.address, first), to = std::min(range.address + range.size, end);
    if (from >= to) continue;
    ASMEVO_TRY(const bool more, part(from, to));
    if (!more) break;
  }
  return {};
}

bool LaunchMemory::host_wrote(size_t buffer, uint64_t offset) const {
  return std::ranges::any_of(host_written_[buffer],
                             [&](const ByteRange& r) { return offset - r.offset < r.size; });
}

Result<std::string> LaunchMemory::padding_damage(size_t buffer) const {
  const PlannedBuffer& b = plan_.buffers[buffer];
  if (b.layout.dense() || !b.layout.type().whole_bytes()) return std::string();
  std::string found;
  const uint64_t element = b.layout.type().bits / 8;
  ASMEVO_CHECK(compare(buffer, [&](uint64_t offset, ByteSpan now, ByteSpan before) {
    for (uint64_t i = 0; i < now.size(); ++i) {
      if (now[i] == before[i] || b.layout.index_at((offset + i) / element) || host_wrote(buffer, offset + i))
        continue;
      found = fmt::format("guard_damaged: buffer '{}': byte {}, between its rows, is {:#04x} and was {:#04x}",
                          b.name, offset + i, now[i], before[i]);
      return false;
    }
    return true;
  }));
  return found;
}

Result<std::string> LaunchMemory::compare_canaries(size_t allocation, uint64_t from, uint64_t to) const {
  Bytes now(chunk_bytes);
  for (; from < to; from += chunk_bytes) {
    const std::span<uint8_t> piece = std::span(now).first(std::min(chunk_bytes, to - from));
    ASMEVO_CHECK(device_.read(from, piece));
    const auto wrong = std::ranges::find_if(piece, [](uint8_t byte) { return byte != canary_byte; });
    if (wrong == piece.end()) continue;
    const uint64_t at = from + static_cast<uint64_t>(wrong - piece.begin());
    const PlannedAllocation& a = plan_.allocations[allocation];
    size_t nearest = a.buffers.front();
    for (const size_t i : a.buffers)
      if (address(i) <= at) nearest = i;
    const auto distance = static_cast<int64_t>(at - address(nearest));
    return fmt::format("guard_damaged: byte {} of buffer '{}', which has {}, is {:#04x}", distance,
                       plan_.buffers[nearest].name, plan_.buffers[nearest].bytes, *wrong);
  }
  return std::string();
}

Result<std::string> LaunchMemory::block_guard_damage(size_t allocation) const {
  const PlannedAllocation& a = plan_.allocations[allocation];
  if (a.buffers.empty()) return std::string();
  const uint64_t first = start(allocation);
  uint64_t end = first - align_up(a.guard_before, a.alignment);
  for (const size_t i : a.buffers) {
    ASMEVO_TRY(std::string found, compare_canaries(allocation, end, address(i)));
    if (!found.empty()) return found;
    end = address(i) + plan_.buffers[i].bytes;
  }
  return compare_canaries(allocation, end, first + a.bytes + a.guard_behind);
}

Result<std::string> LaunchMemory::damage() const {
  if (emulated_ == nullptr)
    for (size_t a = 0; a < plan_.allocations.size(); ++a) {
      ASMEVO_TRY(std::string found, block_guard_damage(a));
      if (!found.empty()) return found;
    }
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].alias) continue;
    ASMEVO_TRY(std::string found, padding_damage(i));
    if (!found.empty()) return found;
  }
  return std::string();
}

Result<std::vector<size_t>> LaunchMemory::changed_inputs() const {
  std::vector<size_t> list;
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const PlannedBuffer& b = plan_.buffers[i];
    const bool shared =
        b.alias || std::ranges::any_of(plan_.buffers, [&](const auto& o) { return o.alias == i; });
    if (b.role != Role::In || shared || !host_written_[i].empty()) continue;
    bool changed = false;
    ASMEVO_CHECK(compare(i, [&](uint64_t, ByteSpan now, ByteSpan before) {
      changed = std::memcmp(now.data(), before.data(), now.size()) != 0;
      return !changed;
    }));
    if (changed) list.push_back(i);
  }
  return list;
}

std::vector<std::string> LaunchMemory::guard_reads() const {
  return oracle::guard_reads(guards_);
}

emulator::PageFill canaries(std::shared_ptr<GuardWatch> guard, uint8_t byte) {
  return [guard = std::move(guard), byte](uint64_t, std::span<uint8_t> page) {
    guard->touched = true;
    std::ranges::fill(page, byte);
  };
}

std::vector<std::string> guard_reads(const std::vector<std::shared_ptr<GuardWatch>>& guards) {
  std::vector<std::string> list;
  for (const auto& guard : guards)
    if (guard->touched) list.push_back(guard->what + " was read");
  return list;
}

} // namespace asmevo::oracle
