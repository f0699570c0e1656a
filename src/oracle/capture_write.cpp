#include "base/files.h"
#include "base/hash.h"
#include "oracle/capture.h"

#include <nlohmann/json.hpp>
#include <zstd.h>

#include <algorithm>
#include <set>
#include <unistd.h>

namespace asmevo::oracle {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr uint64_t chunk_bytes = uint64_t{4} << 20; // of a blob
constexpr uint64_t most_bytes = uint64_t{64} << 30;
constexpr int zstd_level = 3;

std::string_view name(emulator::RegionAccess access) {
  switch (access) {
  case emulator::RegionAccess::ReadOnly: return "read_only";
  case emulator::RegionAccess::Guard: return "guard";
  case emulator::RegionAccess::ReadWrite: break;
  }
  return "memory";
}

std::string hex(ByteSpan bytes) {
  std::string text;
  for (const uint8_t b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

class Writer {
 public:
  Writer(const Case& c, fs::path folder) : case_(c), folder_(std::move(folder)) {}

  Status write() {
    ASMEVO_CHECK(make_folder(folder_ / "blobs"));
    Json manifest = {{"format", "asmevo capture"},
                     {"version", capture_version},
                     {"kernel", case_.kernel},
                     {"target", case_.target.id()},
                     {"code_object", case_.object_hash},
                     {"grid", case_.shape.grid},
                     {"workgroup", case_.shape.workgroup},
                     {"dynamic_lds", case_.shape.dynamic_lds},
                     {"kernarg",
                      {{"address", case_.arguments.address},
                       {"bytes", hex(case_.arguments.kernarg)},
                       {"whole", case_.arguments.keep_hidden}}}};
    Json hidden = Json::object();
    for (const auto& [kind, value] : case_.arguments.hidden) hidden[kind] = value;
    manifest["hidden"] = hidden;
    const auto regions = case_.before->regions();
    Json list = Json::array();
    for (const emulator::RegionInfo& r : regions) {
      ASMEVO_TRY(const Json contents, extents(*case_.before, r, nullptr));
      list.push_back({{"name", r.name},
                      {"address", r.address},
                      {"size", r.size},
                      {"kind", name(r.access)},
                      {"contents", contents}});
    }
    manifest["regions"] = list;
    manifest["views"] = views(regions);
    if (case_.after) {
      ASMEVO_TRY(manifest["after"], after(regions));
    }
    const std::string text = manifest.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
    return write_file(folder_ / "manifest.json", std::string_view(text));
  }

 private:
  Json views(const std::vector<emulator::RegionInfo>& regions) const {
    Json list = Json::array();
    for (const CaseView& v : case_.views)
      for (size_t r = 0; r < regions.size(); ++r)
        if (v.address >= regions[r].address && v.address - regions[r].address < regions[r].size)
          list.push_back({{"name", v.name},
                          {"region", r},
                          {"offset", v.address - regions[r].address},
                          {"dtype", name_of(v.layout.type())},
                          {"shape", v.layout.shape()},
                          {"strides", v.layout.strides()},
                          {"role", oracle::name(v.role)}});
    return list;
  }

  // Of each region what is not as before.
  Result<Json> after(const std::vector<emulator::RegionInfo>& regions) {
    Json list = Json::array();
    for (size_t r = 0; r < regions.size(); ++r) {
      ASMEVO_TRY(const Json contents, extents(*case_.after, regions[r], case_.before.get()));
      if (!contents.empty()) list.push_back({{"region", r}, {"contents", contents}});
    }
    return list;
  }

  // The contents of a region; with `unless` only the chunks that are not the same there.
  Result<Json> extents(const emulator::AddressSpace& memory, const emulator::RegionInfo& region,
                       const emulator::AddressSpace* unless) {
    // Reading makes pages: those of the fork go with it.
    emulator::AddressSpace space = memory.fork();
    std::vector<CaptureExtent> list;
    Bytes chunk, other;
    for (uint64_t at = 0; at < region.size; at += chunk_bytes) {
      chunk.resize(std::min(chunk_bytes, region.size - at));
      ASMEVO_CHECK(space.read(region.address + at, chunk));
      if (unless != nullptr) {
        other.resize(chunk.size());
        ASMEVO_CHECK(unless->read(region.address + at, other));
        if (other == chunk) continue;
      }
      ASMEVO_TRY(CaptureExtent e, store(chunk));
      e.offset = at;
      CaptureExtent* last = list.empty() ? nullptr : &list.back();
      if (last != nullptr && last->blob.empty() && e.blob.empty() && last->value == e.value &&
          last->offset + last->bytes == at)
        last->bytes += e.bytes;
      else
        list.push_back(std::move(e));
    }
    Json contents = Json::array();
    for (const CaptureExtent& e : list) {
      Json extent = {{"offset", e.offset}, {"bytes", e.bytes}};
      if (e.blob.empty())
        extent["value"] = e.value;
      else
        extent["blob"] = e.blob;
      contents.push_back(std::move(extent));
    }
    return contents;
  }

  Result<CaptureExtent> store(ByteSpan chunk) {
    CaptureExtent e;
    e.bytes = chunk.size();
    e.value = chunk.front();
    if (std::ranges::all_of(chunk, [&](uint8_t byte) { return byte == e.value; })) return e;
    e.blob = content_hash(chunk);
    if (!written_.insert(e.blob).second) return e;
    stored_ += chunk.size();
    if (stored_ > most_bytes) return bad_input("more than {} bytes of contents", most_bytes);
    Bytes compressed(ZSTD_compressBound(chunk.size()));
    const size_t size =
        ZSTD_compress(compressed.data(), compressed.size(), chunk.data(), chunk.size(), zstd_level);
    if (ZSTD_isError(size) != 0) return environment_error("zstd: {}", ZSTD_getErrorName(size));
    compressed.resize(size);
    ASMEVO_CHECK(write_file(folder_ / "blobs" / (e.blob + ".zst"), compressed));
    return e;
  }

  const Case& case_;
  fs::path folder_;
  std::set<std::string> written_;
  uint64_t stored_ = 0;
};

} // namespace

Status write_capture(const Case& c, const fs::path& given) {
  fs::path folder = given;
  if (!folder.has_filename()) folder = folder.parent_path(); // "capture/"
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error)))
    return bad_input("{}: is there already; captures are not written over", folder.string());
  fs::path temporary = folder;
  temporary += fmt::format(".{}.partial", ::getpid());
  fs::remove_all(temporary, error);
  Status status = Writer(c, temporary).write();
  if (status) {
    fs::rename(temporary, folder, error);
    if (error) status = environment_error("{}: cannot write: {}", folder.string(), error.message());
  }
  if (!status) {
    fs::remove_all(temporary, error);
    return failed(status.error(), folder.string());
  }
  return {};
}

} // namespace asmevo::oracle
