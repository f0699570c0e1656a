// Host programs and shared libraries that carry device code. HIP's compiler puts the offload bundles of a
// file into section .hip_fatbin, and for each of them a struct __CudaFatBinaryWrapper into .hipFatBinSegment:
//
//     u32 magic 0x48495046 ("HIPF"), u32 version 1, u64 address of the bundle, u64 unused
//
// A constructor hands the wrapper to __hipRegisterFatBinary; nothing else knows where a bundle is. In
// position-independent files the address is filled in at load time by a relative relocation whose addend it
// is.
//
// So a bundle that has outgrown its place can move: it goes to the end of the file, into a segment of its
// own, and its wrapper is pointed there. Nothing else that is loaded moves. The program header table needs
// one entry more and has no room to grow; it moves to the start of the new segment, which begins at the same
// distance from the start in file and memory (older Linux kernels find a program's table by assuming just
// that). Before and after:
//
//     [ELF header, table][text]...[.hip_fatbin: A B C]...[sections]
//     [ELF header, -----][text]...[.hip_fatbin: A - C]...[sections][table + 1][.hip_fatbin: B'][sections + 1]
//
// In B's old place stays a bundle without entries.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace asmevo::codeobject {

/// ELF header fields of any ELF64 little-endian file, host or device.
struct ElfIdentity {
  uint16_t type = 0, machine = 0; // ET_*, EM_*
  uint32_t flags = 0;             // e_flags
  uint8_t os_abi = 0, abi_version = 0;
};
/// BadInput: no ELF, cut off, 32-bit or big-endian.
Result<ElfIdentity> identify_elf(ByteSpan file);
inline constexpr uint16_t machine_amdgpu = 224;

/// A .hip_fatbin section. Linked files have one; those this program has grown have more.
struct FatbinSection {
  size_t index = 0;              // in the section header table
  uint64_t offset = 0, size = 0; // bytes, in the file
  uint64_t address = 0;
};

/// The sections in file order, at least one. BadInput: broken tables, a section past the end, no .hip_fatbin,
/// one without contents (a file that only has debug information) or sections over each other. Unsupported:
/// device code kept in another way.
Result<std::vector<FatbinSection>> find_fatbins(ByteSpan file);

/// A bundle that is to move.
struct MovingBundle {
  FatbinSection section;
  uint64_t offset = 0, slot = 0; // where it is in the file, and the bytes up to what follows it; emptied
  bool alone = false;            // in its section, which then moves with it
};

/// The file with `bundle` in a new segment and everything that pointed to the old place pointing there.
/// Unsupported, with the reason: relocatable objects, no wrapper or a pointer of another kind to it, other
/// references into it.
Result<Bytes> move_bundle(ByteSpan file, const MovingBundle& moving, ByteSpan bundle);

} // namespace asmevo::codeobject
