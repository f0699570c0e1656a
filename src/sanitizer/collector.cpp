#include "sanitizer/collector.h"

#include <fmt/format.h>

#include <utility>

namespace asmevo::sanitizer {

void add_defect(RawDefects& list, RawDefect d) {
  const auto [at, is_new] = list.try_emplace(d.key, d);
  if (is_new) return;
  const uint64_t times = at->second.times + d.times;
  if (d.second_workgroup < at->second.second_workgroup) at->second = std::move(d);
  at->second.times = times;
}

Collector::Collector(const std::vector<uint64_t>& order) {
  for (uint64_t i = 0; i < order.size(); ++i) positions_.emplace(order[i], i);
}

uint64_t Collector::position(uint64_t workgroup) const {
  const auto found = positions_.find(workgroup);
  return found == positions_.end() ? workgroup : found->second;
}

void Collector::know(uint32_t op, const OpPlace& place) {
  const std::scoped_lock lock(mutex_);
  ops_.emplace(op, place);
}

void Collector::workgroup_ended(uint64_t workgroup, RawDefects defects,
                                std::unique_ptr<WorkgroupTouches> touches) {
  const std::scoped_lock lock(mutex_);
  for (auto& [key, d] : defects) add_defect(defects_, std::move(d));
  if (!touches) return;
  waiting_[position(workgroup)] = std::move(touches);
  for (auto next = waiting_.begin(); next != waiting_.end() && next->first == next_; ++next_) {
    add_touches(*next->second);
    next = waiting_.erase(next);
  }
}

void Collector::add_touches(const WorkgroupTouches& touches) {
  shadow_.add(touches, [this](const GlobalShadow::Race& r) { add_race(r); });
}

void Collector::add_race(const GlobalShadow::Race& r) {
  const OpPlace before = ops_[r.op_before], now = ops_[r.op_now];
  RawDefect d;
  d.key = {DefectKind::GlobalRace,
           fmt::format("{}-{}", r.read_before ? "read" : "write", r.read_now ? "read" : "write"), r.possible,
           before.pc, now.pc};
  d.first = before.instruction, d.second = now.instruction;
  d.first_workgroup = r.workgroup_before, d.second_workgroup = r.workgroup_now;
  d.object = fmt::format("memory {:#x}", r.address);
  d.fix = "workgroups run in any order: let one of them do both, or use atomics";
  add_defect(defects_, std::move(d));
}

RawDefects Collector::take() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [at, touches] : waiting_) add_touches(*touches);
  waiting_.clear();
  // What is certain somewhere need not be called possible elsewhere.
  std::erase_if(defects_, [&](const auto& entry) {
    RawDefect::Key certain = entry.first;
    certain.possible = false;
    return entry.first.possible && defects_.contains(certain);
  });
  return std::exchange(defects_, {});
}

} // namespace asmevo::sanitizer
