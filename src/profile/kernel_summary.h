// What a kernel does with the machine, in a few numbers: instructions, pipes, memory, waves, stalls. From the
// cycle model; of all launches of the kernel that a plan makes.
//
// A share says how much of what a unit can do was used, 0 to 1. It is work done over (the cycles that the
// kernel takes times how much the unit does in one), the cycles being those of the whole dispatch: the
// start, and the end where compute units run dry, count as time in which nothing was done. Where only a
// sample was simulated, work and cycles follow from it by rules of their own: a share is cut at 1.
#pragma once

#include "profile/access_shapes.h"
#include "profile/kernel_profile.h"
#include "profile/modelled_profile.h"

#include <optional>

namespace asmevo::profile {

struct PipeUse {
  timing::Pipe pipe{};
  double instructions = 0; // of all waves on one XCD
  double share = 0;        // of the cycles of all units of the kind; a unit a SIMD
  double contended = 0; // of the cycles of waves: in front of its instructions while it was busy (ARBITER_*)
};

/// From the one nearest to the waves on.
enum class MemoryLevel : uint8_t { Lds, L1, L2, InfinityCache, Hbm };
inline constexpr size_t memory_level_count = static_cast<size_t>(MemoryLevel::Hbm) + 1;
std::string_view name(MemoryLevel);

struct LevelUse {
  MemoryLevel level{};
  // Bytes of the whole device. L1: whole lines that loads looked up, and pieces of 64 bytes that stores
  // sent; L2 and beyond: whole lines, but what is written to L2 in pieces. LDS: what lanes asked for,
  // atomics as reads.
  double read = 0, written = 0;
  double peak = 0;                // bytes a second of the device, reading
  double share = 0;               // of the time in which it could do what it did
  double least_share = 0;         // the same if only bytes counted: no bank conflicts, no scattered lanes
  std::optional<double> hit_rate; // of what was read: L1, L2, Infinity Cache

  double bytes() const { return read + written; }
};

/// Lines that the first caches miss are waited for in places; where all are taken, further ones wait for one.
struct MissPlaces {
  double places = 0; // of a compute unit
  double share = 0;  // of them that are taken, in the mean over the time and all compute units
  // Of a line, in the mean: cycles for which it waits for a place, and for which it then has it.
  double wait = 0, taken = 0;
};

/// Of loads, stores and atomics of vector memory together.
struct Coalescing {
  double accesses = 0;               // of all waves on one XCD
  double lines = 0, least_lines = 0; // that one touches, and as few as could hold its bytes
  double excess() const { return least_lines > 0 ? lines / least_lines : 1; }
};

struct KernelSummary {
  std::string kernel, source; // source: "modelled (mi300x)"
  double launches = 0;        // of it
  double seconds = 0;         // of all of them, one after the other
  double share_of_plan = 0;   // of the modelled time of the whole plan
  double outside_share = 0;   // of that time, what launches cost before and behind kernels
  double cycles = 0;          // `seconds` at the engine clock
  double clock_mhz = 0;

  // Waves.
  double workgroups = 0; // of a launch, in the mean
  unsigned waves_per_workgroup = 1;
  codeobject::Occupancy occupancy; // of the first launch
  double waves = 0;                // on a SIMD, in the mean over the time and all SIMDs
  double used_cus = 0;             // share of the compute units that get a workgroup at all
  double dispatch_share = 0;       // of the time, in which workgroups are being started as fast as can be

  // Instructions of all waves on one XCD.
  double instructions = 0;
  std::vector<std::pair<std::string_view, double>> mix; // by kind, most first
  std::vector<PipeUse> pipes;                           // by Pipe

  std::array<LevelUse, memory_level_count> levels; // by MemoryLevel
  double path_to_l1_share = 0;                     // of what L2 can send to compute units
  MissPlaces miss_places;
  double scalar_hit_rate = 1, code_hit_rate = 1, tlb_misses = 0;
  Coalescing coalescing;
  // On one XCD: cycles that accesses take the banks for, and those of them that other addresses could save.
  double lds_accesses = 0, lds_bank_cycles = 0, lds_conflict_cycles = 0;
  double lds_conflict_share() const {
    return lds_bank_cycles > 0 ? lds_conflict_cycles / lds_bank_cycles : 0;
  }

  // Cycles of waves on one XCD: sums over KernelProfile.
  double busy = 0;
  timing::PerStall<double> stalled{};
  double wave_cycles() const;
  double stall_share(timing::Stall) const; // of wave_cycles()

  // Arithmetic of the whole device; lanes that are off count, too.
  double vector_flops = 0, matrix_flops = 0, matrix_integer_ops = 0;
  double matrix_peak = 0; // operations a second of the device, of the matrix instructions as they are mixed
  double vector_peak = 0; // of packed or plain 32-bit fused multiply-adds, whichever is more
  double operations() const { return vector_flops + matrix_flops + matrix_integer_ops; }

  std::vector<std::string> notes;
};

/// What kind of instruction it is, for the mix: "VALU", "VALU packed", "LDS load", ...
std::string_view mix_kind(const isa::Instruction&);

/// Empty where the kernel is not among the launches. `profile`: of the same kernel and times.
KernelSummary kernel_summary(const oracle::LaunchTraces&, const oracle::LaunchTime&, const KernelProfile&,
                             const timing::Machine&);

} // namespace asmevo::profile
