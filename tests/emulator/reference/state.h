// What one wave has, as the plain reference sees it: registers by the numbers that isa/registers.h gives
// them, LDS, one region of memory and one of scratch.
#pragma once

#include "isa/instruction.h"
#include "isa/target.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace asmevo::reference {

inline constexpr unsigned lane_count = 64;
inline constexpr unsigned vector_count = 512; // v0 .. v255, a0 .. a255
inline constexpr unsigned scalar_count = 129; // by operand code; SCC last

namespace code {
inline constexpr unsigned flat_scratch = 102, vcc = 106, m0 = 124, exec = 126, scc = 128;
} // namespace code

/// What may differ in a result: values that no source defines.
enum class Tolerance : uint8_t {
  None,
  NanHalf,   // each half an f16: which NaN it is
  NanBfloat, // each half a bf16: the same
  NanFloat,  // an f32: the same
  NanDouble, // this unit and the next one an f64: the same
  UlpHalf,   // low half an f16, by its last places; and which NaN
  UlpFloat,  // the same of an f32
  UlpDouble,
  Any, // a NaN whose parts lie apart
};

/// A vector register that an instruction may have written.
struct WrittenRow {
  isa::RegUnit unit = 0;
  Tolerance tolerance = Tolerance::None;
  uint64_t open = 0; // lanes whose value is not settled at all
};
enum class Space : uint8_t { Memory, Lds, Scratch };
/// Bytes that it may have written: an offset in one of the spaces.
struct WrittenBytes {
  Space space = Space::Memory;
  uint32_t offset = 0, bytes = 0;
  Tolerance tolerance = Tolerance::None;
};

struct State {
  isa::Target target;
  std::array<std::array<uint32_t, lane_count>, vector_count> vectors{};
  std::array<uint32_t, scalar_count> scalars{};
  uint32_t mode = 0x3f0;
  uint64_t pc = 0; // of the instruction; step leaves that of the next one

  uint64_t memory_at = 0, scratch_at = 0; // guest addresses
  uint32_t scratch_bytes = 0;             // of a lane; dwords of the 64 lanes lie side by side
  uint32_t shared_aperture = 0, private_aperture = 0;
  std::vector<uint8_t> memory, lds, scratch;

  // What the last step wrote.
  std::vector<WrittenRow> rows;
  std::vector<WrittenBytes> bytes;
  std::string_view fault; // why the instruction cannot be done

  uint64_t pair(unsigned n) const { return scalars[n] | uint64_t{scalars[n + 1]} << 32; }
  void set_pair(unsigned n, uint64_t value) {
    scalars[n] = static_cast<uint32_t>(value);
    scalars[n + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint64_t exec() const { return pair(code::exec); }
  bool active(unsigned lane) const { return (exec() >> lane & 1) != 0; }
  uint32_t& scc() { return scalars[code::scc]; }

  uint64_t vector64(unsigned unit, unsigned lane) const {
    return vectors[unit][lane] | uint64_t{vectors[unit + 1][lane]} << 32;
  }
  void wrote(isa::RegUnit unit, Tolerance t = Tolerance::None) { rows.push_back({unit, t, 0}); }
  /// Bytes of a space, little-endian, at most 8 of them.
  std::vector<uint8_t>& space(Space s) {
    return s == Space::Memory ? memory : s == Space::Lds ? lds : scratch;
  }
};

/// MODE's fields.
struct Mode {
  uint32_t bits;
  bool dx10_clamp() const { return (bits >> 8 & 1) != 0; }
  bool ieee() const { return (bits >> 9 & 1) != 0; }
  bool fp16_overflow() const { return (bits >> 23 & 1) != 0; }
};

} // namespace asmevo::reference
