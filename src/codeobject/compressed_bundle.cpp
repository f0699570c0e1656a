#include "codeobject/compressed_bundle.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/MD5.h>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

namespace asmevo::codeobject {

namespace {

constexpr uint64_t expansion_floor = uint64_t{16} << 20, expansion_ratio = 1024;
constexpr size_t step_size = size_t{1} << 20; // bytes of output a step may add
constexpr int zstd_level = 9;                 // a result no larger than clang's, which compresses at level 3

uint64_t truncated_md5(ByteSpan bytes) {
  llvm::MD5 hash;
  hash.update(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()));
  return hash.final().low();
}

// A stream that is decompressed piece by piece.
class Decompressor {
 public:
  struct Step {
    size_t consumed = 0, produced = 0;
    bool ended = false; // of the stream, or of one zstd frame
  };
  virtual ~Decompressor() = default;
  /// Nothing where the stream is broken.
  virtual std::optional<Step> step(ByteSpan in, std::span<uint8_t> out) = 0;
};

class ZlibDecompressor final : public Decompressor {
 public:
  ZlibDecompressor() { good_ = inflateInit(&stream_) == Z_OK; }
  ~ZlibDecompressor() override {
    if (good_) inflateEnd(&stream_);
  }
  ZlibDecompressor(const ZlibDecompressor&) = delete;
  ZlibDecompressor& operator=(const ZlibDecompressor&) = delete;
  std::optional<Step> step(ByteSpan in, std::span<uint8_t> out) override {
    if (!good_) return std::nullopt;
    constexpr size_t most = std::numeric_limits<uInt>::max();
    stream_.next_in = const_cast<Bytef*>(in.data()); // zlib's type has no const; it only reads
    stream_.avail_in = static_cast<uInt>(std::min(in.size(), most));
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), most));
    const size_t in_before = stream_.avail_in, out_before = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return std::nullopt;
    return Step{in_before - stream_.avail_in, out_before - stream_.avail_out, code == Z_STREAM_END};
  }

 private:
  z_stream stream_{};
  bool good_ = false;
};

class ZstdDecompressor final : public Decompressor {
 public:
  /// A frame never needs a larger window than its contents, but 128 MiB is what every encoder may ask for.
  explicit ZstdDecompressor(uint64_t plain_size) : context_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    const int log = std::clamp(static_cast<int>(std::bit_width(plain_size)), 27, 31);
    if (context_) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, log);
  }
  std::optional<Step> step(ByteSpan in, std::span<uint8_t> out) override {
    if (!context_) return std::nullopt;
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const size_t code = ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_isError(code)) return std::nullopt;
    return Step{input.pos, output.pos, code == 0};
  }

 private:
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
};

// A zstd stream is a row of frames; skippable ones (0x184d2a50 to ..5f) carry no data.
bool starts_zstd_frame(ByteSpan bytes) {
  const auto magic = load<uint32_t>(bytes, 0);
  return magic && (*magic == 0xfd2fb528U || (*magic & 0xfffffff0U) == 0x184d2a50U);
}

struct Stream {
  Bytes plain;
  uint64_t consumed = 0;
};

// With `exact` the payload must end with the stream; without, it may go on with something else.
Result<Stream> decompress(ByteSpan payload, const CompressedBundle& header, bool exact) {
  std::unique_ptr<Decompressor> decompressor;
  const bool zstd = header.method == CompressionMethod::Zstd;
  if (zstd)
    decompressor = std::make_unique<ZstdDecompressor>(header.plain_size);
  else
    decompressor = std::make_unique<ZlibDecompressor>();
  Stream stream;
  Bytes chunk(static_cast<size_t>(std::min<uint64_t>(header.plain_size + 1, step_size)));
  for (bool ended = false; !ended;) {
    const ByteSpan rest = payload.subspan(stream.consumed);
    const auto step = decompressor->step(rest, chunk);
    if (!step)
      return bad_input("compressed bundle: broken {} stream near offset {:#x}", zstd ? "zstd" : "zlib",
                       header.header_size + stream.consumed);
    stream.consumed += step->consumed;
    if (step->produced > header.plain_size - stream.plain.size())
      return bad_input("compressed bundle: holds more than the {} bytes its header claims",
                       header.plain_size);
    append(stream.plain, ByteSpan(chunk).first(step->produced));
    ended = step->ended && !(zstd && starts_zstd_frame(payload.subspan(stream.consumed)));
    if (!step->ended && step->consumed == 0 && step->produced == 0)
      return bad_input("compressed bundle: {} stream is cut off at offset {:#x}", zstd ? "zstd" : "zlib",
                       header.header_size + stream.consumed);
  }
  if (stream.plain.size() != header.plain_size)
    return bad_input("compressed bundle: holds {} bytes where its header claims {}", stream.plain.size(),
                     header.plain_size);
  if (exact && stream.consumed != payload.size())
    return bad_input("compressed bundle: stream ends at offset {:#x}, before the {} bytes its header claims",
                     header.header_size + stream.consumed, header.size);
  return stream;
}

Result<Bytes> compress(ByteSpan plain, CompressionMethod method) {
  if (method == CompressionMethod::Zlib) {
    uLongf size = compressBound(plain.size());
    Bytes out(size);
    if (compress2(out.data(), &size, plain.data(), plain.size(), Z_BEST_COMPRESSION) != Z_OK)
      return environment_error("zlib cannot compress {} bytes", plain.size());
    out.resize(size);
    return out;
  }
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  Bytes out(ZSTD_compressBound(plain.size()));
  if (!context) return environment_error("zstd: out of memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, zstd_level);
  // The same kernels for several GPUs lie megabytes apart.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  const size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), plain.data(), plain.size());
  if (ZSTD_isError(size)) return environment_error("zstd: {}", ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

} // namespace

Result<CompressedBundle> read_compressed_header(ByteSpan bytes) {
  if (!as_text(bytes).starts_with(compressed_bundle_magic))
    return bad_input("compressed bundle: magic '{}' is missing", compressed_bundle_magic);
  const auto version = load<uint16_t>(bytes, 4), method = load<uint16_t>(bytes, 6);
  if (!method) return bad_input("compressed bundle: header is cut off at offset {:#x}", bytes.size());
  if (*version < 1 || *version > 3)
    return bad_input("compressed bundle: version {} at offset 0x4; 1 to 3 are known", *version);
  if (*method > 1)
    return bad_input("compressed bundle: method {} at offset 0x6 is neither zlib nor zstd", *method);
  CompressedBundle header;
  header.version = *version;
  header.method = static_cast<CompressionMethod>(*method);
  header.header_size = *version == 1 ? 20 : *version == 2 ? 24 : 32;
  if (bytes.size() < header.header_size)
    return bad_input("compressed bundle: header is cut off at offset {:#x}", bytes.size());
  if (*version == 3) {
    header.size = *load<uint64_t>(bytes, 8);
    header.plain_size = *load<uint64_t>(bytes, 16);
  } else {
    if (*version == 2) header.size = *load<uint32_t>(bytes, 8);
    header.plain_size = *load<uint32_t>(bytes, *version == 1 ? 8 : 12);
  }
  header.hash = *load<uint64_t>(bytes, header.header_size - 8);
  if (*version != 1 && (header.size < header.header_size || header.size > bytes.size()))
    return bad_input("compressed bundle: {} bytes claimed at offset 0x8, {} are there", header.size,
                     bytes.size());
  const uint64_t payload = (*version == 1 ? bytes.size() : header.size) - header.header_size;
  if (header.plain_size > expansion_floor &&
      (header.plain_size - expansion_floor) / expansion_ratio > payload)
    return bad_input("compressed bundle: {} bytes claimed from a payload of {}: no code expands like that",
                     header.plain_size, payload);
  return header;
}

Result<Decompressed> decompress_bundle(ByteSpan bytes) {
  ASMEVO_TRY(CompressedBundle header, read_compressed_header(bytes));
  const bool sized = header.version != 1;
  const ByteSpan payload =
      bytes.subspan(header.header_size, (sized ? header.size : bytes.size()) - header.header_size);
  ASMEVO_TRY(Stream stream, decompress(payload, header, sized));
  header.size = header.header_size + stream.consumed;
  if (const uint64_t hash = truncated_md5(stream.plain); hash != header.hash)
    return bad_input("compressed bundle: contents have hash {:#018x} where the header says {:#018x}", hash,
                     header.hash);
  return Decompressed{header, std::move(stream.plain)};
}

Result<Bytes> compress_bundle(ByteSpan plain, unsigned version, CompressionMethod method) {
  ASMEVO_TRY(const Bytes payload, compress(plain, method));
  const uint64_t size = payload.size() + (version == 1 ? 20 : version == 2 ? 24 : 32);
  constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
  if (version < 3 && (plain.size() > most || size > most))
    return unsupported("a bundle of {} bytes does not fit a version {} header, which counts to 4 GiB",
                       plain.size(), version);
  Bytes out;
  out.reserve(size);
  append(out, as_bytes(compressed_bundle_magic));
  append(out, static_cast<uint16_t>(version));
  append(out, static_cast<uint16_t>(method));
  if (version == 3) {
    append(out, size);
    append(out, uint64_t{plain.size()});
  } else {
    if (version == 2) append(out, static_cast<uint32_t>(size));
    append(out, static_cast<uint32_t>(plain.size()));
  }
  append(out, truncated_md5(plain));
  append(out, payload);
  return out;
}

} // namespace asmevo::codeobject
