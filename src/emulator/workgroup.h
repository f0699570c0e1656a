// One workgroup: its waves, their registers, its LDS, and the order in which the waves run. A workgroup can
// be put aside at any instruction and taken up again.
#pragma once

#include "emulator/code.h"
#include "emulator/launch.h"
#include "emulator/observer.h"
#include "emulator/wave.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace asmevo::emulator {

/// Executed instructions by isa::Family.
using FamilyCounts = std::array<uint64_t, 24>;

/// Instead of a seed: waves in turns of a few instructions, nearly abreast, as on hardware behind a barrier.
/// Kernels whose waves race by a little come out right.
inline constexpr uint64_t waves_abreast = ~uint64_t{0};

class Workgroup {
 public:
  enum class State : uint8_t { Running, Finished, Faulted };

  /// `scratch_first`: where the scratch memory of the dispatch starts; this workgroup's is `scratch_offset`
  /// behind.
  Workgroup(const Launch&, Code&, AddressSpace&, uint64_t scratch_first, uint64_t scratch_offset);

  /// Begins workgroup `index`; `seed` decides the interleaving of its waves, `initial_state` what is in
  /// registers and LDS (RunOptions). Reuses the memory of the one before.
  void start(uint64_t index, uint64_t seed, uint64_t initial_state);
  /// Who watches from now on; null: nobody.
  void observe(Observer*);
  /// Runs about `budget` instructions of all waves together; returns how many it ran.
  uint64_t run(uint64_t budget);

  /// Counts as finished from here on, wherever its waves are.
  void leave();

  State state() const { return state_; }
  uint64_t index() const { return index_; }
  uint64_t instructions() const { return instructions_; }
  const Fault& fault() const;
  uint32_t faulting_wave() const { return faulting_wave_; }
  /// Instructions executed since start, and by family.
  const FamilyCounts& counts() const { return counts_; }

  /// The same one instruction at a time, remembering jumps back: what is left before a workgroup counts as
  /// hanging.
  void run_watched(uint64_t budget);
  /// Where a workgroup that does not end goes round, by what run_watched saw most; not found: it made no jump
  /// back, and `first` is where its first unfinished wave is.
  struct Loop {
    bool found = false;
    uint32_t wave = 0;
    uint64_t first = 0, last = 0; // pc of the loop's head, and of the branch back to it
  };
  Loop find_loop() const;

  const Launch& launch() const { return launch_; }

 private:
  Wave* next_wave();
  void after_run(Wave&);
  void release_barrier();
  void restore_scratch();

  const Launch& launch_;
  Code& code_;
  AddressSpace& memory_;
  uint64_t scratch_first_, scratch_offset_;
  Observer* observer_ = nullptr;

  std::vector<Wave> waves_;
  std::unique_ptr<Row[]> rows_;
  std::vector<uint8_t> lds_;
  FamilyCounts counts_{};
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> jumps_back_; // to, from, wave

  State state_ = State::Finished;
  uint64_t index_ = 0, seed_ = 0, instructions_ = 0, turn_ = 0;
  uint32_t active_waves_ = 0, faulting_wave_ = 0;
};

} // namespace asmevo::emulator
