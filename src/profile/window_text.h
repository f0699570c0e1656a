// A hot window as a prompt has it, and as JSON: the numbers, what surrounds the window, what an editor of it
// must keep, and its instructions with their ids (program/edit.h).
#pragma once

#include "profile/hot_windows.h"

#include <nlohmann/json.hpp>

namespace asmevo::profile {

struct WindowContext {
  const CodePath* path = nullptr;
  const KernelProfile* profile = nullptr;
  const RegisterPressure* pressure = nullptr;
  isa::Codec* codec = nullptr;
  /// Of the launch, where it is known: else what the object says counts.
  uint64_t workgroup_size = 0, dynamic_lds = 0;
  std::optional<codeobject::Occupancy> occupancy = std::nullopt;
  std::string model = {}; // "mi300x": the machine model by which is estimated what a profile does not say
};

/// At most `lines` lines (at least 24), each of at most 160 characters. Where the instructions are too many,
/// those with little time are left out, and their ids said. Beside a measured profile it says what is not.
std::string window_text(const HotWindow&, size_t number, const WindowContext&, size_t lines);
nlohmann::ordered_json window_json(const HotWindow&, const WindowContext&);

/// "v[0:3], v7, s[4:5], vcc, exec"; at most so many characters, then "... (n registers)".
std::string register_list(const isa::RegSet&, size_t most = 120);
/// "300 issues, 12.5 %: WAITCNT 11.9": of the kernel's time. "300 samples issued" where that is what was
/// counted. Empty where the profile has nothing.
std::string time_note(const InstructionTime*, const KernelProfile&);

} // namespace asmevo::profile
