// How an instruction's write of EXEC relates the new mask to the old one, as far as the instruction alone
// tells.
#pragma once

#include "isa/instruction.h"

namespace asmevo::program {

/// With O the lanes that are on before the instruction and N those after it.
enum class ExecChange : uint8_t {
  None,     // does not write EXEC
  Narrow,   // N is a subset of O:   s_and_saveexec_b64, s_andn2_b64 exec, exec, x, v_cmpx_*
  Widen,    // N is a superset of O: s_or_b64 exec, exec, x
  Fill,     // N is all lanes:       s_mov_b64 exec, -1
  Clear,    // N is empty:           s_mov_b64 exec, 0
  Invert,   // N is all but O:       s_not_b64 exec, exec
  Disjoint, // N and O share no lane: s_andn2_saveexec_b64 (N = x & ~O)
  Cover,    // every lane is in N or O: s_orn2_saveexec_b64 (N = x | ~O)
  Replace,  // nothing is known:     s_mov_b64 exec, s[4:5]
};

ExecChange exec_change(const isa::Instruction&);

} // namespace asmevo::program
