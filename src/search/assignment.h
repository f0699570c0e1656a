// What one member of the team is asked for: a proposal on a version of the kernel, maybe of one direction
// and in one place only.
#pragma once

#include "program/program.h"
#include "search/direction.h"

#include <string>

namespace asmevo::search {

/// A hot window of a version, by the ids of its instructions there.
struct Place {
  std::string kernel;
  program::InstrId first, last;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Assignment {
  uint32_t base = 0;                  // node to start from
  std::optional<Direction> direction; // none: any
  std::optional<Place> place;         // none: anywhere
  std::string note;                   // for drivers that read: what has been tried, what leads nowhere
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

} // namespace asmevo::search
