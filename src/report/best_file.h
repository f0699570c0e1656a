// best.co and best.json of a run folder, as they are now: whoever takes them from there wants to know whether
// they are still what was verified.
#pragma once

#include "run/run_folder.h"

#include <optional>
#include <utility>

namespace asmevo::report {

enum class BestFile : uint8_t {
  None,         // nothing beats K0
  NotYet,       // verified at the end of a run, which this one has not come to
  Verified,     // best.co is the best node's object, and best.json says so
  NotConfirmed, // the object did not pass from the disk
  Gone,         // one of the two is not there any more
  Changed,      // they are not what was verified
};

struct BestFileState {
  BestFile state = BestFile::None;
  // The speedup on models of another structure, which no search sees: in the median, and the least. Only of
  // what was verified.
  std::optional<std::pair<double, double>> structural;
};

/// `best`: null, or node 0: nothing beats K0. `ended`: the run is not at work, and came to its end.
BestFileState best_file(const run::RunFolder&, const run::Node* best, bool ended);

/// "verified from the disk", "best.co or best.json is gone", ...; empty: None.
std::string_view text_of(BestFile);

} // namespace asmevo::report
