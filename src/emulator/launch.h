// A kernel launch as the ABI defines it: what the packet processor and the runtime set up before the first
// instruction (AMDGPUUsage, "Initial Kernel Execution State", "Kernel Descriptor", "Kernel Argument
// Metadata").
#pragma once

#include "codeobject/code_object.h"
#include "emulator/address_space.h"
#include "emulator/wave.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asmevo::emulator {

struct LaunchRequest {
  std::array<uint64_t, 3> grid{1, 1, 1};      // work-items; need not be a multiple of the workgroup
  std::array<uint32_t, 3> workgroup{1, 1, 1}; // work-items
  uint32_t dynamic_lds = 0;                   // bytes beyond the kernel's own
  /// The kernarg segment. Shorter than the kernel's: the explicit arguments, to which the hidden ones are
  /// added. As long: taken as it is when keep_hidden is set, otherwise the hidden ones are written over.
  std::vector<uint8_t> kernarg;
  bool keep_hidden = false;
  /// Values of hidden arguments, by value kind, in place of what the ABI gives.
  std::vector<std::pair<std::string, uint64_t>> hidden;
  uint64_t kernarg_address = 0; // 0: a free place
  uint64_t dispatch_id = 1;
};

/// Everything that is the same for all waves of a launch.
struct Launch {
  const codeobject::Kernel* kernel = nullptr;
  isa::Target target;
  LaunchRequest request;
  std::array<uint64_t, 3> workgroups{1, 1, 1};
  uint64_t bias = 0; // guest address minus address in the code object
  uint64_t entry =
      0; // guest address of the first instruction, behind the preload prologue if that is skipped
  uint64_t kernarg_address = 0, packet_address = 0, queue_address = 0;
  uint32_t lds_bytes = 0;       // of a workgroup, in whole granules
  uint32_t waves_per_group = 1; // of a full workgroup
  DispatchContext context;
  uint32_t mode = FloatMode::usual;
  std::vector<uint32_t> user_sgprs; // but for what depends on the wave, which this says:
  struct WaveRegisters {
    bool private_segment_buffer = false;       // s[0:3]
    std::optional<unsigned> flat_scratch_init; // first of two SGPRs
    std::array<bool, 3> workgroup_id{};        // behind the user SGPRs
    bool workgroup_info = false, scratch_offset = false;
    unsigned workitem_directions = 0; // v0 holds x, and y, and z
  } registers;

  uint64_t workgroup_count() const { return workgroups[0] * workgroups[1] * workgroups[2]; }
  std::array<uint64_t, 3> workgroup_id(uint64_t index) const {
    return {index % workgroups[0], index / workgroups[0] % workgroups[1],
            index / (workgroups[0] * workgroups[1])};
  }
};

/// Checks the request against the kernel and the target, maps kernarg segment, dispatch packet and queue, and
/// works out the initial state. BadInput: an empty grid or workgroup, one larger than the kernel or the
/// hardware allows, more LDS or registers than there are, a kernarg segment that is too short or too long.
Result<Launch> prepare_launch(const codeobject::CodeObject&, const codeobject::Kernel&, uint64_t bias,
                              const LaunchRequest&, AddressSpace&);

/// The work-items a workgroup has in each direction: fewer at the edge of the grid.
std::array<uint32_t, 3> workgroup_size(const Launch&, uint64_t index);

/// 32 well mixed bits of a counter.
inline uint32_t noise_bits(uint32_t counter) {
  counter = (counter ^ counter >> 16) * 0x7feb352dU;
  counter = (counter ^ counter >> 15) * 0x846ca68bU;
  return counter ^ counter >> 16;
}

/// Sets up one wave: registers, EXEC, MODE, pc. `scratch_first + scratch_offset` is the guest address of its
/// scratch memory (gfx90a takes the second as an SGPR). `initial_state`: of the scalar registers that nothing
/// defines, 0 for zeros.
void start_wave(const Launch&, uint64_t workgroup_index, uint32_t wave_number, uint64_t scratch_first,
                uint64_t scratch_offset, uint64_t initial_state, Wave&);

inline constexpr uint64_t scratch_granule = 1024; // bytes

/// Bytes of scratch memory a wave needs: scratch_bytes of every lane, in such units.
uint64_t scratch_bytes_per_wave(const Launch&);

} // namespace asmevo::emulator
