// A whole launch: its workgroups over the host's cores.
#pragma once

#include "emulator/launch.h"
#include "emulator/workgroup.h"

#include <functional>
#include <string>
#include <vector>

namespace asmevo::emulator {

/// In which workgroups start. Hardware promises none. In other orders than the ascending one those that are
/// in progress together change places: one that waits for an earlier one finds it started in every order.
enum class GroupOrder : uint8_t { Ascending, Descending, Random };

struct RunOptions {
  unsigned threads = 0; // 0: one a core. Race-free kernels give the same results on any number
  /// Of the interleaving of a workgroup's waves; 0: round robin in long turns. Or waves_abreast.
  uint64_t seed = 0;
  GroupOrder order = GroupOrder::Ascending; // Random: by the seed
  /// Of what registers and LDS hold before anything is written to them, where the ABI says nothing; 0: zeros.
  uint64_t initial_state = 0;
  /// Instructions that all waves of one workgroup together may execute before the run counts as hanging.
  uint64_t most_instructions = uint64_t{1} << 32;
  /// Instructions of one workgroup after which nobody wants to see more of it: it is left where it is and
  /// counts as finished. 0: no limit.
  uint64_t enough_instructions = 0;
  double most_seconds = 0; // of the whole run; 0: no limit
  /// Only these workgroups, in this order (linear indices); empty: all.
  std::vector<uint64_t> workgroups;
  /// Makes what watches the workgroups that run in one slot, one after another; may be empty. Workgroups in
  /// different slots take turns, on any thread.
  std::function<Observer*(size_t slot)> observer;
  /// Called now and then, from any thread, with how many workgroups are finished.
  std::function<void(uint64_t finished)> progress;
};

struct RunResult {
  enum class Outcome : uint8_t { Completed, Fault, Hang, TimeLimit } outcome = Outcome::Completed;
  // Fault and Hang: the lowest workgroup it happened to.
  uint64_t workgroup = 0;
  uint32_t wave = 0;
  Fault fault;
  std::string place;              // what its address is
  Workgroup::Loop loop;           // Hang
  uint64_t finished = 0;          // workgroups
  uint64_t instructions = 0;      // executed, of finished workgroups and the one that failed
  uint64_t hung_instructions = 0; // of the workgroup that does not end
  FamilyCounts counts{};

  bool completed() const { return outcome == Outcome::Completed; }
  /// "fault: unimplemented v_foo at pc 0x..", "hang: ...": one line; empty if completed. `bias` turns guest
  /// addresses of code back into those of the code object.
  std::string describe(uint64_t bias) const;
};

/// Runs workgroups in the order asked for, several at once. One that runs long makes room for others in
/// between and comes back, so that kernels whose workgroups wait for each other make progress, whichever
/// waits for which.
RunResult run_dispatch(const Launch&, Code&, AddressSpace&, const RunOptions&);

} // namespace asmevo::emulator
