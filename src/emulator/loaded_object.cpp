#include "emulator/loaded_object.h"

#include <algorithm>

namespace asmevo::emulator {

namespace {

constexpr uint32_t pt_load = 1, pf_write = 2;

} // namespace

Result<std::unique_ptr<LoadedObject>> LoadedObject::load(std::shared_ptr<const codeobject::CodeObject> object,
                                                         AddressSpace& memory, uint64_t at) {
  std::unique_ptr<LoadedObject> loaded(new LoadedObject);
  loaded->object_ = std::move(object);
  ASMEVO_CHECK(loaded->map_segments(memory, at));
  ASMEVO_CHECK(loaded->relocate(memory));
  return loaded;
}

Status LoadedObject::map_segments(AddressSpace& memory, uint64_t at) {
  uint64_t first = ~uint64_t{0}, end = 0;
  for (const codeobject::Segment& s : object_->segments()) {
    if (s.type != pt_load || s.memory_size == 0) continue;
    first = std::min(first, s.address);
    end = std::max(end, s.address + s.memory_size);
  }
  if (end == 0) return bad_input("the code object has no segment to load");
  constexpr uint64_t largest = uint64_t{1} << 40;
  if (end - first > largest) return bad_input("the code object's segments span {} bytes", end - first);
  // Segments keep their offsets within pages.
  first &= ~(page_bytes - 1);
  bias_ = (at != 0 ? at : memory.find_free(end - first)) - first;
  for (const codeobject::Segment& s : object_->segments()) {
    if (s.type != pt_load || s.memory_size == 0) continue;
    const auto contents = slice(object_->bytes(), s.offset, s.file_size);
    if (!contents || s.file_size > s.memory_size) return bad_input("a segment runs past the end of the file");
    const RegionAccess access = (s.flags & pf_write) != 0 ? RegionAccess::ReadWrite : RegionAccess::ReadOnly;
    ASMEVO_CHECK(memory.map({"code object", s.address + bias_, s.memory_size, access}, *contents));
  }
  return {};
}

Status LoadedObject::relocate(AddressSpace& memory) const {
  for (const codeobject::Relocation& r : object_->relocations()) {
    uint64_t value = static_cast<uint64_t>(r.addend);
    if (r.type == codeobject::relocation::relative64) {
      value += bias_;
    } else {
      const auto& symbols = object_->dynamic_symbols();
      if (r.symbol >= symbols.size() || symbols[r.symbol].section == 0)
        return unsupported("relocation at {:#x}: its symbol{} is not in the code object", r.address,
                           r.symbol < symbols.size() ? " '" + symbols[r.symbol].name + "'" : "");
      value += symbols[r.symbol].value + bias_;
    }
    std::array<uint8_t, 8> bytes{};
    size_t size = 4;
    switch (r.type) {
    case codeobject::relocation::abs32_lo:
    case codeobject::relocation::abs32: store(std::span(bytes), 0, static_cast<uint32_t>(value)); break;
    case codeobject::relocation::abs32_hi:
      store(std::span(bytes), 0, static_cast<uint32_t>(value >> 32));
      break;
    case codeobject::relocation::abs64:
    case codeobject::relocation::relative64:
      store(std::span(bytes), 0, value);
      size = 8;
      break;
    default: return unsupported("relocation at {:#x}: type {} is not known", r.address, r.type);
    }
    ASMEVO_CHECK(memory.write(r.address + bias_, std::span(bytes).first(size)));
  }
  return {};
}

Result<Code*> LoadedObject::code(const codeobject::Kernel& kernel) {
  const isa::Target& target = object_->target();
  const RegisterLayout layout{target, codeobject::accum_offset(kernel.descriptor, target),
                              codeobject::allocated_vgprs(kernel.descriptor, target)};
  const auto section = object_->section_at(kernel.entry);
  if (!section) return bad_input("kernel '{}' starts outside every section", kernel.name);
  const std::scoped_lock lock(mutex_);
  auto& code = codes_[{*section, layout.accum_offset, layout.allocated_vgprs}];
  if (code == nullptr) {
    const codeobject::Section& s = object_->sections()[*section];
    ASMEVO_TRY(code, Code::create(s.contents, s.address + bias_, layout));
  }
  return code.get();
}

} // namespace asmevo::emulator
