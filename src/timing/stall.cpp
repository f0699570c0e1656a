#include "timing/stall.h"

namespace asmevo::timing {

namespace {

constexpr std::array<std::string_view, stall_count + 1> names = {
    "NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY",       "WAITCNT",    "INTERNAL_INSTRUCTION", "BARRIER_WAIT",
    "ARBITER_NOT_WIN",          "ARBITER_WIN_EX_STALL", "OTHER_WAIT", "SLEEP_WAIT",           "NONE"};

} // namespace

std::string_view name(Stall stall) {
  return names[static_cast<size_t>(stall)];
}

std::optional<Stall> stall_named(std::string_view name) {
  constexpr std::string_view prefix = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  for (size_t n = 0; n < names.size(); ++n)
    if (names[n] == name) return static_cast<Stall>(n);
  return std::nullopt;
}

} // namespace asmevo::timing
