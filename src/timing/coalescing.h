// From the addresses of 64 lanes to what goes to memory: pieces of a cache line, each asked for once.
#pragma once

#include <cstdint>
#include <vector>

namespace asmevo::timing {

inline constexpr unsigned piece_bytes = 64;

/// A piece of memory that an instruction touches.
struct Piece {
  uint64_t address = 0; // a multiple of piece_bytes
  uint64_t bytes = 0;   // which of its bytes: bit n is byte n
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Appends the pieces, in the order in which lanes first touch them. `bytes`: of each lane.
void coalesce(const uint64_t* addresses, uint64_t lanes, unsigned bytes, std::vector<Piece>& pieces);

} // namespace asmevo::timing
