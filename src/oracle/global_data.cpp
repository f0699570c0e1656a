#include "oracle/global_data.h"

#include <algorithm>
#include <elf.h>

namespace asmevo::oracle {

namespace {

using emulator::AddressSpace;

constexpr uint64_t global_chunk = 1 << 20;
constexpr uint64_t most_kept = uint64_t{64} << 20; // bytes of a section that are kept from launch to launch

// Where two sections of the same name may differ: pages that either run has written, by offset.
std::vector<AddressSpace::Range> touched(const GlobalSection& section,
                                         const std::vector<AddressSpace::Range>& written) {
  std::vector<AddressSpace::Range> list;
  for (const AddressSpace::Range& r : written) {
    const uint64_t from = std::max(r.address, section.address),
                   to = std::min(r.address + r.size, section.address + section.size);
    for (uint64_t at = from; at < to; at += global_chunk)
      list.push_back({at - section.address, std::min(global_chunk, to - at)});
  }
  return list;
}

Result<Bytes> bytes_at(const AddressSpace& memory, uint64_t address, uint64_t size) {
  Bytes bytes(size);
  ASMEVO_CHECK(memory.read(address, bytes));
  return bytes;
}

} // namespace

std::vector<GlobalSection> global_sections(const codeobject::CodeObject& object, uint64_t bias) {
  std::vector<GlobalSection> list;
  for (const codeobject::Section& s : object.sections())
    if (s.allocated() && !s.executable() && (s.flags & SHF_WRITE) != 0 && s.size != 0 &&
        (s.type == SHT_PROGBITS || s.type == SHT_NOBITS) && s.name != ".relro_padding")
      list.push_back({s.name, s.address + bias, s.size});
  return list;
}

const GlobalSection* GlobalData::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &GlobalSection::name);
  return found == sections.end() ? nullptr : &*found;
}

const GlobalSection* GlobalData::at(uint64_t address) const {
  const auto found =
      std::ranges::find_if(sections, [&](const GlobalSection& s) { return address - s.address < s.size; });
  return found == sections.end() ? nullptr : &*found;
}

Result<std::vector<GlobalChange>> changed_globals(const GlobalData& data, const AddressSpace& now) {
  std::vector<GlobalChange> changes;
  for (const GlobalSection& s : data.sections) {
    const uint64_t size = std::min(s.size, most_kept);
    ASMEVO_TRY(const Bytes before, bytes_at(*data.loaded, s.address, size));
    ASMEVO_TRY(const Bytes after, bytes_at(now, s.address, size));
    for (uint64_t at = 0; at < size; ++at) {
      if (before[at] == after[at]) continue;
      const uint64_t first = at;
      while (at < size && before[at] != after[at]) ++at;
      changes.push_back({s.name, first,
                         Bytes(after.begin() + static_cast<std::ptrdiff_t>(first),
                               after.begin() + static_cast<std::ptrdiff_t>(at))});
    }
  }
  return changes;
}

Status set_globals(const GlobalData& data, const std::vector<GlobalChange>& changes, AddressSpace& memory) {
  for (const GlobalChange& c : changes) {
    const GlobalSection* section = data.find(c.section);
    if (section == nullptr || c.offset + c.bytes.size() > section->size)
      return bad_input("the code object has no section '{}' as K0 has it", printable(c.section));
    ASMEVO_CHECK(memory.write(section->address + c.offset, c.bytes));
  }
  return {};
}

Status each_different_global(const GlobalsOfRun& a, const GlobalsOfRun& b, const DifferentGlobal& f) {
  for (const GlobalSection& s : a.data.sections) {
    const GlobalSection* other = b.data.find(s.name);
    if (other == nullptr || other->size != s.size)
      return bad_input("the code object has no section '{}' as K0 has it", printable(s.name));
    std::vector<AddressSpace::Range> parts = touched(s, a.written);
    std::ranges::move(touched(*other, b.written), std::back_inserter(parts));
    for (const AddressSpace::Range& part : parts) {
      ASMEVO_TRY(const Bytes left, bytes_at(a.memory, s.address + part.address, part.size));
      ASMEVO_TRY(const Bytes right, bytes_at(b.memory, other->address + part.address, part.size));
      if (left == right) continue;
      ASMEVO_TRY(const Bytes first, bytes_at(*a.data.loaded, s.address + part.address, part.size));
      ASMEVO_TRY(const Bytes second, bytes_at(*b.data.loaded, other->address + part.address, part.size));
      for (uint64_t i = 0; i < part.size; ++i)
        if (left[i] != right[i] && (left[i] != first[i] || right[i] != second[i]) &&
            !f(s.address + part.address + i, left[i], right[i], first[i]))
          return {};
    }
  }
  return {};
}

} // namespace asmevo::oracle
