#include "codeobject/offload_bundle.h"

#include <algorithm>
#include <bit>

namespace asmevo::codeobject {

namespace {

constexpr uint64_t entry_header_size = 24; // bytes, the id not counted

Status check_ranges(const OffloadBundle& bundle, uint64_t header_end) {
  std::vector<const BundleEntry*> by_offset;
  for (const BundleEntry& entry : bundle.entries)
    if (entry.size != 0) by_offset.push_back(&entry);
  std::ranges::sort(by_offset, {}, &BundleEntry::offset);
  uint64_t end = header_end;
  for (const BundleEntry* entry : by_offset) {
    if (entry->offset < end)
      return bad_input("offload bundle: entry at offset {:#x} lies over the header or another entry",
                       entry->offset);
    end = entry->offset + entry->size;
  }
  return {};
}

bool all_zero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](uint8_t b) { return b == 0; });
}

} // namespace

Result<OffloadBundle> read_offload_bundle(ByteSpan bytes) {
  if (!as_text(bytes).starts_with(offload_bundle_magic))
    return bad_input("offload bundle: magic '{}' is missing", offload_bundle_magic);
  uint64_t at = offload_bundle_magic.size();
  const auto count = load<uint64_t>(bytes, at);
  if (!count)
    return bad_input("offload bundle: header ends at offset {:#x}, before the entry count", bytes.size());
  at += 8;
  if (*count > (bytes.size() - at) / entry_header_size)
    return bad_input("offload bundle: {} entries claimed at offset 0x18 do not fit into {} bytes", *count,
                     bytes.size());
  OffloadBundle bundle;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto offset = load<uint64_t>(bytes, at), size = load<uint64_t>(bytes, at + 8);
    const auto id_size = load<uint64_t>(bytes, at + 16);
    if (!id_size)
      return bad_input("offload bundle: header of entry {} at offset {:#x} runs past the end", i, at);
    const auto id = slice(bytes, at + entry_header_size, *id_size);
    if (!id)
      return bad_input("offload bundle: id of entry {} at offset {:#x} claims {} bytes, past the end", i, at,
                       *id_size);
    if (*size != 0 && !slice(bytes, *offset, *size))
      return bad_input("offload bundle: entry {} at offset {:#x} with {} bytes runs past the end ({} bytes)",
                       i, *offset, *size, bytes.size());
    bundle.entries.push_back({std::string(as_text(*id)), *offset, *size, at});
    at += entry_header_size + *id_size;
    if (*size != 0) bundle.size = std::max(bundle.size, *offset + *size);
  }
  bundle.size = std::max(bundle.size, at);
  ASMEVO_CHECK(check_ranges(bundle, at));
  return bundle;
}

Bytes replace_entry(ByteSpan bundle, const OffloadBundle& layout, size_t entry, ByteSpan contents) {
  const BundleEntry& old = layout.entries[entry];
  const uint64_t old_end = old.offset + old.size, new_end = old.offset + contents.size();
  uint64_t next = UINT64_MAX, alignment = 4096;
  for (const BundleEntry& other : layout.entries) {
    if (other.size == 0) continue;
    alignment = std::min(alignment, uint64_t{1} << std::min(std::countr_zero(other.offset), 12));
    if (other.offset >= old_end) next = std::min(next, other.offset);
  }
  const bool last = next == UINT64_MAX;
  const uint64_t slot_end = last || !all_zero(bundle.subspan(old_end, next - old_end)) ? old_end : next;
  const uint64_t shift = last || new_end <= slot_end ? 0 : align_up(new_end - slot_end, alignment);

  Bytes out(bundle.begin(), bundle.begin() + static_cast<ptrdiff_t>(old.offset));
  append(out, contents);
  if (!last) {
    out.resize(slot_end + shift);
    append(out, bundle.subspan(slot_end, layout.size - slot_end));
  }
  for (const BundleEntry& other : layout.entries)
    if (other.offset >= old_end && shift != 0) store(std::span(out), other.header, other.offset + shift);
  store(std::span(out), old.header + 8, uint64_t{contents.size()});
  return out;
}

} // namespace asmevo::codeobject
