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
  if (!ops) ops = std::make_unique_for_overwrite<std::array<uint32_t, shadow_page / 4>>();
  any = true;
  set_bits(bytes, offset, count);
  std::fill(ops->begin() + offset / 4, ops->begin() + (offset + count + 3) / 4, op);
}

void TouchedBytes::clear() {
  if (!any) return;
  bytes.fill(0);
  any = false;
}

void WorkgroupTouches::clear() {
  for (size_t i = 0; i < used_; ++i) {
    made_[i]->read.clear();
    made_[i]->written.clear();
    made_[i]->synchronised.clear();
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
  if (synchronising && !write) return; // as good as ordered
  const auto mark = [&](uint64_t address, uint64_t count) {
    while (count != 0) {
      const uint64_t offset = address % shadow_page, now = std::min(count, shadow_page - offset);
      Page& p = page(address / shadow_page);
      TouchedBytes& t = synchronising ? p.synchronised : write ? p.written : p.read;
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
    bytes[w] |= t.bytes[w];
    for (size_t d = 0; d < 16; ++d)
      if ((t.bytes[w] >> (4 * d) & 15) != 0) {
        ops[16 * w + d] = (*t.ops)[16 * w + d];
        workgroups[16 * w + d] = workgroup;
      }
  }
}

void GlobalShadow::compare(uint64_t page, const Known* before, Side side_before, const TouchedBytes& now,
                           Side side_now, const Mark& mark,
                           const std::function<void(const Race&)>& report) const {
  if (before == nullptr || !now.any) return;
  std::set<std::pair<uint32_t, uint32_t>> told;
  for (size_t w = 0; w < now.bytes.size(); ++w)
    for (uint64_t both = before->bytes[w] & now.bytes[w]; both != 0; both &= both - 1) {
      const size_t byte = 64 * w + static_cast<size_t>(std::countr_zero(both)), dword = byte / 4;
      const uint32_t op_before = before->ops[dword], op_now = (*now.ops)[dword];
      if (!told.emplace(op_before, op_now).second) continue;
      const Mark& other = marks_[before->workgroups[dword]];
      const bool ordered = (!side_before.read && other.releases && mark.acquires) ||
                           (!side_now.read && mark.releases && other.acquires);
      report({.read_before = side_before.read,
              .read_now = side_now.read,
              .possible = ordered || side_before.synchronised || side_now.synchronised,
              .address = page * shadow_page + byte,
              .workgroup_before = other.workgroup,
              .workgroup_now = mark.workgroup,
              .op_before = op_before,
              .op_now = op_now});
    }
}

void GlobalShadow::add(const WorkgroupTouches& touches, const std::function<void(const Race&)>& report) {
  const Mark mark{touches.workgroup, touches.acquires, touches.releases};
  const auto number = static_cast<uint32_t>(marks_.size());
  marks_.push_back(mark);
  const Side reads{true, false}, writes{false, false}, synchronises{false, true};
  const auto keep = [&](std::unique_ptr<Known>& known, const TouchedBytes& t) {
    if (!t.any) return;
    if (!known) known = std::make_unique<Known>();
    known->add(t, number);
  };
  for (const auto& [at, now] : touches.pages()) {
    Page& page = pages_[at];
    compare(at, page.written.get(), writes, now->written, writes, mark, report);
    compare(at, page.written.get(), writes, now->read, reads, mark, report);
    compare(at, page.read.get(), reads, now->written, writes, mark, report);
    compare(at, page.synchronised.get(), synchronises, now->written, writes, mark, report);
    compare(at, page.synchronised.get(), synchronises, now->read, reads, mark, report);
    compare(at, page.written.get(), writes, now->synchronised, synchronises, mark, report);
    compare(at, page.read.get(), reads, now->synchronised, synchronises, mark, report);
    keep(page.read, now->read);
    keep(page.written, now->written);
    keep(page.synchronised, now->synchronised);
  }
}

} // namespace asmevo::sanitizer
