// Published figures beside what the cycle model makes of the same kernels on the same machines.
//
// A pointer chase is counted from one load to the next that needs it, the wait between them included. Its
// sources read the clock before a load and behind its wait, which comes to the same and to the issue of the
// first reading.
#pragma once

#include "oracle/launch_trace.h"
#include "oracle/published_figures.h"

namespace asmevo::oracle {

struct ModelledFigure {
  PublishedFigure figure;
  double modelled = 0; // in the figure's unit
  /// Modelled less published, of the published. Where the sources do not agree only what lies outside their
  /// range counts. None: nothing is published.
  std::optional<double> deviation() const;
  /// Whether its sources agree and the model is more than figure_tolerance away from them.
  bool is_off() const;
};

struct FigureOptions {
  std::filesystem::path suite{};   // folder of the launch files
  std::filesystem::path objects{}; // folder of the code objects
  std::string machine{};           // only figures of that machine; empty: all
  uint64_t effort = 4'000'000;     // instructions to simulate for a launch, about
  unsigned threads = 0;            // of the emulator; 0: one a core
  std::function<void(size_t done, size_t all)> progress{};
};

/// In the order of `figures`. The kernels are those of gfx942; on machines of other targets their traces are
/// replayed as they are. BadInput: a file that is missing or wrong, a shape that is not in it, an expression
/// that does not work out; names the figure's line.
Result<std::vector<ModelledFigure>> model_figures(const std::vector<PublishedFigure>& figures,
                                                  const FigureOptions&);

} // namespace asmevo::oracle
