// Why a wave's next instruction could not issue, in the words of rocprofiler's PC sampling
// (ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_*), so that modelled and imported profiles read
// alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace asmevo::timing {

enum class Stall : uint8_t {
  NoInstructionAvailable, // it is still being fetched
  AluDependency,          // what it reads is still being computed
  Waitcnt,
  InternalInstruction, // s_nop, s_setprio and their like take their time
  BarrierWait,
  ArbiterNotWin,     // another wave's instruction of the same kind went first
  ArbiterWinExStall, // it won, but its unit is busy
  OtherWait,
  SleepWait,
  None, // it was not held back
};
inline constexpr size_t stall_count = static_cast<size_t>(Stall::None);

/// Something for each reason but None.
template <class T>
using PerStall = std::array<T, stall_count>;

/// "ALU_DEPENDENCY", ...; "NONE".
std::string_view name(Stall);
/// The reason of that name, also behind rocprofiler's prefix.
std::optional<Stall> stall_named(std::string_view name);

} // namespace asmevo::timing
