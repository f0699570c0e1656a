#include "oracle/capture.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/json_text.h"

#include <nlohmann/json.hpp>
#include <zstd.h>

#include <algorithm>
#include <map>

namespace asmevo::oracle {

namespace {

using Json = nlohmann::json;
using emulator::AddressSpace;
namespace fs = std::filesystem;

constexpr uint64_t most_manifest_bytes = uint64_t{256} << 20;
constexpr uint64_t most_blob_bytes = uint64_t{16} << 20;  // plain, of one
constexpr uint64_t most_blobs_bytes = uint64_t{64} << 30; // plain, of all together
constexpr uint64_t most_region_bytes = uint64_t{1} << 42; // of all together
constexpr size_t most_regions = 100'000, most_views = 100'000, most_extents = 1'000'000;
constexpr uint64_t most_grid = uint64_t{1} << 40;
constexpr uint64_t most_lds = 1 << 20;
constexpr uint64_t most_kernarg = 1 << 20;
constexpr size_t most_name = 4096;

// Contents of a region, by offset; what no extent covers is zero.
struct Contents {
  struct Piece {
    uint64_t offset = 0, bytes = 0;
    std::shared_ptr<const Bytes> blob; // null: `value` everywhere
    uint8_t value = 0;
  };
  std::vector<Piece> pieces;

  // Puts what there is of a part of the region into `page`.
  void apply(uint64_t offset, std::span<uint8_t> page) const {
    const uint64_t end = offset + page.size();
    const auto behind = [](const Piece& p) { return p.offset + p.bytes; };
    for (auto p = std::ranges::upper_bound(pieces, offset, std::less{}, behind);
         p != pieces.end() && p->offset < end; ++p) {
      const uint64_t first = std::max(offset, p->offset), last = std::min(end, p->offset + p->bytes);
      const std::span<uint8_t> part = page.subspan(first - offset, last - first);
      if (p->blob)
        std::memcpy(part.data(), p->blob->data() + (first - p->offset), part.size());
      else
        std::ranges::fill(part, p->value);
    }
  }
};

// One object of the manifest, and its name in messages.
class Node {
 public:
  Node(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  std::unexpected<Error> error(std::string_view key, std::string_view message) const {
    return bad_input("{}{}{}: {}", path_, path_.empty() || key.empty() ? "" : ".", key, message);
  }
  Result<const Json*> get(std::string_view key) const {
    if (!json_.is_object()) return error("", "not an object");
    const auto found = json_.find(key);
    if (found == json_.end()) return error(key, "missing");
    return &*found;
  }
  bool has(std::string_view key) const { return json_.is_object() && json_.contains(key); }
  Result<uint64_t> natural(std::string_view key, uint64_t most) const {
    ASMEVO_TRY(const Json* value, get(key));
    if (!value->is_number_unsigned()) return error(key, "not a natural number");
    if (value->get<uint64_t>() > most) return error(key, fmt::format("more than {}", most));
    return value->get<uint64_t>();
  }
  Result<std::string> text(std::string_view key, size_t most = most_name) const {
    ASMEVO_TRY(const Json* value, get(key));
    if (!value->is_string()) return error(key, "not text");
    if (value->get_ref<const std::string&>().size() > most) return error(key, "too long");
    return value->get<std::string>();
  }
  Result<bool> flag(std::string_view key) const {
    ASMEVO_TRY(const Json* value, get(key));
    if (!value->is_boolean()) return error(key, "neither true nor false");
    return value->get<bool>();
  }
  Result<const Json*> list(std::string_view key, size_t most) const {
    ASMEVO_TRY(const Json* value, get(key));
    if (!value->is_array()) return error(key, "not a list");
    if (value->size() > most) return error(key, fmt::format("more than {}", most));
    return value;
  }
  Result<std::vector<uint64_t>> naturals(std::string_view key, size_t count, uint64_t most) const {
    ASMEVO_TRY(const Json* value, list(key, count));
    std::vector<uint64_t> numbers;
    for (const Json& n : *value) {
      if (!n.is_number_unsigned() || n.get<uint64_t>() > most)
        return error(key, fmt::format("holds what is no natural number up to {}", most));
      numbers.push_back(n.get<uint64_t>());
    }
    return numbers;
  }
  Node child(const Json& json, std::string_view key, size_t index) const {
    return {json, fmt::format("{}{}{}[{}]", path_, path_.empty() ? "" : ".", key, index)};
  }

 private:
  const Json& json_;
  std::string path_;
};

class Reader {
 public:
  Reader(const Json& json, const ReadBlob& read) : root_(json, ""), read_(read) {}

  Result<Case> read() {
    ASMEVO_CHECK(read_head());
    ASMEVO_CHECK(read_arguments());
    ASMEVO_CHECK(read_regions());
    ASMEVO_CHECK(read_views());
    ASMEVO_CHECK(read_after());
    return std::move(case_);
  }

 private:
  Status read_head() {
    ASMEVO_TRY(const std::string format, root_.text("format"));
    if (format != "asmevo capture") return root_.error("format", "not 'asmevo capture'");
    ASMEVO_TRY(const uint64_t version, root_.natural("version", ~uint64_t{0}));
    if (version != capture_version)
      return unsupported("version: {}; this program reads {}", version, capture_version);
    ASMEVO_TRY(case_.kernel, root_.text("kernel"));
    if (case_.kernel.empty()) return root_.error("kernel", "empty");
    if (printable(case_.kernel, whole_text) != case_.kernel)
      return root_.error("kernel", "no name of a symbol");
    ASMEVO_TRY(const std::string target, root_.text("target"));
    const auto known = isa::Target::from_id(target);
    if (!known) return root_.error("target", fmt::format("unknown: '{}'", printable(target)));
    case_.target = *known;
    ASMEVO_TRY(case_.object_hash, root_.text("code_object"));
    ASMEVO_TRY(const auto grid, root_.naturals("grid", 3, most_grid));
    ASMEVO_TRY(const auto workgroup, root_.naturals("workgroup", 3, 1024));
    if (grid.size() != 3 || std::ranges::find(grid, 0U) != grid.end())
      return root_.error("grid", "not three numbers above 0");
    if (workgroup.size() != 3 || std::ranges::find(workgroup, 0U) != workgroup.end())
      return root_.error("workgroup", "not three numbers above 0");
    uint64_t groups = 1;
    for (size_t d = 0; d < 3; ++d) {
      case_.shape.grid[d] = grid[d];
      case_.shape.workgroup[d] = static_cast<uint32_t>(workgroup[d]);
      if (__builtin_mul_overflow(groups, (grid[d] + workgroup[d] - 1) / workgroup[d], &groups) ||
          groups > most_grid)
        return root_.error("grid", "too large");
    }
    ASMEVO_TRY(const uint64_t lds, root_.natural("dynamic_lds", most_lds));
    case_.shape.dynamic_lds = static_cast<uint32_t>(lds);
    return {};
  }

  Status read_arguments() {
    ASMEVO_TRY(const Json* json, root_.get("kernarg"));
    const Node kernarg(*json, "kernarg");
    ASMEVO_TRY(case_.arguments.address, kernarg.natural("address", ~uint64_t{0}));
    ASMEVO_TRY(const std::string digits, kernarg.text("bytes", 2 * most_kernarg));
    auto bytes = hex_bytes(digits);
    if (!bytes) return kernarg.error("bytes", bytes.error().message);
    case_.arguments.kernarg = *std::move(bytes);
    ASMEVO_TRY(case_.arguments.keep_hidden, kernarg.flag("whole"));
    ASMEVO_TRY(const Json* hidden, root_.get("hidden"));
    if (!hidden->is_object()) return root_.error("hidden", "not an object");
    for (const auto& [kind, value] : hidden->items()) {
      if (!value.is_number_unsigned() || kind.size() > most_name)
        return root_.error("hidden", fmt::format("'{}' is no natural number", printable(kind)));
      case_.arguments.hidden.emplace_back(kind, value.get<uint64_t>());
    }
    return {};
  }

  Result<emulator::RegionAccess> access_of(const Node& node) const {
    ASMEVO_TRY(const std::string kind, node.text("kind"));
    if (kind == "memory") return emulator::RegionAccess::ReadWrite;
    if (kind == "read_only") return emulator::RegionAccess::ReadOnly;
    if (kind == "guard") return emulator::RegionAccess::Guard;
    return node.error("kind", fmt::format("unknown: '{}'", printable(kind)));
  }

  Status read_regions() {
    auto before = std::make_shared<AddressSpace>();
    ASMEVO_TRY(const Json* list, root_.list("regions", most_regions));
    for (size_t i = 0; i < list->size(); ++i) {
      const Node node = root_.child((*list)[i], "regions", i);
      emulator::RegionInfo region;
      ASMEVO_TRY(region.name, node.text("name"));
      ASMEVO_TRY(region.address, node.natural("address", ~uint64_t{0}));
      ASMEVO_TRY(region.size, node.natural("size", most_region_bytes));
      region_bytes_ += region.size;
      if (region_bytes_ > most_region_bytes)
        return node.error("size", fmt::format("more than {} in all", most_region_bytes));
      ASMEVO_TRY(region.access, access_of(node));
      ASMEVO_TRY(auto contents, read_contents(node, region.size));
      contents_.push_back(std::make_shared<const Contents>(std::move(contents)));
      const auto fill = [contents = contents_.back()](uint64_t offset, std::span<uint8_t> page) {
        std::ranges::fill(page, uint8_t{0});
        contents->apply(offset, page);
      };
      if (const Status mapped = before->map(region, fill); !mapped)
        return node.error("", mapped.error().message);
      regions_.push_back(std::move(region));
    }
    case_.before = std::move(before);
    return {};
  }

  // Pieces that lie one behind another within `size` bytes.
  Result<Contents> read_contents(const Node& node, uint64_t size) {
    ASMEVO_TRY(const Json* list, node.list("contents", most_extents));
    extents_ += list->size();
    if (extents_ > most_extents)
      return node.error("contents", fmt::format("more than {} in all", most_extents));
    Contents contents;
    uint64_t end = 0;
    for (size_t i = 0; i < list->size(); ++i) {
      const Node extent = node.child((*list)[i], "contents", i);
      Contents::Piece piece;
      ASMEVO_TRY(piece.offset, extent.natural("offset", size));
      ASMEVO_TRY(piece.bytes, extent.natural("bytes", size - piece.offset));
      if (piece.offset < end) return extent.error("offset", "overlaps what is before it");
      if (piece.bytes == 0) return extent.error("bytes", "0");
      end = piece.offset + piece.bytes;
      if (extent.has("blob")) {
        ASMEVO_TRY(piece.blob, blob(extent, piece.bytes));
      } else {
        ASMEVO_TRY(const uint64_t value, extent.natural("value", 255));
        piece.value = static_cast<uint8_t>(value);
      }
      contents.pieces.push_back(std::move(piece));
    }
    return contents;
  }

  Result<std::shared_ptr<const Bytes>> blob(const Node& extent, uint64_t bytes) {
    ASMEVO_TRY(const std::string hash, extent.text("blob"));
    const bool named = hash.size() == 32 && std::ranges::all_of(hash, [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                       });
    if (!named) return extent.error("blob", "not 32 hex digits"); // it becomes part of a path
    if (bytes > most_blob_bytes)
      return extent.error("bytes", fmt::format("more than {} of a blob", most_blob_bytes));
    std::shared_ptr<const Bytes>& known = blobs_[hash];
    if (!known) {
      blob_bytes_ += bytes;
      if (blob_bytes_ > most_blobs_bytes)
        return extent.error("bytes", fmt::format("more than {} in all", most_blobs_bytes));
      Result<Bytes> read = read_(hash, bytes);
      if (!read) return failed(read.error());
      if (content_hash(*read) != hash) return bad_input("blobs/{}.zst: the contents have another hash", hash);
      known = std::make_shared<const Bytes>(*std::move(read));
    }
    if (known->size() != bytes)
      return extent.error("bytes", fmt::format("{}; the blob has {}", bytes, known->size()));
    return known;
  }

  Result<size_t> region_of(const Node& node) const {
    ASMEVO_TRY(const uint64_t region, node.natural("region", ~uint64_t{0}));
    if (region >= regions_.size())
      return node.error("region", fmt::format("{} of {}", region, regions_.size()));
    return static_cast<size_t>(region);
  }

  Status read_views() {
    ASMEVO_TRY(const Json* list, root_.list("views", most_views));
    for (size_t i = 0; i < list->size(); ++i) {
      const Node node = root_.child((*list)[i], "views", i);
      ASMEVO_TRY(const size_t region, region_of(node));
      ASMEVO_TRY(const uint64_t offset, node.natural("offset", regions_[region].size));
      ASMEVO_TRY(std::string name, node.text("name"));
      ASMEVO_TRY(const std::string dtype, node.text("dtype"));
      const auto type = element_type(dtype);
      if (!type) return node.error("dtype", type.error().message);
      ASMEVO_TRY(auto shape, node.naturals("shape", 8, uint64_t{1} << 43));
      ASMEVO_TRY(auto strides, node.naturals("strides", 8, uint64_t{1} << 43));
      auto layout = Layout::make(*type, std::move(shape), std::move(strides));
      if (!layout) return node.error("strides", layout.error().message);
      if (layout->bytes() > regions_[region].size - offset)
        return node.error("shape", fmt::format("{} bytes from byte {} on of a region of {}", layout->bytes(),
                                               offset, regions_[region].size));
      ASMEVO_TRY(const Role role, role_of(node));
      if (layout->count() == 0) continue;
      case_.views.push_back({std::move(name), regions_[region].address + offset, *std::move(layout), role});
    }
    return {};
  }

  Result<Role> role_of(const Node& node) const {
    ASMEVO_TRY(const std::string text, node.text("role"));
    for (const Role role : {Role::In, Role::Out, Role::InOut, Role::Workspace})
      if (text == name(role)) return role;
    return node.error("role", fmt::format("unknown: '{}'", printable(text)));
  }

  // What has changed, over what was there before.
  Status read_after() {
    if (!root_.has("after")) return {};
    std::vector<std::shared_ptr<const Contents>> changed(regions_.size());
    ASMEVO_TRY(const Json* list, root_.list("after", most_regions));
    for (size_t i = 0; i < list->size(); ++i) {
      const Node node = root_.child((*list)[i], "after", i);
      ASMEVO_TRY(const size_t region, region_of(node));
      if (changed[region]) return node.error("region", "has been there before");
      ASMEVO_TRY(Contents contents, read_contents(node, regions_[region].size));
      changed[region] = std::make_shared<const Contents>(std::move(contents));
    }
    auto after = std::make_shared<AddressSpace>();
    for (size_t r = 0; r < regions_.size(); ++r)
      ASMEVO_CHECK(after->map(
          regions_[r], [before = contents_[r], now = changed[r]](uint64_t offset, std::span<uint8_t> page) {
            std::ranges::fill(page, uint8_t{0});
            before->apply(offset, page);
            if (now) now->apply(offset, page);
          }));
    case_.after = std::move(after);
    return {};
  }

  Node root_;
  const ReadBlob& read_;
  Case case_;
  std::vector<emulator::RegionInfo> regions_; // in the manifest's order
  std::map<std::string, std::shared_ptr<const Bytes>> blobs_;
  std::vector<std::shared_ptr<const Contents>> contents_; // of regions
  uint64_t blob_bytes_ = 0, region_bytes_ = 0;
  size_t extents_ = 0;
};

// Nesting beyond this is no manifest; deeper texts would cost the parser its stack.
constexpr int most_depth = 16;

} // namespace

Result<Bytes> decompress_blob(ByteSpan compressed, uint64_t bytes) {
  Bytes plain(bytes);
  const size_t size = ZSTD_decompress(plain.data(), plain.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(size) != 0 || size != bytes) return bad_input("not {} bytes in a zstd frame", bytes);
  return plain;
}

Result<Case> parse_capture(std::string_view manifest, const ReadBlob& read) {
  const auto json = json_from<Json>(manifest, most_depth);
  if (!json) return bad_input("no JSON");
  return Reader(*json, read).read();
}

Result<Case> read_capture(const fs::path& folder) {
  const fs::path manifest = folder / "manifest.json";
  ASMEVO_TRY(const Bytes text, read_file(manifest, most_manifest_bytes));
  const auto read = [&](const std::string& hash, uint64_t bytes) -> Result<Bytes> {
    const fs::path file = folder / "blobs" / (hash + ".zst");
    ASMEVO_TRY(const Bytes compressed, read_file(file, ZSTD_compressBound(most_blob_bytes)));
    auto plain = decompress_blob(compressed, bytes);
    if (!plain) return failed(plain.error(), file.string());
    return plain;
  };
  auto c = parse_capture(as_text(text), read);
  if (!c) {
    const bool of_blob = c.error().message.starts_with((folder / "blobs").string());
    return of_blob ? failed(c.error()) : failed(one_line(c.error()), manifest.string());
  }
  c->name = folder.string();
  return c;
}

} // namespace asmevo::oracle
