#include "infer/kernarg_fields.h"

#include "infer/probe_observer.h"

#include <algorithm>
#include <set>

namespace asmevo::infer {

namespace {

constexpr uint64_t most_bytes = 4 * source::most_kernarg_dwords - 64;

// Names are used as keys: each must be another, and of letters.
std::string unique_name(std::string_view name, uint64_t offset, std::set<std::string>& taken) {
  std::string result;
  for (const char c : name) {
    if (c == '.') break; // "x.coerce": what clang calls pointers
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (letter || (!result.empty() && c >= '0' && c <= '9')) result += c;
  }
  if (result.empty()) result = fmt::format("arg_{:x}", offset);
  if (!taken.insert(result).second) {
    result += fmt::format("_{:x}", offset);
    taken.insert(result);
  }
  return result;
}

} // namespace

Result<KernargFields> KernargFields::of(const codeobject::CodeObject& object,
                                        const codeobject::Kernel& kernel) {
  KernargFields all;
  std::set<std::string> taken;
  const auto add_dwords = [&](std::string_view name, uint64_t offset, uint64_t bytes) {
    for (uint64_t at = offset; at + 4 <= offset + bytes; at += 4) {
      KernargField field;
      field.name = unique_name(fmt::format("{}_{:x}", name, at - offset), at, taken);
      field.offset = at;
      field.size = 4;
      all.fields_.push_back(std::move(field));
    }
  };
  const codeobject::KernelMetadata* metadata = object.metadata_of(kernel);
  if (metadata == nullptr || metadata->args.empty()) {
    all.size_ = std::max<uint64_t>(kernel.descriptor.kernarg_size,
                                   metadata != nullptr ? metadata->kernarg_segment_size : 0);
    if (all.size_ > most_bytes)
      return unsupported("kernarg segment of {} bytes: {} are the most", all.size_, most_bytes);
    add_dwords("kernarg", 0, all.size_);
    return all;
  }
  for (const codeobject::KernelArgument& a : metadata->args) {
    if (a.hidden()) continue;
    if (a.offset > most_bytes || a.size > most_bytes - a.offset)
      return unsupported("argument at byte {} of the kernarg segment: {} are the most", a.offset, most_bytes);
    all.size_ = std::max(all.size_, a.offset + a.size);
    const bool pointer = a.value_kind == "global_buffer" && a.size == 8 && a.offset % 8 == 0;
    if (!pointer && (a.size > 8 || a.size == 0)) {
      add_dwords(a.name.empty() ? "arg" : a.name, a.offset, a.size);
      continue;
    }
    KernargField field;
    field.name = unique_name(a.name, a.offset, taken);
    field.offset = a.offset;
    field.size = a.size;
    field.whole_argument = true;
    field.pad = a.name.starts_with("pad");
    field.access = a.access;
    if (pointer) {
      if (all.regions_ >= source::most_regions)
        return unsupported("more than {} pointers", source::most_regions);
      field.pointer = field.declared_pointer = true;
      field.region = all.regions_++;
    }
    all.fields_.push_back(std::move(field));
  }
  return all;
}

KernargField* KernargFields::at_dword(Source d) {
  for (KernargField& f : fields_)
    if (f.offset < 4U * d + 4 && 4U * d < f.offset + f.size) return &f;
  return nullptr;
}

const KernargField* KernargFields::pointer_of(unsigned region) const {
  for (const KernargField& f : fields_)
    if (f.pointer && f.region == region) return &f;
  return nullptr;
}

bool KernargFields::make_pointer(Source d) {
  KernargField* low = at_dword(d);
  KernargField* high = at_dword(static_cast<Source>(d + 1));
  if (low == nullptr || high == nullptr || low->pointer || high->pointer || regions_ >= source::most_regions)
    return false;
  if (low->offset != 4U * d || high->offset + high->size != 4U * d + 8) return false;
  low->pointer = true;
  low->region = regions_++;
  low->size = 8;
  low->value = 0;
  if (high != low) {
    low->whole_argument = false;
    fields_.erase(fields_.begin() + (high - fields_.data()));
  }
  return true;
}

bool KernargFields::join(Source d) {
  KernargField* low = at_dword(d);
  KernargField* high = at_dword(static_cast<Source>(d + 1));
  if (low == nullptr || high == nullptr || low == high || low->pointer || high->pointer) return false;
  if (low->offset != 4U * d || low->size != 4 || high->size != 4 || low->pinned || high->pinned) return false;
  low->size = 8;
  low->whole_argument = false;
  fields_.erase(fields_.begin() + (high - fields_.data()));
  return true;
}

bool KernargFields::split(Source d) {
  KernargField* field = at_dword(d);
  if (field == nullptr || field->pointer || field->pinned || field->size != 8) return false;
  KernargField high = *field;
  field->size = high.size = 4;
  field->whole_argument = high.whole_argument = false;
  high.offset += 4;
  high.name += "_4";
  fields_.insert(fields_.begin() + (field - fields_.data()) + 1, std::move(high));
  return true;
}

Bytes KernargFields::bytes() const {
  Bytes bytes(size_);
  for (const KernargField& f : fields_) {
    const uint64_t value = f.pointer ? region_pointer(f.region) : f.value;
    for (uint64_t b = 0; b < f.size; ++b) bytes[f.offset + b] = static_cast<uint8_t>(value >> 8 * b);
  }
  return bytes;
}

bool KernargFields::as_declared() const {
  return std::ranges::all_of(
      fields_, [](const KernargField& f) { return f.whole_argument && f.pointer == f.declared_pointer; });
}

} // namespace asmevo::infer
