#include "codeobject/code_object.h"
#include "codeobject/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <elf.h>

namespace asmevo::codeobject {
namespace {

using Json = nlohmann::json;

Json readelf(const Bytes& bytes, const std::string& what) {
  const auto path = samples::save("readelf.co", bytes);
  const auto run =
      samples::run(samples::llvm + "llvm-readelf --elf-output-style=JSON " + what + " " + path.string());
  EXPECT_EQ(run.code, 0);
  const Json document = Json::parse(run.output, nullptr, false);
  EXPECT_TRUE(document.is_array()) << run.output.substr(0, 500);
  return document[0];
}

void expect_symbols(const Json& expected, const std::vector<Symbol>& symbols) {
  ASSERT_EQ(expected.size(), symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Json& e = expected[i]["Symbol"];
    EXPECT_EQ(e["Name"]["Name"], symbols[i].name);
    EXPECT_EQ(e["Value"], symbols[i].value) << symbols[i].name;
    EXPECT_EQ(e["Size"], symbols[i].size) << symbols[i].name;
    EXPECT_EQ(e["Binding"]["Value"], symbols[i].binding()) << symbols[i].name;
    EXPECT_EQ(e["Type"]["Value"], symbols[i].type()) << symbols[i].name;
    EXPECT_EQ(e["Other"]["Value"], symbols[i].other) << symbols[i].name;
    EXPECT_EQ(e["Section"]["Value"], symbols[i].section) << symbols[i].name;
  }
}

TEST(CodeObject, ReadsWhatReadelfReads) {
  for (const Bytes& bytes :
       {samples::assemble(), samples::compile("gfx90a", 4), samples::compile("gfx950", 6)}) {
    const auto object = CodeObject::parse(bytes);
    ASSERT_TRUE(object) << object.error().message;
    const Json document =
        readelf(bytes, "--sections --symbols --dyn-symbols --program-headers --relocations");
    ASSERT_EQ(document["Sections"].size(), object->sections().size());
    for (size_t i = 0; i < object->sections().size(); ++i) {
      const Json& e = document["Sections"][i]["Section"];
      const Section& s = object->sections()[i];
      EXPECT_EQ(e["Name"]["Name"], s.name);
      EXPECT_EQ(e["Type"]["Value"], s.type);
      EXPECT_EQ(e["Flags"]["Value"], s.flags);
      EXPECT_EQ(e["Address"], s.address);
      EXPECT_EQ(e["Offset"], s.offset);
      EXPECT_EQ(e["Size"], s.size);
      EXPECT_EQ(e["Link"], s.link);
      EXPECT_EQ(e["AddressAlignment"], s.alignment);
    }
    expect_symbols(document["Symbols"], object->symbols());
    expect_symbols(document["DynamicSymbols"], object->dynamic_symbols());
    ASSERT_EQ(document["ProgramHeaders"].size(), object->segments().size());
    for (size_t i = 0; i < object->segments().size(); ++i) {
      const Json& e = document["ProgramHeaders"][i]["ProgramHeader"];
      const Segment& s = object->segments()[i];
      EXPECT_EQ(e["Type"]["Value"], s.type);
      EXPECT_EQ(e["Offset"], s.offset);
      EXPECT_EQ(e["VirtualAddress"], s.address);
      EXPECT_EQ(e["FileSize"], s.file_size);
      EXPECT_EQ(e["MemSize"], s.memory_size);
    }
    size_t relocations = 0;
    for (const Json& table : document["Relocations"])
      for (const Json& entry : table["Relocs"]) {
        const Json& e = entry["Relocation"];
        ASSERT_LT(relocations, object->relocations().size());
        const Relocation& r = object->relocations()[relocations++];
        EXPECT_EQ(e["Offset"], r.address);
        EXPECT_EQ(e["Type"]["Value"], r.type);
        EXPECT_EQ(e["Addend"], r.addend);
      }
    EXPECT_EQ(relocations, object->relocations().size());
  }
}

TEST(CodeObject, FindsKernelsAndTheirMetadata) {
  for (const int version : {4, 5, 6}) {
    const auto object = CodeObject::parse(samples::compile("gfx942", version));
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(object->version(), static_cast<unsigned>(version));
    EXPECT_EQ(object->target().id(), "gfx942");
    ASSERT_EQ(object->kernels().size(), 2U);
    const auto metadata = *object->metadata()->kernels();
    for (const char* name : {"call", "turn"}) {
      const Kernel* kernel = object->find_kernel(name);
      ASSERT_NE(kernel, nullptr);
      EXPECT_EQ(metadata[*kernel->metadata_index].name, name);
      const auto symbol = std::ranges::find(object->symbols(), name, &Symbol::name);
      EXPECT_EQ(symbol->value, kernel->entry);
      EXPECT_EQ(object->sections()[*object->section_at(kernel->entry)].name, ".text");
      EXPECT_EQ(object->sections()[*object->section_at(kernel->descriptor_address)].name, ".rodata");
    }
    EXPECT_LT(object->kernels()[0].entry, object->kernels()[1].entry);
    EXPECT_EQ(object->find_kernel("none"), nullptr);
    EXPECT_EQ(object->find_section(".nowhere"), std::nullopt);
    EXPECT_EQ(object->section_at(0), std::nullopt);
    EXPECT_EQ(object->section_at(~uint64_t{0}), std::nullopt);
  }
}

TEST(CodeObject, TargetFeaturesAndGenericTargets) {
  for (const char* id : {"gfx90a:sramecc+:xnack-", "gfx942:sramecc-", "gfx950:xnack+"}) {
    const auto object = CodeObject::parse(samples::compile(id));
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(object->target().id(), id);
  }
  const auto generic = CodeObject::parse(samples::compile("gfx9-4-generic", 6));
  ASSERT_TRUE(generic) << generic.error().message;
  EXPECT_TRUE(generic->target().generic);
  EXPECT_EQ(generic->target().name(), "gfx942");
}

// LLVM 22 no longer writes V3: V4's header with V3's flag bits is one.
TEST(CodeObject, ReadsV3) {
  constexpr uint32_t flags_at = offsetof(Elf64_Ehdr, e_flags);
  for (const auto& [bits, id] :
       {std::pair(0x33fU, "gfx90a:sramecc+:xnack+"), std::pair(0x13fU, "gfx90a:sramecc-:xnack+"),
        std::pair(0x03fU, "gfx90a:sramecc-:xnack-")}) {
    Bytes bytes = samples::compile("gfx90a", 4);
    bytes[EI_ABIVERSION] = 1;
    store<uint32_t>(bytes, flags_at, bits);
    const auto object = CodeObject::parse(bytes);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(object->version(), 3U);
    EXPECT_EQ(object->target().id(), id);
    EXPECT_EQ(object->elf_flags(), bits);
    EXPECT_EQ(object->kernels().size(), 2U);
  }
}

TEST(CodeObject, StrippedObjectKeepsItsKernels) {
  const auto path = samples::save("strip.co", samples::compile());
  ASSERT_EQ(samples::run(samples::llvm + "llvm-strip -s " + path.string()).code, 0);
  const auto object = CodeObject::parse(samples::read(path));
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_TRUE(object->symbols().empty());
  EXPECT_EQ(object->kernels().size(), 2U);
}

TEST(CodeObject, MovesWithItsSections) {
  auto object = *CodeObject::parse(samples::compile());
  const CodeObject moved = std::move(object);
  for (const Section& section : moved.sections())
    if (!section.contents.empty()) {
      EXPECT_GE(section.contents.data(), moved.bytes().data());
      EXPECT_LE(section.contents.data() + section.contents.size(),
                moved.bytes().data() + moved.bytes().size());
    }
}

TEST(CodeObject, ReadsAiter) {
  const auto files = samples::aiter_objects();
  std::vector<double> milliseconds;
  for (const auto& file : files) {
    Bytes bytes = samples::read(file);
    const auto start = std::chrono::steady_clock::now();
    const auto object = CodeObject::parse(std::move(bytes));
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    ASSERT_TRUE(object) << file << ": " << object.error().message;
    EXPECT_EQ(object->kernels().size(), 1U) << file;
    EXPECT_TRUE(object->kernels()[0].metadata_index) << file;
  }
  if (files.empty()) return;
  std::ranges::sort(milliseconds);
  fmt::print("{} objects read, median {:.3f} ms, worst {:.3f} ms\n", files.size(),
             milliseconds[files.size() / 2], milliseconds.back());
}

} // namespace
} // namespace asmevo::codeobject
