#include "timing/footprint.h"

#include "timing/dispatch_trace.h"

#include <algorithm>
#include <unordered_set>

namespace asmevo::timing {

namespace {

constexpr uint64_t line = 128;
// Of the lines one in so many is counted, whichever their hash chooses.
constexpr uint64_t one_in = 8;

bool counted(uint64_t number) {
  return (number * 0x9e3779b97f4a7c15U >> 40) % one_in == 0;
}

} // namespace

Footprint footprint(const DispatchTrace& trace) {
  std::unordered_set<uint64_t> lines;
  for (const WorkgroupTrace& g : trace.groups)
    for (const WaveTrace& w : g.waves)
      for (const TracedPiece& p : w.pieces)
        if (counted(p.address() / line)) lines.insert(p.address() / line);
  std::vector<double> touched(trace.regions.size());
  for (const uint64_t number : lines) {
    const auto behind =
        std::ranges::upper_bound(trace.regions, number * line + line - 1, {}, &emulator::RegionInfo::address);
    if (behind != trace.regions.begin())
      touched[static_cast<size_t>(behind - trace.regions.begin()) - 1] += line * one_in;
  }
  const double traced = std::max<double>(1, static_cast<double>(trace.groups.size()));
  const double all = static_cast<double>(trace.size.workgroups);
  Footprint f;
  for (size_t n = 0; n < touched.size(); ++n) {
    const auto size = static_cast<double>(trace.regions[n].size);
    f.xcd += std::min(size, touched[n] * std::max(1.0, all / trace.sample.xcds / traced));
    f.all += std::min(size, touched[n] * std::max(1.0, all / traced));
  }
  return f;
}

} // namespace asmevo::timing
