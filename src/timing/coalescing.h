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

/// Cycles for which the addresses of a vector memory instruction keep the first cache busy where it gives 128
/// bytes a cycle. Lanes go in groups, of as many as 128 bytes serve but at most 16, and a group takes a cycle
/// for each line of 128 bytes that it touches; for each half of one where its lanes want no more than dwords.
unsigned address_cycles(const uint64_t* addresses, uint64_t lanes, unsigned bytes);

/// Appends the pieces, in the order in which lanes first touch them. `bytes`: of each lane.
void coalesce(const uint64_t* addresses, uint64_t lanes, unsigned bytes, std::vector<Piece>& pieces);

} // namespace asmevo::timing
