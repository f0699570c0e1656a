// Where code objects are found in practice, and how a changed one goes back in: raw ELF files, clang offload
// bundles
// ("__CLANG_OFFLOAD_BUNDLE__"), compressed bundles ("CCOB" v1 to v3, zstd or zlib), host ELF files and shared
// libraries whose .hip_fatbin section holds any number of either, Triton cache folders.
// Formats: offload_bundle.h, compressed_bundle.h, host_elf.h.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace asmevo::codeobject {

enum class ContainerKind : uint8_t { CodeObject, Bundle, CompressedBundle, HostElf, TritonEntry };
/// "code object", "offload bundle", ...
std::string_view describe(ContainerKind);

struct ObjectSource; // where the bytes are; in container.cpp

/// One code object inside a container. Bytes are read on demand: a library may hold more than fits in memory.
struct ContainedObject {
  std::string target_id;   // "gfx942:xnack-", from the bundle entry or the ELF flags
  std::string entry_id;    // the bundle's own words: "hipv4-amdgcn-amd-amdhsa--gfx942"; empty for raw ELF
  size_t bundle = 0;       // which bundle of the container
  size_t entry = 0;        // which entry of the bundle, those not listed counted too
  uint64_t offset = 0;     // of its bytes in the file, or in the uncompressed bundle
  uint64_t size = 0;       // bytes
  bool compressed = false; // lies in a compressed bundle
  std::string path_in_container; // for messages: "libx.so:.hip_fatbin bundle 3 entry 2"

  /// A copy of its bytes. Objects of one compressed bundle read one after another decompress it once.
  Result<Bytes> read() const;
  /// The kernels it defines, sorted; empty where the bytes are no ELF with a readable symbol table.
  Result<std::vector<std::string>> kernels() const;

  std::shared_ptr<const ObjectSource> source; // never null
};

/// Host entries and entries without bytes are not listed; everything else is, GPUs this program does not
/// handle too.
class Container {
 public:
  /// Reads `path`: a file of any kind above, or a Triton cache entry folder (its .hsaco). Large files are
  /// mapped, not copied: they must not be truncated while the container or one of its objects lives.
  /// BadInput, one line with the offset: entries past the end or over each other, sizes that do not fit
  /// (checked before anything is allocated), decompressed size that disagrees with the header, hash mismatch.
  static Result<Container> open(const std::filesystem::path& path);
  static Result<Container> parse(Bytes bytes, std::string name);

  ContainerKind kind() const { return kind_; }
  /// The file that was read: `path`, or the .hsaco inside a Triton folder.
  const std::string& name() const { return name_; }
  const std::vector<ContainedObject>& objects() const { return objects_; }

  /// The object of a target: the exact id, else one that runs on it (gfx90a for gfx90a:xnack-), else one that
  /// is a narrower form of it (gfx90a:xnack- for gfx90a). BadInput lists what there is when none or several
  /// fit.
  Result<const ContainedObject*> find(std::string_view target_id) const;

  /// Which object a changed one is to replace: that of the same target id; of several, the one with the same
  /// kernels. BadInput lists the candidates when none or several fit.
  Result<size_t> find_origin(ByteSpan code_object) const;

  /// The container's bytes with object `index` replaced.
  ///
  /// The new object must be an ELF for the same target id and code object version and define every kernel the
  /// old one has, else BadInput: a host program would no longer load it. Where it fits into its slot (padding
  /// up to the next entry or bundle is part of it) nothing else moves. Otherwise its bundle is laid out
  /// again, compressed again where it was (same version and method), and in a host ELF moved into a new
  /// segment (host_elf.h). What comes out is read again and compared before it is returned: the object is the
  /// new one, all others are as they were. Objects keep their order but for those of a bundle that moved to a
  /// section of its own: last. Unsupported, with the reason, where that cannot be done safely.
  Result<Bytes> replace(size_t index, ByteSpan code_object) const;

 private:
  friend class ContainerReader; // in container.cpp
  struct Bundles;               // layout of the bundles; in container_bundles.h

  /// `bytes` must outlive the container and its objects.
  static Result<Container> borrow(ByteSpan bytes, std::string name);
  Result<Bytes> replace_in_bundle(size_t index, ByteSpan code_object) const;
  Status check_result(ByteSpan result, size_t index, ByteSpan code_object) const;

  ContainerKind kind_ = ContainerKind::CodeObject;
  std::string name_;
  std::shared_ptr<const Bundles> bundles_; // never null; no bundles in a raw ELF
  std::vector<ContainedObject> objects_;
};

} // namespace asmevo::codeobject
