// Ways of making a kernel wrong, each at every place where a kernel has room for it. A draft need not be
// wrong, or even assemble: plant.h picks those that are.
#pragma once

#include "soundness/bench.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::soundness {

enum class DefectClass : uint8_t {
  WorkSkipped,
  LastTileDropped,
  WaitRemoved,
  StaleOutput,
  AliasingBroken,
  GuardOverwritten,
  AbiChanged,
  NanHidden,
  SeenOnly,
  OwnOldOutput,
};
inline constexpr size_t defect_classes = 10;
std::string_view name(DefectClass);

struct Draft {
  std::string text;                           // what was done, and where
  std::vector<program::Change> changes = {};  // beside leaving out the pause
  std::string front = {};                     // in its place
  std::vector<program::Change> harmless = {}; // AliasingBroken: the same in front of the store that breaks it
  std::optional<Bytes> object = {};           // AbiChanged: a whole object in place of an edit
  std::optional<size_t> reveals = {};         // SeenOnly: the held-back case that shows it
};
using Drafts = std::vector<Draft>;

// One function a class.
Drafts work_skipped(const Bench&);
Drafts last_tile_dropped(const Bench&);
Drafts wait_removed(const Bench&);
Drafts stale_output(const Bench&);
Drafts aliasing_broken(const Bench&);
Drafts guard_overwritten(const Bench&);
Drafts abi_changed(const Bench&);
Drafts nan_hidden(const Bench&);
Drafts seen_only(const Bench&, const gate::Setup&); // which cases are seen, and which are held back
Drafts own_old_output(const Bench&);

// --- for those

/// Scalar registers that nothing of a kernel uses at its entry, and that code in place of the pause may have.
inline constexpr unsigned free_sgpr = 92;
/// Goes on if SCC is set, else ends the program.
std::string or_end(std::string_view condition);
/// Stores to global memory, by position.
std::vector<program::Index> stores_of(const Bench&);
/// "4a0: global_store_dword ..." of an instruction.
std::string place_text(const Bench&, program::Index);

} // namespace asmevo::soundness
