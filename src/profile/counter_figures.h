// What hardware counters of whole dispatches say without a machine model: bytes, hit rates, how much of their
// time units and waves did something. Names and formulas are those of rocprofiler's counter definitions for
// gfx90a, gfx942 and gfx950; a figure is there where the file has the counters that it needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace asmevo::profile {

struct CounterFigure {
  enum class Unit : uint8_t { Number, Bytes, Share };
  std::string name; // "L2 hits"
  double value = 0;
  Unit unit = Unit::Number;
};

/// `counters`: sums over `dispatches` of one kernel (0: not known). Percentages that the profiler worked out
/// itself (L2CacheHit, VALUBusy, ...) are given as their mean, and left out where the number is not known.
std::vector<CounterFigure> counter_figures(const std::map<std::string, double>& counters,
                                           uint64_t dispatches);

} // namespace asmevo::profile
