#include "search/direction.h"

#include <algorithm>

namespace asmevo::search {

std::string_view name(Direction direction) {
  switch (direction) {
  case Direction::LatencyHiding: return "latency hiding";
  case Direction::DependencyReduction: return "dependency reduction";
  case Direction::RegisterPressure: return "register pressure";
  case Direction::MemoryAccess: return "memory access";
  case Direction::InstructionSimplification: return "instruction simplification";
  }
  return "";
}

std::optional<Direction> direction_named(std::string_view text) {
  const auto found = std::ranges::find(all_directions, text, [](Direction d) { return name(d); });
  return found == all_directions.end() ? std::nullopt : std::optional(*found);
}

} // namespace asmevo::search
