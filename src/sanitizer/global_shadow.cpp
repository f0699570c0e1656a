#include "sanitizer/global_shadow.h"

#include "emulator/memory_access.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace asmevo::sanitizer {

namespace {

void set_bits(std::array<uint64_t, shadow_page / 64>& bits, unsigned first, unsigned count) {
  while (count != 0) {
    const unsigned in_word = first % 64, now = std::min(count, 64 - in_word);
    bits[first / 64] |= (now == 64 ? ~uint64_t{0} : (uint64_t{1} << now) - 1) << in_word;
    first += now;
    count -= now;
  }
}

} // namespace

void TouchedBytes::mark(unsigned offset, unsigned count, uint32_t op) {
  if (!ops) ops = std::make_unique<ByteNotes<uint32_t>>();
  any = true;
  const auto part = [&](unsigned from, unsigned to) { // of one dword
    const unsigned which = ((1U << (to - from)) - 1) << from % 4;
    const auto there = static_cast<unsigned>(bytes[from / 64] >> (from / 4 * 4 % 64) & 15);
    ops->set(from / 4, which, there, op);
  };
  const unsigned end = offset + count, whole = (offset + 3) / 4, whole_end = end / 4;
  if (offset < 4 * whole) part(offset, std::min(end, 4 * whole));
  if (whole < whole_end) ops->fill(whole, whole_end - whole, op);
  if (end > 4 * whole_end && whole_end >= whole) part(4 * whole_end, end);
  set_bits(bytes, offset, count);
}

void TouchedBytes::clear() {
  if (!any) return;
  bytes.fill(0);
  ops->clear();
  any = false;
}

void WorkgroupTouches::clear() {
  for (size_t i = 0; i < used_; ++i) {
    made_[i]->read.clear();
    made_[i]->written.clear();
    made_[i]->synchronised_read.clear();
    made_[i]->synchronised_written.clear();
  }
  used_ = 0;
  pages_.clear();
  last_ = nullptr;
  last_number_ = ~uint64_t{0};
  acquires = releases = false;
}

WorkgroupTouches::Page& WorkgroupTouches::page(uint64_t number) {
  if (number == last_number_) return *last_;
  Page*& p = pages_[number];
  if (p == nullptr) {
    if (used_ == made_.size()) made_.push_back(std::make_unique<Page>());
    p = made_[used_++].get();
  }
  last_number_ = number;
  last_ = p;
  return *p;
}

void WorkgroupTouches::note(const emulator::MemoryEvent& e, uint32_t op, bool synchronising) {
  const bool write = e.store || e.atomic;
  synchronising = synchronising || e.atomic;
  if (synchronising) (write ? releases : acquires) = true;
  if (e.atomic && e.load) acquires = true;
  const auto mark = [&](uint64_t address, uint64_t count) {
    while (count != 0) {
      const uint64_t offset = address % shadow_page, now = std::min(count, shadow_page - offset);
      Page& p = page(address / shadow_page);
      TouchedBytes& t = write           ? synchronising ? p.synchronised_written : p.written
                        : synchronising ? p.synchronised_read
                                        : p.read;
      t.mark(static_cast<unsigned>(offset), static_cast<unsigned>(now), op);
      address += now;
      count -= now;
    }
  };
  if (e.space == isa::MemoryKind::Scalar) return mark(e.addresses[0], e.bytes);
  if (e.in_a_row()) return mark(e.addresses[0], uint64_t{e.bytes} * emulator::lanes);
  emulator::for_each_lane(e.lanes, [&](unsigned l) { mark(e.addresses[l], e.bytes); });
}

void GlobalShadow::Known::add(const TouchedBytes& t, uint32_t workgroup) {
  for (size_t w = 0; w < bytes.size(); ++w) {
    if (t.bytes[w] == 0) continue;
    for (unsigned d = 0; d < 16; ++d) {
      const auto which = static_cast<unsigned>(t.bytes[w] >> (4 * d) & 15);
      if (which == 0) continue;
      const auto dword = static_cast<unsigned>(16 * w + d);
      const auto there = static_cast<unsigned>(bytes[w] >> (4 * d) & 15);
      if (!t.ops->is_divided()) [[likely]] {
        touchers.set(dword, which, there, {t.ops->at(4 * dword), workgroup});
        continue;
      }
      for (unsigned b = 0, known = there; b < 4; ++b)
        if ((which >> b & 1) != 0) {
          touchers.set(dword, 1U << b, known, {t.ops->at(4 * dword + b), workgroup});
          known |= 1U << b;
        }
    }
    bytes[w] |= t.bytes[w];
  }
}

void GlobalShadow::compare(uint64_t page, const KnownByMark& before, Side side_before,
                           const TouchedBytes& now, Side side_now, const Mark& mark,
                           const Report& report) const {
  if (!now.any) return;
  for (size_t m = 0; m < before.size(); ++m) {
    if (before[m] == nullptr) continue;
    const Known& known = *before[m];
    const Mark other = Mark::of(m);
    const bool ordered = (!side_before.read && other.releases && mark.acquires) ||
                         (!side_now.read && mark.releases && other.acquires);
    std::set<std::pair<uint32_t, uint32_t>> told;
    for (size_t w = 0; w < now.bytes.size(); ++w)
      for (uint64_t both = known.bytes[w] & now.bytes[w]; both != 0; both &= both - 1) {
        const auto byte = static_cast<unsigned>(64 * w + static_cast<size_t>(std::countr_zero(both)));
        const Toucher toucher = known.touchers.at(byte);
        const uint32_t op_now = now.ops->at(byte);
        if (!told.emplace(toucher.op, op_now).second) continue;
        report({.read_before = side_before.read,
                .read_now = side_now.read,
                .possible = ordered || side_before.synchronised || side_now.synchronised,
                .address = page * shadow_page + byte,
                .workgroup_before = workgroups_[toucher.workgroup],
                .workgroup_now = workgroups_.back(),
                .op_before = toucher.op,
                .op_now = op_now});
      }
  }
}

void GlobalShadow::add(const WorkgroupTouches& touches, const Report& report) {
  const Mark mark{touches.acquires, touches.releases};
  const auto number = static_cast<uint32_t>(workgroups_.size());
  workgroups_.push_back(touches.workgroup);
  const Side reads{true, false}, writes{false, false}, sync_reads{true, true}, sync_writes{false, true};
  const auto keep = [&](KnownByMark& known, const TouchedBytes& t) {
    if (!t.any) return;
    std::unique_ptr<Known>& k = known[mark.index()];
    if (!k) k = std::make_unique<Known>();
    k->add(t, number);
  };
  for (const auto& [at, now] : touches.pages()) {
    Page& page = pages_[at];
    const auto against = [&](const KnownByMark& before, Side side_before, const TouchedBytes& touched,
                             Side side_now) {
      compare(at, before, side_before, touched, side_now, mark, report);
    };
    against(page.written, writes, now->written, writes);
    against(page.written, writes, now->read, reads);
    against(page.read, reads, now->written, writes);
    against(page.synchronised_written, sync_writes, now->written, writes);
    against(page.synchronised_written, sync_writes, now->read, reads);
    against(page.written, writes, now->synchronised_written, sync_writes);
    against(page.read, reads, now->synchronised_written, sync_writes);
    against(page.written, writes, now->synchronised_read, sync_reads);
    against(page.synchronised_read, sync_reads, now->written, writes);
    keep(page.read, now->read);
    keep(page.written, now->written);
    keep(page.synchronised_read, now->synchronised_read);
    keep(page.synchronised_written, now->synchronised_written);
  }
}

} // namespace asmevo::sanitizer
