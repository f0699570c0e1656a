// The memory that a user's searches share: a file, ~/.local/share/asmevo/memory.json unless told otherwise.
#pragma once

#include "search/memory.h"

namespace asmevo::search {

/// $ASMEVO_MEMORY; else $XDG_DATA_HOME/asmevo/memory.json; else ~/.local/share/asmevo/memory.json. Empty:
/// there is none, as ASMEVO_MEMORY=none wants it, or as nobody is at home.
std::filesystem::path user_memory_path();

/// An empty one where there is no such file. BadInput: it is not what asmevo writes.
Result<Memory> read_user_memory(const std::filesystem::path&);

/// Adds to what is there by now, whoever else does so at the same moment.
Status add_to_user_memory(const std::filesystem::path&, const Memory& learnt);

} // namespace asmevo::search
