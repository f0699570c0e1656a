#include "sanitizer/wait_states.h"

#include <algorithm>
#include <vector>

namespace asmevo::sanitizer {

namespace {

constexpr uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15U;
  return a ^ a >> 29;
}

bool writes_all(const isa::Instruction& i, const isa::RegRange& r) {
  return r.count != 0 && std::ranges::any_of(i.defs, [&](const isa::RegRange& d) {
           return d.first <= r.first && r.first + r.count <= d.first + d.count;
         });
}

} // namespace

void WaitStates::clear() {
  recent_.fill({});
  jumps_.fill({});
  executed_ = states_ = jump_count_ = next_pc_ = way_ = way_until_ = 0;
}

void WaitStates::find_way(uint64_t pc) {
  if (executed_ != 0 && pc != next_pc_) jumps_[jump_count_++ % depth] = {executed_, mix(next_pc_, pc)};
  way_ = 0;
  way_until_ = ~uint64_t{0};
  for (uint64_t n = std::min<uint64_t>(jump_count_, depth); n-- > 0;) {
    const Jump& j = jumps_[(jump_count_ - 1 - n) % depth];
    const uint64_t end = j.instruction + isa::max_hazard_wait_states;
    if (end <= executed_) continue;
    way_until_ = std::min(way_until_, end); // the first to drop out
    way_ = mix(way_ + 1, j.key);
  }
}

// Whether it has been looked at for this way; if not, it is from now on.
bool WaitStates::been_here(OpInfo& info) const {
  if (way_ == 0) {
    // The first instructions of a wave have fewer before them than others that come straight.
    if (executed_ >= isa::max_hazard_wait_states) info.seen_straight = true;
    return false;
  }
  info.seen_last = way_;
  if (std::ranges::find(info.seen, way_) != info.seen.end()) return true;
  constexpr size_t most = 64; // beyond: looked at again each time
  if (info.seen.size() < most) info.seen.push_back(way_);
  return false;
}

isa::Hazard WaitStates::across_dgemm(const Recent& first, unsigned since, const OpInfo& second,
                                     const isa::HazardRules& rules) const {
  using isa::HazardClass;
  const unsigned needed = rules.table().valu_dgemm_memory;
  if (needed == 0 || (second.hazards.is & HazardClass::Memory) == 0 || since == 0 || since >= needed)
    return {};
  if ((first.info->hazards.is & HazardClass::Valu) == 0 ||
      (first.info->hazards.is & HazardClass::Matrix) != 0)
    return {};
  const bool between = std::ranges::any_of(recent_, [&](const Recent& r) {
    return r.info != nullptr && r.at > first.at &&
           r.info->hazards.instruction->matrix == isa::MatrixKind::Dgemm;
  });
  if (!between) return {};
  for (const isa::RegRange& u : second.hazards.instruction->uses)
    if (isa::is_vector(u.first) && first.info->hazards.instruction->writes(u))
      return {isa::HazardRule::ValuDgemmMemory, needed, u};
  return {};
}

// By a matrix instruction, all of it: nothing is left of an overlap with an earlier result.
bool WaitStates::written_since(const Recent& first, const isa::RegRange& accumulator) const {
  return std::ranges::any_of(recent_, [&](const Recent& r) {
    if (r.info == nullptr || r.at <= first.at) return false;
    const isa::Instruction& between = *r.info->hazards.instruction;
    const isa::Operand* const result = between.find(isa::Role::Vdst);
    return between.matrix != isa::MatrixKind::None && result != nullptr && result->reg == accumulator;
  });
}

void WaitStates::look(const OpInfo& second, const isa::HazardRules& rules, const isa::Target& target,
                      const Report& report) const {
  // What the second needs of an instruction that has written all of the register. Earlier ones that ask for
  // no more by the same rule are answered by it.
  std::vector<isa::Hazard> nearer;
  const auto is_answered = [&](const isa::Hazard& h) {
    return std::ranges::any_of(nearer, [&](const isa::Hazard& n) {
      return n.rule == h.rule && n.object == h.object && n.wait_states >= h.wait_states;
    });
  };
  for (uint64_t n = 1; n <= std::min<uint64_t>(executed_, depth); ++n) {
    const Recent& first = recent_[(executed_ - n) % depth];
    if (first.info == nullptr) continue;
    const auto since = static_cast<unsigned>(states_ - first.at - first.info->wait_states);
    if (since >= isa::max_hazard_wait_states) break;
    if (since >= first.info->hazards.reach) continue;
    isa::Hazard worst, contested;
    const isa::Hazards hazards = rules.between(first.info->hazards, second.hazards);
    for (const isa::Hazard& h : hazards) {
      if (h.rule == isa::HazardRule::MatrixSrcC && written_since(first, h.object)) continue;
      if (is_answered(h)) continue;
      isa::Hazard& kept = isa::is_contested(h.rule, target) ? contested : worst;
      if (h.wait_states > kept.wait_states) kept = h;
    }
    if (const isa::Hazard h = across_dgemm(first, since, second, rules); h.wait_states > worst.wait_states)
      worst = h;
    if (worst.wait_states > since)
      report({first.info, worst, worst.wait_states - since, false});
    else if (contested.wait_states > since)
      report({first.info, contested, contested.wait_states - since, true});
    for (const isa::Hazard& h : hazards)
      if (writes_all(*first.info->hazards.instruction, h.object)) nearer.push_back(h);
  }
}

} // namespace asmevo::sanitizer
