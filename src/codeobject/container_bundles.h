// The bundles of a container, as laid out in its file. Inside container*.cpp only.
#pragma once

#include "codeobject/compressed_bundle.h"
#include "codeobject/container.h"
#include "codeobject/file_image.h"
#include "codeobject/host_elf.h"
#include "codeobject/offload_bundle.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace asmevo::codeobject {

/// A bundle where it stands, plain or compressed.
struct PlacedBundle {
  uint64_t offset = 0, size = 0; // bytes, in the file
  std::optional<CompressedBundle> compression;
  OffloadBundle layout; // of the plain bundle
  size_t section = 0;   // which .hip_fatbin section of a host ELF
};

/// The bundle that was decompressed last, so that reading its objects in order decompresses it once.
struct DecompressedCache {
  std::mutex mutex;
  uint64_t offset = 0;
  std::shared_ptr<const Bytes> plain;
};

struct Container::Bundles {
  std::shared_ptr<const FileImage> image;
  std::vector<PlacedBundle> list;      // in file order
  std::vector<FatbinSection> sections; // of a host ELF
  std::shared_ptr<DecompressedCache> cache = std::make_shared<DecompressedCache>();
};

/// Bundles one after another in [offset, offset+size) of the file, with any padding between; BadInput for
/// bytes that are neither. Each is read, the compressed ones to their end.
Result<std::vector<PlacedBundle>> list_bundles(ByteSpan file, uint64_t offset, uint64_t size);

/// The plain bytes of a bundle; decompressed, or a view into the file.
struct PlainBundle {
  std::shared_ptr<const Bytes> owner; // null for a view
  ByteSpan bytes;
};
Result<PlainBundle> plain_bundle(ByteSpan file, const PlacedBundle&, DecompressedCache&);

/// Where an object's bytes are.
struct ObjectSource {
  std::shared_ptr<const FileImage> image;
  std::shared_ptr<DecompressedCache> cache;
  uint64_t bundle_offset = 0, bundle_size = 0; // the compressed bundle it lies in; size 0: none
  uint64_t offset = 0, size = 0;               // in the decompressed bundle, or in the file
};

/// An object's bytes without a copy.
struct ObjectView {
  std::shared_ptr<const void> owner;
  ByteSpan bytes;
};
Result<ObjectView> view(const ObjectSource&);

} // namespace asmevo::codeobject
