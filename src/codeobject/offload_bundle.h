// A clang offload bundle: several code objects behind one header, as clang, hipcc and clang-offload-bundler
// write it (clang documentation, "Clang Offload Bundler", "Bundled Binary File Layout"). All integers
// little-endian:
//
//     24 bytes  "__CLANG_OFFLOAD_BUNDLE__"
//     u64       number of entries
//     per entry u64 offset from the bundle's start, u64 size, u64 length of the id, the id's characters
//
// The id is `<kind>-<triple>-<target id>`: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-". The bundle does not say
// where it ends: it ends with its last entry.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {

inline constexpr std::string_view offload_bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";

struct BundleEntry {
  std::string id;
  uint64_t offset = 0, size = 0; // bytes, from the bundle's start; offset means nothing where size is 0
  uint64_t header = 0;           // where the entry's offset field is in the bundle
};

struct OffloadBundle {
  std::vector<BundleEntry> entries;
  uint64_t size = 0; // bytes, to the end of what comes last, entry or header
};

/// Reads the bundle at the start of `bytes`, which may go on behind it. BadInput names the offset in the
/// bundle: no magic, header or entry past the end, entries over each other or over the header.
Result<OffloadBundle> read_offload_bundle(ByteSpan bytes);

/// The bundle with other bytes in one entry. Where they fit before the next entry, and only zeros are in
/// between, the others stay; else those behind move up by a multiple of the alignment they all have (at most
/// 4096). `bundle` and `layout`: as read_offload_bundle took and gave them; the entry must have bytes now.
Bytes replace_entry(ByteSpan bundle, const OffloadBundle& layout, size_t entry, ByteSpan contents);

} // namespace asmevo::codeobject
