// A picture of modelled against measured times: for each kernel a row with one dot a measured size, where it
// lies between half and double the measured time, what is beyond at the edge. Self-contained SVG, for
// documents.
#pragma once

#include "oracle/timing_suite.h"

#include <string>

namespace asmevo::report {

/// `title`: one line above it.
std::string timing_plot(std::span<const oracle::TimingResult>, const std::string& title);

} // namespace asmevo::report
