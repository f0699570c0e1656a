// The one edit that several in a row come to.
//
// Edits keep the order of what they leave alone, and give what they insert new ids. So between a program and
// one that edits made of it, whatever lies between two instructions that both have is one change: what is
// gone there, replaced by what is new.
#pragma once

#include "program/edit.h"

namespace asmevo::program {

/// `now` descends from `base` by edits of `kernel`. Splicing the result into `base` gives the instructions
/// and labels of `now` that are in use. Nothing where new instructions refer to addresses otherwise than by
/// branches, or the edit would be longer than one may be.
std::optional<Edit> edit_between(const Program& base, const Program& now, std::string_view kernel,
                                 isa::Codec& codec);

} // namespace asmevo::program
