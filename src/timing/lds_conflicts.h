// How long LDS is busy with one instruction. Its banks are 4 bytes wide and give one dword each in a cycle;
// lanes that want the same dword share it. A wave's lanes go in groups, and lanes conflict only inside a
// group: measured on MI300, by access width.
//
//   4 bytes and less: two groups, of 32 lanes
//   8 bytes:          four groups of 16 consecutive lanes
//   12, 16 bytes:     {0-3, 20-23}, {4-7, 16-19}, {8-11, 28-31}, {12-15, 24-27}
//                     and the same of the upper half: eight groups
//
// A group takes as many cycles as its worst bank has different dwords to give.
#pragma once

#include <cstdint>

namespace asmevo::timing {

/// Cycles for an access of `bytes` a lane at LDS byte offsets `addresses` (one a lane; those of `lanes`
/// count).
/// `apart`: lanes that want the same dword take turns, as those of atomics do.
unsigned lds_cycles(const uint64_t* addresses, uint64_t lanes, unsigned bytes, unsigned banks,
                    bool apart = false);

} // namespace asmevo::timing
