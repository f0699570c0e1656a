// Vector instructions that run with EXEC known to be 0: they do nothing, which nobody writes on purpose.
#pragma once

#include "program/finding_list.h"

namespace asmevo::program {

/// Within basic blocks: from an instruction that clears EXEC to the next that writes it.
void check_exec(const Program&, const Function&, const Cfg&, FindingList&);

} // namespace asmevo::program
