// Why a wave cannot go on.
#pragma once

#include <cstdint>
#include <string>

namespace asmevo::emulator {

enum class FaultKind : uint8_t {
  None,
  Memory,        // an access outside every region, or a write to a read-only one
  Guard,         // a write to a guard region
  Misaligned,    // an atomic or LDS access that the hardware does not do at this address
  Unimplemented, // an instruction the emulator does not know
  Illegal,       // pc outside code, a word that is no instruction, a register beyond the allocation
  Trap,          // s_trap
};

struct Fault {
  FaultKind kind = FaultKind::None;
  uint64_t pc = 0;
  int lane = -1;        // -1: the whole wave
  uint64_t address = 0; // of the access, Memory and Guard
  unsigned bytes = 0;
  bool write = false;
  std::string text; // "global_load_dword", or what else names it

  explicit operator bool() const { return kind != FaultKind::None; }
};

} // namespace asmevo::emulator
