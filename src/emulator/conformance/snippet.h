// A few instructions run on one wave with everything around it at hand: for conformance vectors and tests.
#pragma once

#include "emulator/address_space.h"
#include "emulator/code.h"
#include "emulator/wave.h"

#include <memory>
#include <string>
#include <vector>

namespace asmevo::emulator::conformance {

/// Starts with all registers 0, EXEC all ones, MODE 0x3f0, M0 0xffffffff, 64 KiB of LDS (160 KiB on gfx950),
/// no memory.
class Snippet {
 public:
  static constexpr uint64_t code_address = 0x10000;
  /// Where tests put their memory, if they want an address of more than 32 bits.
  static constexpr uint64_t memory_address = 0x7'1234'0000;

  /// BadInput: does not assemble. Branch targets may be raw dword offsets.
  static Result<Snippet> assemble(const isa::Target&, std::string_view text);
  static Result<Snippet> from_words(const isa::Target&, std::span<const uint32_t> words);

  /// Scratch of this many bytes a lane, at an address of its own.
  void add_scratch(uint32_t bytes_per_lane);
  /// Runs from the first instruction until pc stands behind the last, the wave ends or faults, or `limit`
  /// instructions have run (then the outcome is an Illegal fault named "limit").
  void run(uint64_t limit = 100000);

  Wave& wave() { return *wave_; }
  Code& code() { return *code_; }
  AddressSpace& memory() { return *memory_; }
  std::vector<uint8_t>& lds() { return lds_; }
  DispatchContext& dispatch() { return *dispatch_; }

  uint32_t& v(unsigned row, unsigned lane) { return wave_->vectors[row].lane[lane]; }
  uint32_t& a(unsigned row, unsigned lane) { return wave_->vectors[256 + row].lane[lane]; }
  uint32_t& s(unsigned index) { return wave_->scalars[index]; }
  uint64_t v64(unsigned row, unsigned lane) { return v(row, lane) | uint64_t{v(row + 1, lane)} << 32; }
  void set_v64(unsigned row, unsigned lane, uint64_t value) {
    v(row, lane) = static_cast<uint32_t>(value);
    v(row + 1, lane) = static_cast<uint32_t>(value >> 32);
  }

 private:
  Snippet() = default;
  static Result<Snippet> create(const isa::Target&, std::vector<uint8_t> text);

  std::vector<uint8_t> text_;
  std::unique_ptr<Code> code_;
  std::unique_ptr<Row[]> rows_;
  std::vector<uint8_t> lds_;
  std::unique_ptr<AddressSpace> memory_;
  std::unique_ptr<DispatchContext> dispatch_;
  std::unique_ptr<Wave> wave_;
};

} // namespace asmevo::emulator::conformance
