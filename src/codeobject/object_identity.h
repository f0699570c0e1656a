// What tells the code objects of a container apart: their target ids and the kernels they define. Works on
// objects for any AMD GPU, and looks at no more of them than that takes.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "codeobject/host_elf.h"

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {

/// "gfx90a:xnack-" of a bundle entry id "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-".
std::string target_of_entry(std::string_view entry_id);
/// False for the entry of the host compilation ("host-x86_64-unknown-linux-gnu-").
bool device_entry(std::string_view entry_id);
/// Of a code object's ELF header; e_flags mean different things in code object V3 and in V4 and later.
std::string target_of_elf(const ElfIdentity&);

/// Same GPU, and `general` asks for no feature that `special` does not have: "gfx90a" covers "gfx90a:xnack-".
bool covers(std::string_view general, std::string_view special);

/// The kernels an AMDGPU ELF defines, sorted: symbols `<kernel>.kd`, in code object V2 those of kernel type.
/// BadInput: no such ELF, or tables past the end.
Result<std::vector<std::string>> kernel_names(ByteSpan elf);

} // namespace asmevo::codeobject
