#include "codeobject/container.h"
#include "codeobject/container_bundles.h"
#include "codeobject/object_identity.h"

#include <algorithm>
#include <bit>

namespace asmevo::codeobject {

namespace {

// A host program asks for kernels by name and the runtime for a target by id: both must be there afterwards.
Status check_replacement(ByteSpan old_object, ByteSpan new_object) {
  auto before = identify_elf(old_object);
  if (!before)
    return unsupported("the code object in the container is none this program reads: {}",
                       before.error().message);
  ASMEVO_TRY(const ElfIdentity after, identify_elf(new_object));
  if (after.machine != machine_amdgpu)
    return bad_input("the new object is an ELF for machine {}, not AMDGPU", after.machine);
  if (before->machine != machine_amdgpu)
    return unsupported("the object in the container is an ELF for machine {}, not AMDGPU", before->machine);
  const std::string from = target_of_elf(*before), to = target_of_elf(after);
  if (from != to) return bad_input("the new object is for {}, the one it is to replace for {}", to, from);
  if (before->os_abi != after.os_abi || before->abi_version != after.abi_version)
    return bad_input("the new object has OS ABI {} version {}, the one it is to replace {} version {}",
                     after.os_abi, after.abi_version, before->os_abi, before->abi_version);
  ASMEVO_TRY(const std::vector<std::string> kernels, kernel_names(new_object));
  const std::vector<std::string> wanted = kernel_names(old_object).value_or(std::vector<std::string>{});
  for (const std::string& name : wanted)
    if (!std::ranges::binary_search(kernels, name))
      return bad_input("the new object lacks kernel '{}', which the one it is to replace has", name);
  return {};
}

// Bytes from the bundle's start up to what follows it: the next bundle of the region, or the region's end.
// Only what is zero counts as free.
uint64_t slot_size(ByteSpan file, const PlacedBundle& bundle, uint64_t limit) {
  const ByteSpan behind = file.subspan(bundle.offset + bundle.size, limit - bundle.offset - bundle.size);
  const bool free = std::ranges::all_of(behind, [](uint8_t b) { return b == 0; });
  return free ? limit - bundle.offset : bundle.size;
}

Result<Bytes> rebuild_bundle(ByteSpan file, const PlacedBundle& bundle, DecompressedCache& cache,
                             size_t entry, ByteSpan code_object) {
  ASMEVO_TRY(const PlainBundle plain, plain_bundle(file, bundle, cache));
  Bytes rebuilt = replace_entry(plain.bytes, bundle.layout, entry, code_object);
  if (!bundle.compression) return rebuilt;
  return compress_bundle(rebuilt, bundle.compression->version, bundle.compression->method);
}

Bytes overwrite(ByteSpan file, uint64_t offset, uint64_t slot, ByteSpan bundle) {
  Bytes out(file.begin(), file.end());
  const auto at = out.begin() + static_cast<ptrdiff_t>(offset);
  std::fill(std::ranges::copy(bundle, at).out, at + static_cast<ptrdiff_t>(slot), uint8_t{0});
  return out;
}

// In a file of bundles, those behind move by what keeps the alignment that the next one has.
Bytes splice(ByteSpan file, const PlacedBundle& old, const PlacedBundle* next, ByteSpan bundle) {
  Bytes out;
  out.reserve(file.size() + bundle.size());
  append(out, file.first(old.offset));
  append(out, bundle);
  const uint64_t rest = next != nullptr ? next->offset : old.offset + old.size;
  if (next != nullptr)
    out.resize(align_up(out.size(), uint64_t{1} << std::min(std::countr_zero(next->offset), 12)));
  append(out, file.subspan(rest));
  return out;
}

} // namespace

Result<Bytes> Container::replace(size_t index, ByteSpan code_object) const {
  if (index >= objects_.size())
    return bad_input("{}: index {} of {} code objects", name_, index, objects_.size());
  const ContainedObject& object = objects_[index];
  {
    ASMEVO_TRY(const ObjectView old_object, view(*object.source));
    if (const Status status = check_replacement(old_object.bytes, code_object); !status)
      return failed(status.error(), object.path_in_container);
  }
  if (kind_ == ContainerKind::CodeObject || kind_ == ContainerKind::TritonEntry)
    return Bytes(code_object.begin(), code_object.end());
  auto result = replace_in_bundle(index, code_object);
  if (!result) return failed(result.error(), object.path_in_container);
  ASMEVO_CHECK(check_result(*result, index, code_object));
  return result;
}

Result<Bytes> Container::replace_in_bundle(size_t index, ByteSpan code_object) const {
  const ContainedObject& object = objects_[index];
  const ByteSpan file = bundles_->image->bytes();
  const std::vector<PlacedBundle>& list = bundles_->list;
  const PlacedBundle& bundle = list[object.bundle];
  const PlacedBundle* next = object.bundle + 1 < list.size() ? &list[object.bundle + 1] : nullptr;
  ASMEVO_TRY(const Bytes rebuilt, rebuild_bundle(file, bundle, *bundles_->cache, object.entry, code_object));
  if (kind_ != ContainerKind::HostElf) return splice(file, bundle, next, rebuilt);

  const FatbinSection& section = bundles_->sections[bundle.section];
  const bool last = next == nullptr || next->section != bundle.section;
  const uint64_t slot = slot_size(file, bundle, last ? section.offset + section.size : next->offset);
  if (rebuilt.size() <= slot) return overwrite(file, bundle.offset, slot, rebuilt);
  const bool alone = std::ranges::count(list, bundle.section, &PlacedBundle::section) == 1;
  return move_bundle(file, {section, bundle.offset, slot, alone}, rebuilt);
}

// Reads the result as anyone would, and compares every object of it.
Status Container::check_result(ByteSpan result, size_t index, ByteSpan code_object) const {
  constexpr std::string_view unsafe = "the container cannot be changed safely";
  const auto again = borrow(result, name_);
  if (!again) return unsupported("{}: afterwards {}", unsafe, again.error().message);
  if (again->objects_.size() != objects_.size())
    return unsupported("{}: {}: {} code objects before, {} afterwards", name_, unsafe, objects_.size(),
                       again->objects_.size());
  std::vector<size_t> order, behind; // of this container's objects in the result
  const bool moved = again->bundles_->sections.size() != bundles_->sections.size() ||
                     !std::ranges::equal(again->bundles_->sections, bundles_->sections, {},
                                         &FatbinSection::offset, &FatbinSection::offset);
  for (size_t i = 0; i < objects_.size(); ++i)
    (moved && objects_[i].bundle == objects_[index].bundle ? behind : order).push_back(i);
  order.insert(order.end(), behind.begin(), behind.end());
  for (size_t i = 0; i < order.size(); ++i) {
    ASMEVO_TRY(const ObjectView old_object, view(*objects_[order[i]].source));
    ASMEVO_TRY(const ObjectView found, view(*again->objects_[i].source));
    if (!std::ranges::equal(found.bytes, order[i] == index ? code_object : old_object.bytes))
      return unsupported("{}: {}: afterwards its bytes differ", objects_[order[i]].path_in_container, unsafe);
  }
  return {};
}

} // namespace asmevo::codeobject
