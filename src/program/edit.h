// A proposed change: JSON in and out (docs/command-line.md, "rebuild"). Text reaches the assembler only when
// it is spliced in.
#pragma once

#include "base/result.h"
#include "program/program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::program {

struct Change {
  // A range of ids, both inclusive, replaced by `text`; or, where before is set, `text` inserted in front of
  // it and behind its labels: what branches to the instruction runs the text too.
  std::optional<InstrId> first, last, before;
  std::string text;
};

struct ResourceRequest {
  std::optional<uint32_t> lds_bytes, scratch_bytes;
  bool shrink_vgprs = false; // let the register allocation shrink to what the code uses
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

struct Edit {
  uint32_t base = 0;  // node the ids belong to
  std::string kernel; // symbol name; changes lie in it and in functions that it calls
  std::vector<Change> changes;
  ResourceRequest resources;
  std::string rationale, direction;

  static constexpr size_t max_text = 64 * 1024; // bytes, all changes together

  /// BadInput names the key ("changes[2].first").
  static Result<Edit> parse(std::string_view json);
  std::string json() const;
};

/// Several edits in a row and a fresh node number for what they insert.
struct SpliceError {
  size_t change = 0;             // index into Edit::changes
  unsigned line = 0, column = 0; // in that change's text, 1-based; 0 where the text is not at fault
  std::string message;
  std::string describe() const; // "changes[1], line 2, column 5: ..."
};

/// Applies an edit. Only the new text is parsed. Labels that stood in a replaced range move to the
/// replacement's first instruction (or to what follows it, where nothing replaces it). Labels the text
/// defines must be new; labels and symbols it uses must exist in `base` or in the text. New instructions get
/// ids node.0, node.1, ...
std::expected<Program, SpliceError> splice(const Program& base, const Edit& edit, uint32_t node,
                                           isa::Codec& codec);

} // namespace asmevo::program
