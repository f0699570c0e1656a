// What a sanitized run finds wrong (sanitizer.h): mistakes that the run itself may not have suffered from.
#pragma once

#include "isa/target.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::sanitizer {

enum class DefectKind : uint8_t {
  InFlight,      // a register used or overwritten while an asynchronous operation on it is in flight
  WaitStates,    // fewer wait states between two instructions than the hardware needs
  LdsRace,       // two waves touch the same bytes of LDS with no barrier between, one of them writing
  GlobalRace,    // two workgroups touch the same bytes of memory, one of them writing
  Uninitialised, // a register or LDS byte read that nothing has written
  Convergence,   // waves at different barriers; a lane asked for where none is on
};
/// "in_flight", "wait_states", "lds_race", ...
std::string_view name(DefectKind);

/// One of the two instructions.
struct Site {
  uint64_t pc = 0; // in the code object's addresses
  std::string text;
  std::string mnemonic;
  uint32_t wave = 0; // within its workgroup
  uint64_t workgroup = 0;
  bool present() const { return !text.empty(); }
};

struct Defect {
  DefectKind kind = DefectKind::InFlight;
  std::string rule;      // "vmcnt", "valu-writes-sgpr-vmem", "write-write", ...
  bool possible = false; // right or wrong by what a run cannot show
  Site first, second;    // first: what is in flight, was executed or accessed before; may be absent
  std::string object;    // "v12", "lds 0x40", "memory 0x7f..."
  int lane = -1;         // of `second`; -1: none in particular
  std::string fix;       // "s_waitcnt vmcnt(2) before the second"
  unsigned lacking = 0;  // wait states
  uint64_t times = 1;    // how often in the run

  /// One line, both instructions named.
  std::string message() const;
};

/// One a kind, rule and pair of instructions, as it was first met in the lowest workgroup; in order of the
/// second instruction's address.
using Defects = std::vector<Defect>;

/// Those of a candidate that K0 does not have: matched by kind, rule and the mnemonics of both, counted. A
/// possible one may stand at another instruction. Not counted: what isa::is_broken_everywhere says.
Defects new_defects(const Defects& of_k0, const Defects& of_candidate);

} // namespace asmevo::sanitizer
