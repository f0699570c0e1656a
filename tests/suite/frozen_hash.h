// What kernels/suite/hashes.txt holds of an object: the hash of what a GPU and the runtime see of it. Paths
// and the names of compilers are elsewhere.
#pragma once

#include "base/hash.h"
#include "codeobject/code_object.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace asmevo::suite {

inline std::string frozen_hash(const codeobject::CodeObject& object) {
  Bytes all;
  for (const char* name : {".note", ".rodata", ".text"}) {
    const auto section = object.find_section(name);
    if (!section) return std::string("no section ") + name;
    const ByteSpan contents = object.sections()[*section].contents;
    append(all, contents.size());
    all.insert(all.end(), contents.begin(), contents.end());
    if (std::string_view(name) != ".rodata") continue;
    constexpr size_t entry_offset = 16, entry_bytes = 8; // kernel_code_entry_byte_offset
    for (const codeobject::Kernel& kernel : object.kernels()) {
      const uint64_t at = kernel.descriptor_address - object.sections()[*section].address + entry_offset;
      if (at + entry_bytes <= contents.size())
        std::fill_n(all.end() - static_cast<std::ptrdiff_t>(contents.size() - at), entry_bytes, uint8_t{0});
    }
  }
  return content_hash(all);
}

} // namespace asmevo::suite
