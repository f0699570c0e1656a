// Where to edit: the ranges of a kernel whose stalls cost most, with what an editor has to know of them.
//
// A window starts from an instruction in front of which waves stand for long, and grows to borders that make
// sense: the innermost loop around it if that is short enough; else its block; else as much of the block as
// holds what it waits for. Where the operations that a wait waits for stand in front of that, and it is not
// a loop, the window grows to them. A short block has little that a wait could move behind: it takes
// neighbours of its loop along.
//
// What could be won is an estimate. Of the cycles that waves spend in the range some are stalls that another
// order of the instructions could hide: waits for memory, for results, at barriers, for instructions, s_nop.
// ARBITER_* stalls are not among them: there the pipes are busy. Nor is what a wave stands at s_endpgm for,
// until its stores are done. With W waves on a SIMD
//
//   now     = cycles of all waves in the range / W
//   then    = the larger of (those cycles without what can be hidden) / W
//             and what the range's busiest pipe needs for all the waves
//             and, of an innermost loop, its turns times the chain of results from turn to turn / W
//   share   = (now - then) * W / cycles of all waves in the kernel
//
// and no more than 1 less the share of the kernel's busiest unit (limiter.h), where that is known: behind it
// nothing more can be won. Profiles of samples have samples in place of cycles.
//
// That is what a better order wins. Doing less wins otherwise, and where a unit is busy all the time nothing
// else does: windows with less than 1 % to win follow by the time that is spent in them, and say which pipe
// they keep busy.
#pragma once

#include "profile/in_flight.h"
#include "profile/register_pressure.h"
#include "program/window.h"
#include "timing/instruction_cost.h"

namespace asmevo::profile {

/// A value that comes into a window, or that leaves it.
struct OutsideUse {
  program::Index at = program::no_index; // who made it, or reads it, outside
  isa::RegRange reg;
};

struct HotWindow {
  enum class Kind : uint8_t { Loop, Block, Blocks, Part };
  program::Window window;
  Kind kind = Kind::Block;
  program::Index worst = program::no_index;     // where most is lost
  std::vector<program::Index> awaited;          // what the waits in it wait for, in program order
  double total = 0;                             // of the profile, in it
  timing::PerStall<double> stalled{};           // of that
  double unexplained = 0;                       // of that
  double hideable = 0;                          // of that
  double gain = 0;                              // share of the kernel's time that could be won
  timing::Pipe pipe = timing::Pipe::Internal;   // that it needs most,
  double pipe_share = 0;                        // and for how much of the time that is spent in it, 0 to 1
  std::vector<OutsideUse> producers, consumers; // the nearest; at most most_outside of each
  InFlight at_entry, at_exit;
  unsigned barriers = 0;
  unsigned most_live = 0; // vector registers at once, in it

  static constexpr size_t most_outside = 12;
};
std::string_view name(HotWindow::Kind);

struct HotWindowOptions {
  size_t windows = 3;
  size_t most_instructions = 96; // of a window
  double waves_per_simd = 0;     // 0: as many as the registers and LDS of the descriptor allow
  double busiest_unit = 0;       // share of the kernel's time; 0: not known
};

/// Disjoint; most gain first, of those with less than 1 % that with more time.
std::vector<HotWindow> hot_windows(const CodePath&, const KernelProfile&, const timing::Machine&,
                                   const HotWindowOptions& = {});

/// Cycles or samples in front of an instruction that another order could hide.
double hideable(const InstructionTime&, const isa::Instruction&);

} // namespace asmevo::profile
