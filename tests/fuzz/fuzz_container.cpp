// Containers of any bytes: reading ends with an error or with objects whose bytes can be read. Where a
// replacement is accepted, its result reads back with the new object in it and as many objects as before.
#include "codeobject/container.h"

#include <algorithm>
#include <cstdlib>

using namespace asmevo;
using codeobject::Container;

namespace {

void require(bool good) {
  if (!good) std::abort();
}

void try_replacement(const Container& container, size_t index, const Bytes& object) {
  const auto result = container.replace(index, object);
  if (!result) return require(result.error().kind != ErrorKind::Internal);
  const auto again = Container::parse(*result, "again");
  require(again && again->objects().size() == container.objects().size());
  require(std::ranges::any_of(again->objects(), [&](const auto& o) { return o.read() == object; }));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t most_objects = 4;
  const auto container = Container::parse(Bytes(data, data + size), "input");
  if (!container) {
    require(container.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (size_t i = 0; i < std::min(container->objects().size(), most_objects); ++i) {
    const auto bytes = container->objects()[i].read();
    require(bytes && bytes->size() == container->objects()[i].size);
    require(container->objects()[i].kernels().has_value());
    try_replacement(*container, i, *bytes);
    Bytes grown = *bytes;
    grown.resize(grown.size() + 5000, 0xa5);
    try_replacement(*container, i, grown);
    (void)container->find_origin(*bytes);
    (void)container->find(container->objects()[i].target_id);
  }
  return 0;
}
