// The fallback for objects that recovery refuses: an edit that is not longer than what it replaces and needs
// no other resources is written over the original bytes, padded with s_nop; everything else in the file stays
// as it is.
#pragma once

#include "rebuild/rebuild.h"

namespace asmevo::rebuild {

/// `spliced` is `base` with the edit applied. Unsupported, with the reason: a replacement longer than the
/// original, an insertion, resources asked for, registers beyond what the descriptor allocates, new scratch
/// use.
Result<Built> patch_in_place(const Original& k0, const program::Program& base,
                             const program::Program& spliced, const program::Edit& edit);

} // namespace asmevo::rebuild
