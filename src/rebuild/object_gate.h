// Section-by-section comparison of two code objects: what a rebuild must give back.
#pragma once

#include "codeobject/code_object.h"

#include <string>
#include <vector>

namespace asmevo::rebuild {

/// Bytes that are not compared, because linking decides them and not the code; each with its reason.
struct Mask {
  std::string what; // "kernel descriptor foo.kd: kernel_code_entry_byte_offset"
  std::string reason;
};

struct ObjectDifference {
  std::string section; // ".text", "kernel descriptor foo.kd", "metadata note", "e_flags", ...
  uint64_t offset = 0; // first differing byte in it
  std::string detail;  // for .text: the instruction around it, both ways
};

struct ObjectComparison {
  std::vector<ObjectDifference> differences; // first of each section
  std::vector<Mask> masks;
  bool identical() const { return differences.empty(); }
};

/// How the second object came about, which decides what may differ.
enum class Route : uint8_t {
  Direct,   // same layout: the whole file must be the same, nothing is masked
  Assembly, // linked anew: .text, descriptors (entry offset masked), metadata, e_flags, ABI version, .rodata,
            // .data, symbols (addresses relative to their section)
};

ObjectComparison compare_objects(const codeobject::CodeObject& k0, const codeobject::CodeObject& rebuilt,
                                 Route route);

} // namespace asmevo::rebuild
