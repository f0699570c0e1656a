// What a change is after: the orthogonal ways to make a kernel faster, by which a team shares its work.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace asmevo::search {

enum class Direction : uint8_t {
  LatencyHiding,             // something else to do in place of waiting
  DependencyReduction,       // shorter chains of results, nothing computed twice
  RegisterPressure,          // fewer registers, more waves; or more registers, more in flight
  MemoryAccess,              // fewer, wider, better placed accesses
  InstructionSimplification, // fewer and cheaper instructions
};
inline constexpr std::array all_directions = {Direction::LatencyHiding, Direction::DependencyReduction,
                                              Direction::RegisterPressure, Direction::MemoryAccess,
                                              Direction::InstructionSimplification};

/// "latency hiding", ...: as edits have it.
std::string_view name(Direction);
std::optional<Direction> direction_named(std::string_view);

} // namespace asmevo::search
