#include "codeobject/container.h"

#include "base/files.h"
#include "codeobject/container_bundles.h"
#include "codeobject/object_identity.h"

#include <algorithm>
#include <utility>

namespace asmevo::codeobject {
namespace fs = std::filesystem;

std::string_view describe(ContainerKind kind) {
  switch (kind) {
  case ContainerKind::CodeObject: return "code object";
  case ContainerKind::Bundle: return "offload bundle";
  case ContainerKind::CompressedBundle: return "compressed offload bundle";
  case ContainerKind::HostElf: return "host ELF";
  case ContainerKind::TritonEntry: return "Triton cache entry";
  }
  return "unknown";
}

Result<std::vector<std::string>> ContainedObject::kernels() const {
  ASMEVO_TRY(const ObjectView object, view(*source));
  return kernel_names(object.bytes).value_or(std::vector<std::string>{});
}

class ContainerReader {
 public:
  ContainerReader(std::shared_ptr<const FileImage> image, std::string name) {
    bundles_->image = std::move(image);
    container_.name_ = std::move(name);
  }

  Result<Container> read() {
    if (const Status status = read_kind(); !status) return failed(status.error(), container_.name_);
    list_objects();
    container_.bundles_ = bundles_;
    return std::move(container_);
  }

 private:
  Status read_kind();
  Status read_elf();
  Status read_host();
  void list_objects();
  void add_object(ContainedObject object, uint64_t offset, const PlacedBundle* compressed);

  std::shared_ptr<Container::Bundles> bundles_ = std::make_shared<Container::Bundles>();
  Container container_;
};

Status ContainerReader::read_kind() {
  const ByteSpan file = bundles_->image->bytes();
  const std::string_view text = as_text(file);
  if (file.empty()) return bad_input("the file is empty");
  if (text.starts_with("\x7f"
                       "ELF"))
    return read_elf();
  if (text.starts_with(offload_bundle_magic))
    container_.kind_ = ContainerKind::Bundle;
  else if (text.starts_with(compressed_bundle_magic))
    container_.kind_ = ContainerKind::CompressedBundle;
  else
    return bad_input("unknown magic at offset 0x0: neither ELF, nor '{}', nor '{}'", offload_bundle_magic,
                     compressed_bundle_magic);
  ASMEVO_TRY(bundles_->list, list_bundles(file, 0, file.size()));
  return {};
}

Status ContainerReader::read_elf() {
  const ByteSpan file = bundles_->image->bytes();
  ASMEVO_TRY(const ElfIdentity elf, identify_elf(file));
  if (elf.machine != machine_amdgpu) return read_host();
  container_.kind_ = ContainerKind::CodeObject;
  ContainedObject object;
  object.target_id = target_of_elf(elf);
  object.size = file.size();
  object.path_in_container = container_.name_;
  add_object(std::move(object), 0, nullptr);
  return {};
}

Status ContainerReader::read_host() {
  const ByteSpan file = bundles_->image->bytes();
  container_.kind_ = ContainerKind::HostElf;
  ASMEVO_TRY(bundles_->sections, find_fatbins(file));
  for (size_t i = 0; i < bundles_->sections.size(); ++i) {
    const FatbinSection& section = bundles_->sections[i];
    auto bundles = list_bundles(file, section.offset, section.size);
    if (!bundles) return failed(bundles.error(), ".hip_fatbin");
    for (PlacedBundle& bundle : *bundles) {
      bundle.section = i;
      bundles_->list.push_back(std::move(bundle));
    }
  }
  if (bundles_->list.empty()) return bad_input("section .hip_fatbin holds no offload bundle");
  return {};
}

void ContainerReader::list_objects() {
  for (size_t b = 0; b < bundles_->list.size(); ++b) {
    const PlacedBundle& bundle = bundles_->list[b];
    for (size_t e = 0; e < bundle.layout.entries.size(); ++e) {
      const BundleEntry& entry = bundle.layout.entries[e];
      if (entry.size == 0 || !device_entry(entry.id)) continue;
      const bool compressed = bundle.compression.has_value();
      ContainedObject object;
      object.target_id = target_of_entry(entry.id);
      object.entry_id = entry.id;
      object.bundle = b;
      object.entry = e;
      object.size = entry.size;
      object.path_in_container =
          fmt::format("{}:{} bundle {} entry {}", container_.name_,
                      container_.kind_ == ContainerKind::HostElf ? ".hip_fatbin" : "", b, e);
      add_object(std::move(object), compressed ? entry.offset : bundle.offset + entry.offset,
                 compressed ? &bundle : nullptr);
    }
  }
}

void ContainerReader::add_object(ContainedObject object, uint64_t offset, const PlacedBundle* compressed) {
  auto source = std::make_shared<ObjectSource>();
  source->image = bundles_->image;
  source->cache = bundles_->cache;
  source->offset = object.offset = offset;
  source->size = object.size;
  if (compressed != nullptr) {
    source->bundle_offset = compressed->offset;
    source->bundle_size = compressed->size;
    object.compressed = true;
  }
  object.source = std::move(source);
  container_.objects_.push_back(std::move(object));
}

namespace {

// A folder of Triton's cache holds what one compilation gave: k.hsaco beside k.ttir, k.amdgcn, k.json...
Result<fs::path> find_hsaco(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error))
    if (it->path().extension() == ".hsaco") found.push_back(it->path());
  if (error) return bad_input("{}: {}", folder.string(), error.message());
  if (found.empty())
    return bad_input("{}: a folder without a .hsaco file is no Triton cache entry", folder.string());
  std::ranges::sort(found);
  if (found.size() > 1)
    return bad_input("{}: {} .hsaco files, '{}' and '{}' among them; name one", folder.string(), found.size(),
                     found[0].filename().string(), found[1].filename().string());
  return found.front();
}

std::string list_targets(const std::vector<ContainedObject>& objects) {
  std::vector<std::string> targets;
  for (const ContainedObject& object : objects)
    if (std::ranges::find(targets, object.target_id) == targets.end()) targets.push_back(object.target_id);
  return targets.empty() ? "none" : fmt::format("{}", fmt::join(targets, ", "));
}

std::string list_candidates(const std::vector<ContainedObject>& objects, const std::vector<size_t>& which) {
  constexpr size_t most = 16;
  std::string text;
  for (size_t i = 0; i < std::min(which.size(), most); ++i) {
    const ContainedObject& object = objects[which[i]];
    text += fmt::format("{}index {} ({}, bundle {} entry {})", i == 0 ? "" : ", ", which[i], object.target_id,
                        object.bundle, object.entry);
  }
  return which.size() > most ? fmt::format("{} and {} more", text, which.size() - most) : text;
}

} // namespace

Result<Container> Container::open(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    ASMEVO_TRY(auto image, FileImage::open(path));
    return ContainerReader(std::move(image), path.string()).read();
  }
  ASMEVO_TRY(const fs::path hsaco, find_hsaco(path));
  ASMEVO_TRY(auto image, FileImage::open(hsaco));
  ASMEVO_TRY(Container container, ContainerReader(std::move(image), hsaco.string()).read());
  if (container.kind_ != ContainerKind::CodeObject)
    return bad_input("{}: a {}, not the code object Triton keeps here", hsaco.string(),
                     describe(container.kind_));
  container.kind_ = ContainerKind::TritonEntry;
  return container;
}

Result<Container> Container::parse(Bytes bytes, std::string name) {
  return ContainerReader(FileImage::own(std::move(bytes)), std::move(name)).read();
}

Result<Container> Container::borrow(ByteSpan bytes, std::string name) {
  return ContainerReader(FileImage::borrow(bytes), std::move(name)).read();
}

Result<const ContainedObject*> Container::find(std::string_view target_id) const {
  std::vector<size_t> exact, runs_on_it, narrower;
  for (size_t i = 0; i < objects_.size(); ++i) {
    const std::string_view id = objects_[i].target_id;
    if (id == target_id) exact.push_back(i);
    if (covers(id, target_id)) runs_on_it.push_back(i);
    if (covers(target_id, id)) narrower.push_back(i);
  }
  for (const auto* found : {&exact, &runs_on_it, &narrower}) {
    if (found->size() == 1) return &objects_[found->front()];
    if (found->size() > 1)
      return bad_input("{}: {} code objects for {}: {}", name_, found->size(), target_id,
                       list_candidates(objects_, *found));
  }
  return bad_input("{}: no code object for {}; there are: {}", name_, target_id, list_targets(objects_));
}

Result<size_t> Container::find_origin(ByteSpan code_object) const {
  ASMEVO_TRY(const ElfIdentity elf, identify_elf(code_object));
  ASMEVO_TRY(const std::vector<std::string> kernels, kernel_names(code_object));
  const std::string target = target_of_elf(elf);
  std::vector<size_t> same_target, same_kernels;
  for (size_t i = 0; i < objects_.size(); ++i) {
    // Its own flags count, as they do in replace(): an entry id may leave features out.
    ASMEVO_TRY(const ObjectView object, view(*objects_[i].source));
    const auto own = identify_elf(object.bytes);
    if ((own ? target_of_elf(*own) : objects_[i].target_id) == target) same_target.push_back(i);
  }
  if (same_target.size() == 1) return same_target.front();
  if (same_target.empty())
    return bad_input("{}: no code object for {}; there are: {}", name_, target, list_targets(objects_));
  for (const size_t i : same_target) {
    ASMEVO_TRY(const std::vector<std::string> names, objects_[i].kernels());
    if (names == kernels) same_kernels.push_back(i);
  }
  if (same_kernels.size() == 1) return same_kernels.front();
  const std::vector<size_t>& candidates = same_kernels.empty() ? same_target : same_kernels;
  return bad_input("{}: {} code objects for {}{}; choose one by its index: {}", name_, candidates.size(),
                   target, same_kernels.empty() ? ", none with the same kernels" : " with the same kernels",
                   list_candidates(objects_, candidates));
}

} // namespace asmevo::codeobject
