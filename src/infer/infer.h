// A launch for a kernel of which nothing but the code object is known (docs/inference.md): from the metadata,
// and from probe runs on the emulator that show what the kernel does with its arguments.
#pragma once

#include "codeobject/code_object.h"
#include "infer/kernarg_fields.h"
#include "infer/observations.h"
#include "oracle/launch_spec.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace asmevo::infer {

enum class Confidence : uint8_t { Low, Medium, High };
std::string_view name(Confidence);

struct InferOptions {
  std::string kernel;                          // empty: the only one
  std::optional<std::array<uint64_t, 3>> grid; // workgroups
  std::optional<std::array<uint32_t, 3>> workgroup;
  uint32_t dynamic_lds = 0;
  /// Values of arguments by name. Of a pointer: what each of its integer elements is.
  std::map<std::string, std::string> values;
  /// Most instructions a workgroup may run in one probe; 0: a default.
  uint64_t most_instructions = 0;
};

struct InferredArgument {
  KernargField field;
  Confidence confidence = Confidence::Low;
  std::vector<std::string> evidence; // one line each
  std::string dtype;                 // of the scalar, or of the elements
  bool unused = false;               // no instruction read it
  // Scalars
  std::string value;
  // Pointers
  oracle::Role role = oracle::Role::In;
  bool atomic = false;
  bool index = false; // its elements decide where memory is accessed: they must stay small
  ByteExtent touched; // bytes behind the pointer
  /// Of the buffer: from the pointer, or from what is touched in front of it.
  uint64_t bytes() const {
    return static_cast<uint64_t>(std::max<int64_t>(touched.end, 0) - std::min<int64_t>(touched.begin, 0));
  }
  std::vector<std::string> placed_by; // arguments whose contents decide which bytes are touched
};

struct Inference {
  std::string kernel;
  std::array<uint64_t, 3> grid{1, 1, 1}; // workgroups
  std::array<uint32_t, 3> workgroup{1, 1, 1};
  std::vector<InferredArgument> arguments; // in kernarg order
  std::vector<std::string> notes;          // one line each: about the launch as a whole
  std::vector<std::string> missing;        // what could not be inferred, and what to supply
  std::vector<uint64_t> sample;            // the workgroups that probes ran of a large grid; empty: all
  unsigned probes = 0;
  std::string last_outcome; // of the probe with the launch as it is here; empty: it completed
  oracle::LaunchSpec spec;

  /// The launch file, with the evidence as comments.
  std::string text() const;
};

/// BadInput: no such kernel, several and none chosen, options that do not fit it. Unsupported: a kernarg
/// segment too large to follow.
Result<Inference> infer_launch(const std::shared_ptr<const codeobject::CodeObject>&, const InferOptions&);

} // namespace asmevo::infer
