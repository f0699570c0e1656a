// The tables of a suite that was searched as the paper has them: what was improved, by how much, at what
// cost; and the picture of the speedups in order.
#pragma once

#include "report/batch_summary.h"

namespace asmevo::report {

/// One line of the paper's Table 2: a group of kernels.
struct SearchGroup {
  std::string name; // "level 1", ..., "all"
  size_t kernels = 0, improved = 0;
  double mean = 1, median = 1, largest = 1; // of the speedups; mean: geometric; not improved ones count as 1
  double structural_mean = 1;               // on models that no search saw
  size_t far = 0;                           // above 1.5
  double attempts = 0, commits = 0;         // a kernel
  double commit_rate = 0;                   // of the attempts
};

/// By the first word of their names up to an underscore ("level1"), where that is more than one group, and of
/// all. Kernels whose run has not come to its end are left out.
std::vector<SearchGroup> search_groups(const BatchSummary&);

/// Markdown: the groups, then each kernel with its busiest unit and what was won.
std::string search_table_text(const BatchSummary&);
gate::Json search_table_json(const BatchSummary&);

/// SVG, for light and dark surroundings: a bar a kernel, the largest speedup first; below each, which of the
/// suite's operators it has.
std::string search_chart(const BatchSummary&);

} // namespace asmevo::report
