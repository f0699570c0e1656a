// Addresses of DS instructions (CDNA3 ISA, 11.3): the VGPR's byte offset and the instruction's, which wrap at
// 32 bits. GFX9 needs no limit in M0.
#pragma once

#include "emulator/memory_access.h"

namespace asmevo::emulator {

/// The offset of an instruction with one address; `offset` is added.
void lds_offsets(const Wave&, const MicroOp&, uint32_t offset, LaneAddresses&);
/// Tells the observer and resolves. False: it faulted. GDS, which is not emulated, is such a fault.
bool resolve_ds(Wave&, const MicroOp&, const LaneAddresses&, uint64_t mask, Access, LanePointers&);
/// Both for an instruction with one address.
bool ds(Wave&, const MicroOp&, uint64_t mask, Access, LanePointers&);

/// Instructions with two addresses: offsets in units of the element, or of 64 elements.
inline uint32_t first_offset(const MicroOp& op, unsigned unit) {
  return (static_cast<uint32_t>(op.mods().offset) & 0xff) * unit;
}
inline uint32_t second_offset(const MicroOp& op, unsigned unit) {
  return (static_cast<uint32_t>(op.mods().offset) >> 8 & 0xff) * unit;
}

} // namespace asmevo::emulator
