#include "codeobject/container_bundles.h"

#include <algorithm>

namespace asmevo::codeobject {

namespace {

// The first magic of either kind at or behind `at`, or the end.
uint64_t find_magic(ByteSpan bytes, uint64_t at) {
  const std::string_view text = as_text(bytes);
  for (; (at = text.find_first_of("C_", at)) != std::string_view::npos; ++at)
    if (const auto rest = text.substr(at);
        rest.starts_with(offload_bundle_magic) || rest.starts_with(compressed_bundle_magic))
      return at;
  return text.size();
}

Result<PlacedBundle> read_bundle(ByteSpan bytes) {
  PlacedBundle bundle;
  if (!as_text(bytes).starts_with(compressed_bundle_magic)) {
    ASMEVO_TRY(bundle.layout, read_offload_bundle(bytes));
    bundle.size = bundle.layout.size;
    return bundle;
  }
  ASMEVO_TRY(const Decompressed decompressed, decompress_bundle(bytes));
  bundle.compression = decompressed.header;
  bundle.size = decompressed.header.size;
  auto layout = read_offload_bundle(decompressed.plain);
  if (!layout) return failed(layout.error(), "decompressed");
  bundle.layout = *std::move(layout);
  return bundle;
}

} // namespace

Result<std::vector<PlacedBundle>> list_bundles(ByteSpan file, uint64_t offset, uint64_t size) {
  const ByteSpan region = file.subspan(offset, size);
  std::vector<PlacedBundle> bundles;
  for (uint64_t at = 0;;) {
    const auto start = std::find_if(region.begin() + static_cast<ptrdiff_t>(at), region.end(),
                                    [](uint8_t b) { return b != 0; });
    if (start == region.end()) return bundles;
    at = static_cast<uint64_t>(start - region.begin());
    // Linkers pad with zeros. Should something else stand there, the next magic goes on, but the end must be
    // clean: the rest of a cut-off bundle is not to be passed over.
    const uint64_t magic = find_magic(region, at);
    if (magic == region.size())
      return bad_input("offset {:#x}: neither an offload bundle nor padding up to the next one", offset + at);
    auto bundle = read_bundle(region.subspan(magic));
    if (!bundle)
      return failed(bundle.error(), fmt::format("bundle {} at offset {:#x}", bundles.size(), offset + magic));
    bundle->offset = offset + magic;
    bundles.push_back(*std::move(bundle));
    at = magic + bundles.back().size;
  }
}

Result<PlainBundle> plain_bundle(ByteSpan file, const PlacedBundle& bundle, DecompressedCache& cache) {
  const ByteSpan stored = file.subspan(bundle.offset, bundle.size);
  if (!bundle.compression) return PlainBundle{nullptr, stored};
  const std::scoped_lock lock(cache.mutex);
  if (cache.plain == nullptr || cache.offset != bundle.offset) {
    cache.plain = nullptr; // one at a time
    ASMEVO_TRY(Decompressed decompressed, decompress_bundle(stored));
    cache.plain = std::make_shared<const Bytes>(std::move(decompressed.plain));
    cache.offset = bundle.offset;
  }
  return PlainBundle{cache.plain, *cache.plain};
}

Result<ObjectView> view(const ObjectSource& source) {
  const ByteSpan file = source.image->bytes();
  ObjectView object{source.image, {}};
  ByteSpan from = file;
  if (source.bundle_size != 0) {
    PlacedBundle bundle;
    bundle.offset = source.bundle_offset;
    bundle.size = source.bundle_size;
    bundle.compression.emplace();
    ASMEVO_TRY(const PlainBundle plain, plain_bundle(file, bundle, *source.cache));
    object.owner = plain.owner;
    from = plain.bytes;
  }
  const auto bytes = slice(from, source.offset, source.size);
  if (!bytes) return bad_input("offset {:#x}: the file has changed while it was read", source.offset);
  object.bytes = *bytes;
  return object;
}

Result<Bytes> ContainedObject::read() const {
  ASMEVO_TRY(const ObjectView object, view(*source));
  return Bytes(object.bytes.begin(), object.bytes.end());
}

} // namespace asmevo::codeobject
