// The loop that runs a wave. A template over who watches, so that nobody costs nothing, and an observer that
// is asked about every instruction can have the loop compiled for itself (Observer::run) and is then called
// without going through its table of virtual functions.
#pragma once

#include "emulator/code.h"
#include "emulator/observer.h"
#include "emulator/wave.h"

#include <type_traits>

namespace asmevo::emulator {

/// The pc is nowhere in the code: stops the wave with the fault that says so.
void fail_fetch(Wave&, const Code&);
/// Runs a vector instruction while VSKIP or VGPR indexing may be on. False: it is skipped.
bool run_attended(Wave&, const MicroOp&);
/// What `attention` asks for. True: stop running this wave for now.
bool attend(Wave&);

/// Nobody watches.
struct Unwatched {};

/// Watchers may leave out what instructions do (bool wants(const MicroOp&)).
template <class Watch>
bool wanted(Watch& watch, const MicroOp& op) {
  if constexpr (requires { watch.wants(op); })
    return watch.wants(op);
  else
    return true;
}

template <class Watch>
uint64_t run_loop(Wave& wave, Code& code, uint64_t budget, Watch& watch) {
  constexpr bool watched = !std::is_same_v<Watch, Unwatched>;
  const MxcsrScope mode(wave.mode.csr32());
  uint64_t nobody[32];
  uint64_t* const counts = wave.counts != nullptr ? wave.counts : nobody;
  // Counted in the wave, where s_memtime sees it.
  const uint64_t first = wave.instructions;
  const MicroOp* op = code.at(wave.pc);
  while (wave.instructions - first < budget) {
    if (op == nullptr) [[unlikely]] {
      fail_fetch(wave, code);
      break;
    }
    ++counts[static_cast<size_t>(op->family)];
    const uint64_t behind = op->pc + op->dwords * 4U;
    wave.pc = behind;
    if constexpr (watched) watch.before(wave, *op);
    bool ran = true;
    if (wave.attention != 0 && is_vector(*op->instruction)) [[unlikely]]
      ran = run_attended(wave, *op);
    else if (wanted(watch, *op))
      op->run(wave, *op);
    if constexpr (watched)
      if (ran) watch.after(wave, *op);
    ++wave.instructions;
    if (wave.attention != 0 && attend(wave)) [[unlikely]]
      break;
    // The usual next one is found without waiting for the pc to come back from memory.
    op = wave.pc == behind ? code.at_index(op->index + op->dwords) : code.at(wave.pc);
  }
  return wave.instructions - first;
}

} // namespace asmevo::emulator
