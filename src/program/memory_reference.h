// What is known of the bytes a memory instruction touches, for telling two accesses apart.
#pragma once

#include "isa/instruction.h"

#include <vector>

namespace asmevo::program {

struct MemoryReference {
  /// Bytes relative to the base. ds_read2 and the like have two spans.
  struct Span {
    int64_t offset = 0;
    uint32_t bytes = 0; // 0: unknown
  };
  isa::MemoryKind kind = isa::MemoryKind::None;
  // Address registers and descriptors, in the order of the operands. Two references with equal bases whose
  // registers hold equal values measure their offsets from the same place.
  std::vector<isa::RegRange> base;
  uint64_t base_constants = 0; // what else the base consists of: an immediate soffset, addressing mode bits
  StaticVector<Span, 2> spans;
  bool uniform = false; // one address for the wave (scalar memory); else each lane has its own

  bool same_base(const MemoryReference& o) const {
    return kind == o.kind && base == o.base && base_constants == o.base_constants;
  }
  /// No byte of one is a byte of the other, given that the bases are equal and hold equal values. Says
  /// nothing of bytes that different lanes touch.
  bool disjoint(const MemoryReference& o) const;
};

/// For instructions with memory.kind other than None. The LDS side of an LDS-DMA load is not described.
MemoryReference memory_reference(const isa::Instruction&);

} // namespace asmevo::program
