#include "codeobject/metadata.h"

#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/BinaryFormat/MsgPackReader.h>
#include <llvm/BinaryFormat/MsgPackWriter.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace asmevo::codeobject {

using Json = nlohmann::ordered_json;
namespace msgpack = llvm::msgpack;

namespace {

// Bounds on what a note may claim, far above any real one. The deepest path is root, amdhsa.kernels, kernel,
// .args, argument, value; a kernel has some 25 keys, an argument 11; 5,000 kernels of 80 arguments make 5
// million values.
constexpr unsigned max_depth = 16;
constexpr size_t max_keys = 256, max_values = 6'000'000;

// LLVM's reader hands out one token at a time and checks every length of a token against the bytes that are
// left; the nesting, and the counts of arrays and maps, are left to us.
class NoteReader {
 public:
  explicit NoteReader(ByteSpan bytes)
      : size_(bytes.size()),
        reader_(llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size())) {}

  Result<Json> read_all() {
    if (size_ == 0) return bad_input("metadata note is empty");
    ASMEVO_TRY(Json root, read_value(0));
    if (!root.is_object()) return bad_input("metadata note is not a map");
    msgpack::Object rest;
    if (auto more = reader_.read(rest); !more || *more) {
      if (!more) llvm::consumeError(more.takeError());
      return bad_input("metadata note has bytes after its map");
    }
    return root;
  }

 private:
  Result<msgpack::Object> next() {
    msgpack::Object token;
    llvm::Expected<bool> got = reader_.read(token);
    if (!got) {
      return bad_input("metadata note is not MessagePack: value {}: {}", values_,
                       llvm::toString(got.takeError()));
    }
    if (!*got) return bad_input("metadata note ends in the middle of a value (value {})", values_);
    if (++values_ > max_values) return bad_input("metadata note has more than {} values", max_values);
    return token;
  }

  Result<Json> read_value(unsigned depth) {
    ASMEVO_TRY(const msgpack::Object token, next());
    switch (token.Kind) {
    case msgpack::Type::Nil: return Json(nullptr);
    case msgpack::Type::Boolean: return Json(token.Bool);
    case msgpack::Type::Int: return Json(token.Int);
    case msgpack::Type::UInt: return Json(token.UInt);
    case msgpack::Type::String: return Json(token.Raw.str());
    case msgpack::Type::Array: return read_array(token.Length, depth);
    case msgpack::Type::Map: return read_map(token.Length, depth);
    default: return bad_input("metadata note: value {} is of a type metadata does not use", values_);
    }
  }

  // Every element takes a byte at least, so a count beyond the bytes is a lie.
  Status check_count(size_t count, unsigned depth) const {
    if (depth >= max_depth) return bad_input("metadata note is nested more than {} deep", max_depth);
    if (count > size_) return bad_input("metadata note claims {} elements in {} bytes", count, size_);
    return {};
  }

  Result<Json> read_array(size_t count, unsigned depth) {
    ASMEVO_CHECK(check_count(count, depth));
    Json array = Json::array();
    for (size_t i = 0; i < count; ++i) {
      ASMEVO_TRY(Json value, read_value(depth + 1));
      array.push_back(std::move(value));
    }
    return array;
  }

  Result<Json> read_map(size_t count, unsigned depth) {
    ASMEVO_CHECK(check_count(count, depth));
    if (count > max_keys) return bad_input("metadata note has a map of {} keys (limit {})", count, max_keys);
    Json map = Json::object();
    for (size_t i = 0; i < count; ++i) {
      ASMEVO_TRY(const msgpack::Object key, next());
      if (key.Kind != msgpack::Type::String)
        return bad_input("metadata note: a key is not a string (value {})", values_);
      ASMEVO_TRY(Json value, read_value(depth + 1));
      const auto [at, added] = map.emplace(key.Raw.str(), std::move(value));
      if (!added) return bad_input("metadata note: key '{}' twice in one map", at.key());
    }
    return map;
  }

  size_t size_;
  msgpack::Reader reader_;
  size_t values_ = 0;
};

void write_value(msgpack::Writer& writer, const Json& value) {
  switch (value.type()) {
  case Json::value_t::boolean: writer.write(value.get<bool>()); break;
  case Json::value_t::number_integer: writer.write(value.get<int64_t>()); break;
  case Json::value_t::number_unsigned: writer.write(value.get<uint64_t>()); break;
  case Json::value_t::string: writer.write(llvm::StringRef(value.get_ref<const std::string&>())); break;
  case Json::value_t::array:
    writer.writeArraySize(static_cast<uint32_t>(value.size()));
    for (const Json& element : value) write_value(writer, element);
    break;
  case Json::value_t::object:
    writer.writeMapSize(static_cast<uint32_t>(value.size()));
    for (const auto& [key, element] : value.items()) {
      writer.write(llvm::StringRef(key));
      write_value(writer, element);
    }
    break;
  default: writer.writeNil(); // parse lets no other type in
  }
}

// Typed access to one map of the note: an absent key leaves the default, a wrong type is an error that names
// the place and the key.
class KeyReader {
 public:
  KeyReader(const Json& map, std::string where) : map_(map), where_(std::move(where)) {}

  Result<const Json*> find(const char* key, bool (Json::*is_type)() const noexcept,
                           std::string_view type) const {
    const auto it = map_.find(key);
    if (it == map_.end()) return nullptr;
    if (!((*it).*is_type)()) return bad_input("metadata: {}: '{}' is not {}", where_, key, type);
    return &*it;
  }
  Status text(const char* key, std::string& out) const {
    ASMEVO_TRY(const Json* value, find(key, &Json::is_string, "a string"));
    if (value) out = value->get_ref<const std::string&>();
    return {};
  }
  Status number(const char* key, uint64_t& out) const {
    ASMEVO_TRY(const Json* value, find(key, &Json::is_number_unsigned, "an unsigned integer"));
    if (value) out = value->get<uint64_t>();
    return {};
  }
  Status number(const char* key, std::optional<uint64_t>& out) const {
    ASMEVO_TRY(const Json* value, find(key, &Json::is_number_unsigned, "an unsigned integer"));
    if (value) out = value->get<uint64_t>();
    return {};
  }
  Result<const Json*> array(const char* key) const { return find(key, &Json::is_array, "an array"); }

 private:
  const Json& map_;
  std::string where_;
};

Result<KernelArgument> read_argument(const Json& map, const std::string& kernel, size_t index) {
  const std::string where = fmt::format("kernel {} argument {}", kernel, index);
  if (!map.is_object()) return bad_input("metadata: {} is not a map", where);
  const KeyReader keys(map, where);
  KernelArgument argument;
  ASMEVO_CHECK(keys.text(".name", argument.name));
  ASMEVO_CHECK(keys.number(".offset", argument.offset));
  ASMEVO_CHECK(keys.number(".size", argument.size));
  ASMEVO_CHECK(keys.text(".value_kind", argument.value_kind));
  ASMEVO_CHECK(keys.text(".address_space", argument.address_space));
  ASMEVO_CHECK(keys.text(".access", argument.access));
  ASMEVO_CHECK(keys.text(".actual_access", argument.access));
  if (argument.offset + argument.size < argument.offset)
    return bad_input("metadata: {} ends past the address space", where);
  return argument;
}

Status read_names(const KeyReader& keys, KernelMetadata& kernel, size_t index) {
  ASMEVO_CHECK(keys.text(".name", kernel.name));
  ASMEVO_CHECK(keys.text(".symbol", kernel.symbol));
  if (kernel.name.empty() && kernel.symbol.ends_with(".kd"))
    kernel.name = kernel.symbol.substr(0, kernel.symbol.size() - 3);
  if (kernel.name.empty()) return bad_input("metadata: kernel {} has no name", index);
  if (kernel.symbol.empty()) kernel.symbol = kernel.name + ".kd";
  return {};
}

Result<std::vector<uint64_t>> read_sizes(const Json& array, const std::string& kernel) {
  std::vector<uint64_t> sizes;
  for (const Json& value : array) {
    if (!value.is_number_unsigned() || array.size() != 3)
      return bad_input("metadata: kernel {}: '.reqd_workgroup_size' is not three unsigned integers", kernel);
    sizes.push_back(value.get<uint64_t>());
  }
  return sizes;
}

// Overlapping arguments have no meaning and no compiler or assembler author has been seen to write them.
Status check_overlap(const KernelMetadata& kernel) {
  std::vector<const KernelArgument*> order;
  for (const KernelArgument& argument : kernel.args)
    if (argument.size != 0) order.push_back(&argument);
  std::ranges::sort(order, {}, [](const KernelArgument* a) { return std::pair(a->offset, a); });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->offset < order[i - 1]->offset + order[i - 1]->size)
      return bad_input(
          "metadata: kernel {}: argument {} (offset {}) overlaps argument {} (offset {}, size {})",
          kernel.name, order[i] - kernel.args.data(), order[i]->offset, order[i - 1] - kernel.args.data(),
          order[i - 1]->offset, order[i - 1]->size);
  return {};
}

Result<KernelMetadata> read_kernel(const Json& map, size_t index) {
  if (!map.is_object()) return bad_input("metadata: kernel {} is not a map", index);
  KernelMetadata kernel;
  ASMEVO_CHECK(read_names(KeyReader(map, fmt::format("kernel {}", index)), kernel, index));
  const KeyReader keys(map, "kernel " + kernel.name);
  ASMEVO_CHECK(keys.number(".kernarg_segment_size", kernel.kernarg_segment_size));
  ASMEVO_CHECK(keys.number(".kernarg_segment_align", kernel.kernarg_segment_align));
  ASMEVO_CHECK(keys.number(".group_segment_fixed_size", kernel.group_segment_fixed_size));
  ASMEVO_CHECK(keys.number(".private_segment_fixed_size", kernel.private_segment_fixed_size));
  ASMEVO_CHECK(keys.number(".wavefront_size", kernel.wavefront_size));
  ASMEVO_CHECK(keys.number(".max_flat_workgroup_size", kernel.max_flat_workgroup_size));
  ASMEVO_CHECK(keys.number(".sgpr_count", kernel.sgpr_count));
  ASMEVO_CHECK(keys.number(".vgpr_count", kernel.vgpr_count));
  ASMEVO_CHECK(keys.number(".agpr_count", kernel.agpr_count));
  ASMEVO_CHECK(keys.number(".sgpr_spill_count", kernel.sgpr_spill_count));
  ASMEVO_CHECK(keys.number(".vgpr_spill_count", kernel.vgpr_spill_count));
  ASMEVO_TRY(const Json* sizes, keys.array(".reqd_workgroup_size"));
  if (sizes) {
    ASMEVO_TRY(kernel.reqd_workgroup_size, read_sizes(*sizes, kernel.name));
  }
  ASMEVO_TRY(const Json* arguments, keys.array(".args"));
  if (arguments)
    for (const Json& argument : *arguments) {
      ASMEVO_TRY(KernelArgument read, read_argument(argument, kernel.name, kernel.args.size()));
      kernel.args.push_back(std::move(read));
    }
  ASMEVO_CHECK(check_overlap(kernel));
  return kernel;
}

} // namespace

Result<Metadata> Metadata::parse(ByteSpan bytes) {
  Metadata metadata;
  auto document = NoteReader(bytes).read_all();
  if (!document) return failed(one_line(document.error()));
  metadata.document_ = *std::move(document);
  if (auto kernels = metadata.kernels(); !kernels) return failed(one_line(kernels.error()));
  return metadata;
}

Bytes Metadata::write() const {
  std::string out;
  llvm::raw_string_ostream stream(out);
  msgpack::Writer writer(stream);
  write_value(writer, document_);
  stream.flush();
  return Bytes(out.begin(), out.end());
}

std::string Metadata::yaml() const {
  const Bytes bytes = write();
  msgpack::Document document;
  document.readFromBlob(llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()), false);
  std::string out;
  llvm::raw_string_ostream stream(out);
  document.toYAML(stream);
  stream.flush();
  return out;
}

Result<std::vector<KernelMetadata>> Metadata::kernels() const {
  std::vector<KernelMetadata> kernels;
  ASMEVO_TRY(const Json* list, KeyReader(document_, "root").array("amdhsa.kernels"));
  if (!list) return kernels;
  kernels.reserve(list->size());
  for (const Json& map : *list) {
    ASMEVO_TRY(KernelMetadata kernel, read_kernel(map, kernels.size()));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void Metadata::set(size_t index, std::string_view key, uint64_t value, bool only_if_present) {
  const auto list = document_.find("amdhsa.kernels");
  if (list == document_.end() || index >= list->size()) return;
  Json& kernel = (*list)[index];
  if (const auto it = kernel.find(key); it != kernel.end()) {
    *it = value;
    return;
  }
  if (only_if_present) return;
  // LLVM writes keys in byte order: the new one goes where it would have been.
  Json with_key = Json::object();
  bool placed = false;
  for (auto& [name, element] : kernel.items()) {
    if (!placed && name > key) {
      with_key.emplace(std::string(key), value);
      placed = true;
    }
    with_key.emplace(name, std::move(element));
  }
  if (!placed) with_key.emplace(std::string(key), value);
  kernel = std::move(with_key);
}

} // namespace asmevo::codeobject
