// What kernels/suite/hashes.txt holds of an object: the hash of what a GPU and the runtime see of it. Paths
// and the names of compilers are elsewhere.
#pragma once

#include "base/hash.h"
#include "codeobject/code_object.h"

#include <string>

namespace asmevo::suite {

inline std::string frozen_hash(const codeobject::CodeObject& object) {
  Bytes all;
  for (const char* name : {".note", ".rodata", ".text"}) {
    const auto section = object.find_section(name);
    if (!section) return std::string("no section ") + name;
    const ByteSpan contents = object.sections()[*section].contents;
    append(all, contents.size());
    all.insert(all.end(), contents.begin(), contents.end());
  }
  return content_hash(all);
}

} // namespace asmevo::suite
