// K0 of these tests: the slow kernel of kernels/pairs/load_wait_late, which waits for a load before work that
// does not need it. Ids of its instructions are found by their text.
#pragma once

#include "base/files.h"
#include "gate/gated_eval.h"

#include <gtest/gtest.h>

namespace asmevo::gate {

inline SetupRequest pair_request() {
  SetupRequest r;
  r.k0 = *read_file(ASMEVO_BINARY_DIR "/kernels/pairs/load_wait_late.gfx942.co");
  r.launch = ASMEVO_SOURCE_DIR "/kernels/pairs/load_wait_late.toml";
  r.kernel = "slow";
  r.model = "mi300x";
  r.members = 4;
  r.effort = 200'000;
  return r;
}

/// The id of the n-th instruction of `slow` whose text begins so.
inline program::InstrId id_of(const oracle::Subject& k0, std::string_view text, unsigned n = 0) {
  const program::Program& p = k0.program();
  const program::Function* f = p.find_function("slow");
  for (program::Index i = f->begin; i < f->end; ++i)
    if (program::print(p, i, k0.codec()).starts_with(text) && n-- == 0) return p.entries[i].id;
  ADD_FAILURE() << "no " << text;
  return {};
}

inline program::Edit edit_of(std::vector<program::Change> changes, std::string rationale = "") {
  program::Edit e;
  e.kernel = "slow";
  e.changes = std::move(changes);
  e.rationale = std::move(rationale);
  return e;
}

inline program::Change replaced(program::InstrId id, std::string text) {
  return {.first = id, .last = id, .before = {}, .text = std::move(text)};
}
inline program::Change inserted(program::InstrId before, std::string text) {
  return {.first = {}, .last = {}, .before = before, .text = std::move(text)};
}

/// The edit that makes it the fast one: waits behind the work.
inline program::Edit late_wait(const oracle::Subject& k0) {
  return edit_of({replaced(id_of(k0, "s_waitcnt vmcnt(0)"), ""),
                  inserted(id_of(k0, "v_add_u32_e32 v3, v3, v4"), "s_waitcnt vmcnt(0)")},
                 "the wait stands behind the work that does not need the load");
}

} // namespace asmevo::gate
