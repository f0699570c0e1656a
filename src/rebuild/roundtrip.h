// The round-trip gate: an object that does not come back byte for byte after recovery is not edited.
#pragma once

#include "base/result.h"
#include "rebuild/object_gate.h"
#include "rebuild/rebuild.h"

#include <string>
#include <vector>

namespace asmevo::rebuild {

struct RoundTrip {
  bool identical = false;
  Route route = Route::Direct;
  size_t instructions = 0, repaired = 0; // repaired: instructions with dead encoding bits
  std::vector<std::string> repairs;      // what recovery had to keep aside, one line each
  std::vector<Mask> masks;               // assembly route only
  std::vector<ObjectDifference> differences;
  std::vector<RecoveryGap> gaps; // why code of this object cannot move; the bytes still round-trip
};

/// Recovers `bytes` and builds them again by `route`. An error means that the object could not be taken
/// through the route at all; differences are in the result.
Result<RoundTrip> roundtrip(Bytes bytes, Route route, isa::Codec& codec);

} // namespace asmevo::rebuild
