// The MODE register's floating-point part, and how it is brought about on the host: rounding and denormals by
// MXCSR, the rest in the instructions' own code (CDNA3 ISA, 3.3 "MODE register"). 32-bit operations have
// their own rounding and denormal fields; 16-bit and 64-bit operations share the others.
#pragma once

#include <cstdint>
#include <xmmintrin.h>

namespace asmevo::emulator {

/// As MODE encodes it.
enum class Rounding : uint8_t { NearestEven, Up, Down, TowardZero };

class FloatMode {
 public:
  /// What compilers for this ABI ask for: nearest even, all denormals, DX10_CLAMP and IEEE.
  static constexpr uint32_t usual = 0x3f0;

  FloatMode() { assign(usual); }
  void assign(uint32_t mode) {
    bits_ = mode;
    csr32_ = csr(mode & 3, mode >> 4 & 3);
    csr64_ = csr(mode >> 2 & 3, mode >> 6 & 3);
  }

  uint32_t bits() const { return bits_; }
  Rounding rounding32() const { return static_cast<Rounding>(bits_ & 3); }
  Rounding rounding64() const { return static_cast<Rounding>(bits_ >> 2 & 3); } // and 16-bit
  bool keeps_input_denormals32() const { return (bits_ >> 4 & 1) != 0; }
  bool keeps_output_denormals32() const { return (bits_ >> 5 & 1) != 0; }
  bool keeps_input_denormals64() const { return (bits_ >> 6 & 1) != 0; } // and 16-bit
  bool keeps_output_denormals64() const { return (bits_ >> 7 & 1) != 0; }
  /// Clamping a NaN gives 0, otherwise the NaN.
  bool dx10_clamp() const { return (bits_ >> 8 & 1) != 0; }
  /// Signalling NaNs are quieted, and so are they by min and max.
  bool ieee() const { return (bits_ >> 9 & 1) != 0; }
  /// Conversions to fp8/bf8, and MFMA, saturate instead of overflowing; f16 overflow gives the largest finite
  /// value.
  bool fp16_overflow() const { return (bits_ >> 23 & 1) != 0; }

  /// MXCSR for 32-bit operations: what a running wave has set.
  uint32_t csr32() const { return csr32_; }
  /// MXCSR for 64-bit operations; the same in nearly every kernel.
  uint32_t csr64() const { return csr64_; }
  /// MXCSR for code that must not see the wave's mode: nearest even, denormals kept, nothing traps.
  static constexpr uint32_t csr_plain = 0x1f80;

 private:
  static uint32_t csr(uint32_t rounding, uint32_t denormals) {
    constexpr uint32_t mxcsr_rounding[] = {0, 2, 1, 3}; // nearest, up, down, toward zero
    uint32_t value = csr_plain | mxcsr_rounding[rounding] << 13;
    if ((denormals & 1) == 0) value |= 0x40;   // DAZ: denormal inputs count as zero
    if ((denormals & 2) == 0) value |= 0x8000; // FTZ: denormal results become zero
    return value;
  }
  uint32_t bits_ = 0, csr32_ = 0, csr64_ = 0;
};

/// Another MXCSR for a while. The barriers keep arithmetic whose operands and results are in memory inside.
class MxcsrScope {
 public:
  explicit MxcsrScope(uint32_t csr) : before_(_mm_getcsr()), changed_(csr != before_) {
    if (changed_) _mm_setcsr(csr);
    asm volatile("" ::: "memory");
  }
  ~MxcsrScope() {
    asm volatile("" ::: "memory");
    if (changed_) _mm_setcsr(before_);
  }
  MxcsrScope(const MxcsrScope&) = delete;
  MxcsrScope& operator=(const MxcsrScope&) = delete;

 private:
  uint32_t before_;
  bool changed_;
};

} // namespace asmevo::emulator
