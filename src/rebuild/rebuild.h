// The direct route: Program -> code object, without text and without a linker. K0's file is the frame; .text,
// kernel descriptors and the metadata note are written anew from their decoded forms, and what moved is moved
// (codeobject/elf_layout.h). Without a change the result is K0, byte for byte.
#pragma once

#include "base/result.h"
#include "codeobject/code_object.h"
#include "program/edit.h"
#include "rebuild/recover.h"
#include "rebuild/resources.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace asmevo::rebuild {

/// K0 with all that is computed once for it. Immutable; many threads may build from one.
struct Original {
  codeobject::CodeObject object;
  Recovery recovery;
  std::map<std::string, RegisterUse, std::less<>> registers; // by kernel

  /// Parses and recovers. The codec must be for the object's GPU (any xnack/sramecc setting).
  static Result<Original> open(Bytes bytes, isa::Codec& codec);
  const program::Program& program() const { return recovery.program; }
};

enum class BuiltBy : uint8_t { Direct, InPlace };

struct Built {
  Bytes object;
  BuiltBy route = BuiltBy::Direct;
  program::Program program;
  std::vector<ResourceChange> resources;
};

/// The object for a program that descends from K0's by edits of `kernel` ("" where nothing was edited).
/// Unsupported where the recovery has gaps and code moved, or where the file cannot be laid out again.
Result<Built> rebuild(const Original& k0, program::Program program, std::string_view kernel,
                      const program::ResourceRequest& resources);

/// splice + rebuild; where rebuild is refused because recovery has gaps or the object is V3, the in-place
/// patch (in_place.h) is tried. `base` is K0's program or a node's.
Result<Built> apply_edit(const Original& k0, const program::Program& base, const program::Edit& edit,
                         uint32_t node, isa::Codec& codec);

/// What apply_edit does behind the splicing: `spliced` is `base` with the edit in it.
Result<Built> build_spliced(const Original& k0, const program::Program& base, program::Program spliced,
                            const program::Edit& edit);

} // namespace asmevo::rebuild
