// Buffer resources and the addresses that buffer instructions make with them (CDNA4 ISA, 9.1.5 and 9.1.8).
#pragma once

#include "emulator/memory_access.h"

namespace asmevo::emulator {

/// The four dwords of a buffer resource.
struct BufferResource {
  uint64_t base = 0;         // bits 47:0
  uint32_t stride = 0;       // 61:48, see stride_with_lanes
  bool swizzle = false;      // 63
  uint32_t records = 0;      // 95:64, in bytes, or in strides for instructions with an index
  uint8_t select[4] = {};    // 107:96, channel selects: 0, 1, or 4 to 7 for x to w
  uint8_t num_format = 0;    // 110:108
  uint8_t data_format = 0;   // 114:111
  uint32_t index_stride = 8; // 118:117
  bool add_lane = false;     // 119: the lane's number is added to the index

  BufferResource(const Wave&, const Place&);
  /// With add_lane, instructions without format take the data format as further bits of the stride.
  uint32_t stride_of(bool formatted) const {
    return add_lane && !formatted ? stride | uint32_t{data_format} << 14 : stride;
  }
};

/// All of a lane's bytes are in range, or none is: atomics and formatted accesses.
bool resolve_buffer_whole(Wave&, const MicroOp&, const BufferResource&, bool formatted, uint64_t mask, Access,
                          LanePointers&);
/// Each dword is checked alone; atomics are resolved whole.
bool resolve_buffer(Wave&, const MicroOp&, uint64_t mask, Access, LanePointers&);

} // namespace asmevo::emulator
