// Which mask an instruction gives back: EXEC as it was at a place before.
//
//     s_and_saveexec_b64 s[4:5], vcc       saves the mask O, and goes on with part of it
//     ...
//     s_or_b64 exec, exec, s[4:5]          EXEC is O again: not only wider, but known which lanes come on
//
// Between the two, on all ways, EXEC is part of O: it is only made narrower, or given back as well.
#pragma once

#include "program/cfg.h"

#include <vector>

namespace asmevo::program {

/// By entry, from function.begin: the entry that saved the mask which this one gives back
/// (s_and_saveexec_b64, or s_mov_b64 of EXEC), on all ways to it the same; no_index: it gives none back, or
/// that is not known.
std::vector<Index> saved_masks(const Program&, const Function&, const Cfg&);

} // namespace asmevo::program
