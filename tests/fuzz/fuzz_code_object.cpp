// Arbitrary bytes as a code object: reading, descriptors, metadata, comparing, showing and laying out again
// must refuse in one line or hold together.
#include "codeobject/abi_diff.h"
#include "codeobject/elf_layout.h"
#include "codeobject/inspection.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <source_location>

using namespace asmevo;
using namespace asmevo::codeobject;

namespace {

void must(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "line %u: a promise does not hold\n", static_cast<unsigned>(where.line()));
  std::abort();
}

void check_metadata(const Metadata& metadata) {
  must(metadata.kernels().has_value());
  const auto again = Metadata::parse(metadata.write());
  must(again.has_value() && again->document() == metadata.document());
  must(!metadata.yaml().empty());
}

void check_layout(const CodeObject& object) {
  std::vector<uint64_t> sizes;
  for (const Section& section : object.sections()) sizes.push_back(section.size);
  const auto same = ElfLayout::plan(object, sizes);
  must(same.has_value());
  const auto written = same->write({}, nullptr);
  must(written.has_value() && std::ranges::equal(*written, object.bytes()));
  for (size_t i = 0; i < std::min<size_t>(sizes.size(), 24); ++i) {
    auto grown = sizes;
    grown[i] += 0x84;
    const auto layout = ElfLayout::plan(object, grown);
    if (!layout) continue;
    std::vector<Bytes> contents(sizes.size());
    const ByteSpan old = object.sections()[i].contents;
    contents[i].assign(old.begin(), old.end());
    contents[i].resize(grown[i]);
    (void)layout->write(contents, [&](uint64_t address) { return layout->moved(address); });
    (void)layout->write(contents, nullptr);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The bytes may be a note by themselves: the mutator gets further into MessagePack that way.
  if (const auto note = Metadata::parse(ByteSpan(data, size))) check_metadata(*note);
  const auto object = CodeObject::parse(Bytes(data, data + size));
  if (!object) {
    must(object.error().message.find('\n') == std::string::npos && object.error().exit_code() == 2);
    return 0;
  }
  if (object->metadata()) check_metadata(*object->metadata());
  for (const Kernel& kernel : object->kernels()) {
    const auto bytes = kernel.descriptor.encode();
    const auto again = KernelDescriptor::decode(bytes);
    must(again && *again == kernel.descriptor);
  }
  const Inspection inspection = inspect(*object);
  must(!inspection_text(*object, inspection, true).empty());
  must(!inspection_text(*object, inspection, false).empty());
  using Json = nlohmann::ordered_json;
  must(!inspection_json(*object, inspection).dump(-1, ' ', false, Json::error_handler_t::replace).empty());
  const AbiDiff diff = abi_diff(*object, *object);
  must(diff.compatible() && diff.differences.empty());
  check_layout(*object);
  return 0;
}
