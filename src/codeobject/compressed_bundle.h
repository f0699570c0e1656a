// A compressed offload bundle, what `clang-offload-bundler -compress` and `--offload-compress` write (clang
// documentation, "Compression and Decompression"). A header, then an offload bundle as one zlib or zstd
// stream:
//
//             v1    v2    v3
//     magic   4     4     4     "CCOB"
//     version u16   u16   u16
//     method  u16   u16   u16   0 zlib, 1 zstd
//     size    -     u32   u64   bytes of the whole, header included
//     plain   u32   u32   u64   bytes of the offload bundle
//     hash    u64   u64   u64   first 8 bytes of the offload bundle's MD5
//
// Several stand one behind the other in a library. A v1 header does not say where its payload ends, and the
// next magic is no answer: those four bytes occur in compressed data. The stream itself knows its end.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <string_view>

namespace asmevo::codeobject {

inline constexpr std::string_view compressed_bundle_magic = "CCOB";

enum class CompressionMethod : uint16_t { Zlib = 0, Zstd = 1 };

struct CompressedBundle {
  unsigned version = 0; // 1 to 3
  CompressionMethod method = CompressionMethod::Zstd;
  uint64_t header_size = 0; // bytes
  uint64_t size = 0;        // bytes of the whole; 0 in a v1 header that was only looked at
  uint64_t plain_size = 0;  // bytes, as claimed
  uint64_t hash = 0;
};

/// Reads the header at the start of `bytes`. BadInput names the offset: truncated, unknown version or method,
/// sizes past the end, or a plain size that no such payload holds (over 16 MiB + 1024 times the payload,
/// which is zlib's best and far beyond what code reaches).
Result<CompressedBundle> read_compressed_header(ByteSpan bytes);

struct Decompressed {
  CompressedBundle header; // with the size found, v1 too
  Bytes plain;
};

/// Decompresses the bundle at the start of `bytes`, which may go on behind it, in steps: memory follows what
/// the stream really gives and never passes the claimed size. BadInput: broken stream, another size than the
/// header's, another hash.
Result<Decompressed> decompress_bundle(ByteSpan bytes);

/// Unsupported where a size does not fit the version's header.
Result<Bytes> compress_bundle(ByteSpan plain, unsigned version, CompressionMethod method);

} // namespace asmevo::codeobject
