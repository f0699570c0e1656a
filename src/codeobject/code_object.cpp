#include "codeobject/code_object.h"

#include "codeobject/code_object_reader.h"

#include <algorithm>

namespace asmevo::codeobject {

Result<CodeObject> CodeObject::parse(Bytes bytes) {
  auto object = CodeObjectReader().read(std::move(bytes));
  if (!object) return failed(one_line(std::move(object).error()));
  return object;
}

std::optional<size_t> CodeObject::find_section(std::string_view name) const {
  const auto it = std::ranges::find(sections_, name, &Section::name);
  if (it == sections_.end()) return std::nullopt;
  return static_cast<size_t>(it - sections_.begin());
}

std::optional<size_t> CodeObject::section_at(uint64_t address) const {
  const auto above =
      std::ranges::upper_bound(by_address_, address, {}, [&](size_t i) { return sections_[i].address; });
  if (above == by_address_.begin()) return std::nullopt;
  const size_t index = *std::prev(above);
  if (!sections_[index].contains(address)) return std::nullopt;
  return index;
}

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  const auto it = std::ranges::find(kernels_, name, &Kernel::name);
  return it == kernels_.end() ? nullptr : &*it;
}

} // namespace asmevo::codeobject
