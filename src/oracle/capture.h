// Captures: a case as a folder on disk (docs/captures.md), manifest.json and the contents of memory as
// blobs/<hash>.zst. Taken before the dispatch; what K0 left behind may be there, too.
//
// A folder comes from outside: every size, offset and name in it is doubted, blobs must have the hash they
// are named by, and what does not fit is said in one line.
#pragma once

#include "oracle/case.h"

#include <filesystem>

namespace asmevo::oracle {

inline constexpr unsigned capture_version = 1;

/// Writes `folder`, which must not be there yet: beside it first, then renamed, so that it is there complete
/// or not at all. Memory of one byte over and over (zeros, poison, guards) costs nothing. BadInput: `folder`
/// is there, or more than 64 GiB of other contents.
Status write_capture(const Case&, const std::filesystem::path& folder);

/// BadInput: "capture/manifest.json: regions[3].size: ...".
Result<Case> read_capture(const std::filesystem::path& folder);

// --- the parts, for tests and other sources of captures

/// A piece of a region: `bytes` from `offset` on that are one blob, or one byte over and over.
struct CaptureExtent {
  uint64_t offset = 0, bytes = 0;
  std::string blob; // hash; empty: `value` everywhere
  uint8_t value = 0;
};

/// How a reader gets at blobs by name: the plain contents, `bytes` of them.
using ReadBlob = std::function<Result<Bytes>(const std::string& hash, uint64_t bytes)>;

/// The case that a manifest's text describes.
Result<Case> parse_capture(std::string_view manifest, const ReadBlob& read);

/// What is in a compressed blob. BadInput: no zstd frame of just so many bytes.
Result<Bytes> decompress_blob(ByteSpan compressed, uint64_t bytes);

} // namespace asmevo::oracle
