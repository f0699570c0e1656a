// Figures that others measured on real cards, as a table says them (kernels/microkernels/figures.csv, a row a
// figure), and what part of the table's text means. What the cycle model makes of them is in
// modelled_figures.h.
//
// A figure compares two launches of a kernel, a long and a short one, so that what both have in common does
// not count: t is their difference in time, work that in `work`. Of one launch alone t is its whole time.
//
//   cycles       t * engine clock / work          TB/s         work / t
//   ns, us       t / work                         bytes/cycle  work / (t * engine clock)
//   ratio        t / t of the launches in `against`
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::oracle {

/// Launches of one kernel of one launch file.
struct FigureLaunches {
  std::string kernel;
  std::string short_shape; // empty: nothing is taken off
  std::string long_shape;
};

enum class FigureUnit : uint8_t {
  Cycles,
  Nanoseconds,
  Microseconds,
  TerabytesPerSecond,
  BytesPerCycle,
  Ratio
};
std::string_view name(FigureUnit);

struct PublishedFigure {
  uint64_t line = 0; // of the table
  std::string file;  // <file>.toml in the table's folder, <file>.gfx942.co
  FigureLaunches launches;
  std::optional<FigureLaunches> against; // Ratio
  /// An expression over the shape's sizes and the machine's `xcds` and `cus`; empty: 1.
  std::string work;
  /// Nothing of what it touches is in L2 or the Infinity Cache; else as an earlier launch like it left them.
  bool cold = false;
  std::string measures; // in words
  FigureUnit unit = FigureUnit::Cycles;
  std::string machine; // a name of machines/
  /// In `unit`: the figure, and from where to where its sources go. None: nobody has published it.
  struct Value {
    double value = 0, low = 0, high = 0;
  };
  std::optional<Value> published;
  std::string source;

  /// Whether its sources lie within 5 % of one another. A single source agrees with itself.
  bool sources_agree() const;
};

/// What the sources of a figure, and the model of a figure, may be apart: 5 %.
inline constexpr double figure_tolerance = 0.05;

/// One entry for each machine of a row. BadInput: "figures.csv:12: unit: ..." for anything that is not as
/// above: columns, units, numbers, names without a machine model, an `against` where there is no ratio.
Result<std::vector<PublishedFigure>> read_figures(const std::filesystem::path&);
Result<std::vector<PublishedFigure>> parse_figures(std::string_view text, const std::string& name);

} // namespace asmevo::oracle
