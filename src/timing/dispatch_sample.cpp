#include "timing/dispatch_sample.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace asmevo::timing {

namespace {

using P = Parameter;

constexpr double rounds_wanted = 2.5; // of a full machine, in a sequence
constexpr double rounds_in_block = 1.5;
constexpr unsigned fewest_cus = 2, most_blocks = 5;
// A few workgroups to their end tell more than many to their middle: worth so much more effort.
constexpr double to_the_end = 3;
constexpr double fewest_steps = 12'000; // of a wave that is cut

// `count` of the XCD's `all` workgroups (by their order in it), in blocks with equal distances.
std::vector<uint64_t> in_blocks(uint64_t count, uint64_t all, uint64_t blocks) {
  std::vector<uint64_t> list;
  for (uint64_t b = 0; b < blocks; ++b) {
    const uint64_t size = count * (b + 1) / blocks - count * b / blocks;
    const uint64_t first = blocks == 1 ? 0 : (all - size) * b / (blocks - 1);
    for (uint64_t n = 0; n < size; ++n) list.push_back(first + n);
  }
  return list;
}

// `count` of the XCD's `all` workgroups at equal distances.
std::vector<uint64_t> spread(uint64_t count, uint64_t all) {
  std::vector<uint64_t> list;
  for (uint64_t n = 0; n < count; ++n) list.push_back(n * all / count);
  return list;
}

// Workgroups that so many compute units need to be filled often enough, or all that they have to do.
double needed(const DispatchSize& size, uint64_t all, unsigned cus, unsigned of_cus) {
  return std::min(rounds_wanted * cus * size.workgroups_per_cu,
                  std::ceil(static_cast<double>(all) * cus / of_cus));
}

void sequence(DispatchSample& s, const DispatchSize& size, uint64_t all, uint64_t affordable) {
  const double round = static_cast<double>(s.cus) * size.workgroups_per_cu;
  const auto on_these = static_cast<uint64_t>(std::ceil(static_cast<double>(all) * s.share));
  const uint64_t count = std::min(affordable, on_these);
  s.all = static_cast<double>(all) * s.share;
  s.kind = count == on_these && s.share == 1 ? DispatchSample::Kind::Whole : DispatchSample::Kind::Sequence;
  // All that these compute units would do are representative of the dispatch if taken from everywhere. Where
  // some stand for the rest, neighbours stay together, for they share what is in the caches.
  if (count == on_these) {
    s.workgroups = spread(count, all);
    return;
  }
  const auto blocks = static_cast<uint64_t>(static_cast<double>(count) / round / rounds_in_block);
  s.workgroups = in_blocks(count, all, std::clamp<uint64_t>(blocks, 1, most_blocks));
}

void cut(DispatchSample& s, const DispatchSize& size, uint64_t all, unsigned cus, uint64_t effort) {
  const double length = size.instructions / size.waves_per_workgroup; // of a wave
  const double steps = std::min(length, fewest_steps);
  const double at_once = std::min<double>(size.workgroups_per_cu, static_cast<double>(all) / cus);
  const double affordable = static_cast<double>(effort) / (steps * size.waves_per_workgroup);
  s.kind = DispatchSample::Kind::Cut;
  s.cus =
      static_cast<unsigned>(std::clamp(affordable / std::max(at_once, 1e-9), 2.0, static_cast<double>(cus)));
  s.share = static_cast<double>(s.cus) / cus;
  s.all = static_cast<double>(all) * s.share;
  const auto count =
      static_cast<uint64_t>(std::clamp(std::round(at_once * s.cus), 1.0, static_cast<double>(all)));
  s.workgroups = in_blocks(count, all, 1);
  s.most_steps = static_cast<uint64_t>(std::max(
      fewest_steps, static_cast<double>(effort) / static_cast<double>(count) / size.waves_per_workgroup));
}

} // namespace

std::string_view name(DispatchSample::Kind kind) {
  switch (kind) {
  case DispatchSample::Kind::Whole: return "whole";
  case DispatchSample::Kind::Sequence: return "sequence";
  case DispatchSample::Kind::Cut: return "cut";
  }
  return "";
}

DispatchSample choose_sample(const DispatchSize& size, const Machine& machine, uint64_t effort) {
  DispatchSample s;
  const auto xcds = static_cast<uint64_t>(machine[P::xcds]);
  const auto cus = static_cast<unsigned>(machine[P::cus_per_xcd]);
  const uint64_t all = (size.workgroups + xcds - 1) / xcds; // of the first XCD, which has the most
  s.xcds = static_cast<double>(std::min(xcds, size.workgroups));
  const double affordable = static_cast<double>(effort) / std::max(1.0, size.instructions);
  s.cus = cus;
  // The most compute units that can be filled often enough.
  while (s.cus > fewest_cus && affordable < needed(size, all, s.cus, cus))
    s.cus = std::max(fewest_cus, s.cus - 2);
  s.share = static_cast<double>(s.cus) / cus;
  const double least = needed(size, all, s.cus, cus);
  if (affordable * to_the_end < least)
    cut(s, size, all, cus, effort);
  else
    sequence(s, size, all, static_cast<uint64_t>(std::max(affordable, least)));
  for (uint64_t& w : s.workgroups) w = std::min(w * xcds, size.workgroups - 1);
  return s;
}

std::vector<uint64_t> probe_workgroups(uint64_t workgroups) {
  constexpr uint64_t parts = 8;
  std::vector<uint64_t> list = {0, workgroups - 1};
  RandomStream random(workgroups);
  for (uint64_t n = 0; n < parts; ++n) {
    const uint64_t low = workgroups * n / parts, high = workgroups * (n + 1) / parts;
    if (low < high) list.push_back(low + random.below(high - low));
  }
  std::ranges::sort(list);
  const auto behind = std::ranges::unique(list);
  list.erase(behind.begin(), behind.end());
  return list;
}

} // namespace asmevo::timing
