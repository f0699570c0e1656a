#include "codeobject/abi_diff.h"
#include "codeobject/elf_layout.h"
#include "codeobject/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <elf.h>
#include <map>
#include <set>

namespace asmevo::codeobject {
namespace {

using Json = nlohmann::ordered_json;

CodeObject parsed(Bytes bytes) {
  auto object = CodeObject::parse(std::move(bytes));
  if (!object) throw std::runtime_error(object.error().message);
  return *std::move(object);
}

const CodeObject& k0() {
  static const CodeObject object = parsed(samples::compile());
  return object;
}

uint64_t file_offset(uint64_t address) {
  const Section& section = k0().sections()[*k0().section_at(address)];
  return section.offset + (address - section.address);
}

std::vector<uint64_t> sizes() {
  std::vector<uint64_t> all;
  for (const Section& section : k0().sections()) all.push_back(section.size);
  return all;
}

/// K0 with another section in place of `name`.
CodeObject with_section(std::string_view name, Bytes contents) {
  const size_t index = *k0().find_section(name);
  auto planned = sizes();
  planned[index] = contents.size();
  const auto layout = ElfLayout::plan(k0(), planned);
  std::vector<Bytes> all(planned.size());
  all[index] = std::move(contents);
  return parsed(*layout->write(all, nullptr));
}

CodeObject with_document(const Json& document) {
  const Section& note = k0().sections()[*k0().find_section(".note")];
  const auto packed = Json::to_msgpack(document);
  Bytes contents(note.contents.begin(), note.contents.begin() + 20);
  store<uint32_t>(contents, 4, static_cast<uint32_t>(packed.size()));
  append(contents, ByteSpan(packed));
  contents.resize(align_up(contents.size(), 4));
  return with_section(".note", std::move(contents));
}

CodeObject with_descriptor(auto change) {
  Bytes bytes(k0().bytes().begin(), k0().bytes().end());
  const Kernel& kernel = k0().kernels()[0];
  KernelDescriptor descriptor = kernel.descriptor;
  change(descriptor);
  const auto encoded = descriptor.encode();
  std::ranges::copy(encoded,
                    bytes.begin() + static_cast<std::ptrdiff_t>(file_offset(kernel.descriptor_address)));
  return parsed(bytes);
}

CodeObject with_symbol(std::string_view name, auto change) {
  Bytes bytes(k0().bytes().begin(), k0().bytes().end());
  const auto& symbols = k0().dynamic_symbols();
  const auto index = static_cast<uint64_t>(std::ranges::find(symbols, name, &Symbol::name) - symbols.begin());
  const uint64_t at = k0().sections()[*k0().find_section(".dynsym")].offset + index * sizeof(Elf64_Sym);
  auto symbol = *load<Elf64_Sym>(bytes, at);
  change(symbol);
  store(bytes, at, symbol);
  return parsed(bytes);
}

std::vector<std::string> fields(const AbiDiff& diff, bool frozen) {
  std::vector<std::string> names;
  for (const AbiDifference& d : diff.differences)
    if (d.frozen == frozen) names.push_back(d.field);
  return names;
}

void expect_frozen(const CodeObject& candidate, const std::string& field) {
  const AbiDiff diff = abi_diff(k0(), candidate);
  EXPECT_FALSE(diff.compatible()) << field;
  EXPECT_THAT(fields(diff, true), testing::Contains(field));
}

// Whoever changes one of two fields that say the same contradicts the other, which is said in addition.
void expect_only_contradictions_behind(const AbiDiff& diff) {
  for (size_t i = 1; i < diff.differences.size(); ++i) {
    const std::string& field = diff.differences[i].field;
    EXPECT_TRUE(field.ends_with(" as in the descriptor") || field == "registers for its largest workgroup")
        << field;
  }
}

TEST(AbiDiff, K0AgreesWithItself) {
  const AbiDiff diff = abi_diff(k0(), parsed(samples::compile()));
  EXPECT_TRUE(diff.compatible());
  EXPECT_TRUE(diff.differences.empty());
  // Two kernels of some 45 descriptor fields, 11 metadata keys and 2 or more arguments of 4 keys each.
  EXPECT_GT(diff.fields_compared, 150U);
}

TEST(AbiDiff, MoreCodeIsNoDifference) {
  const Section& text = k0().sections()[*k0().find_section(".text")];
  for (const size_t more : {64U, 0x3000U}) {
    Bytes contents(text.contents.begin(), text.contents.end());
    contents.resize(contents.size() + more);
    const AbiDiff diff = abi_diff(k0(), with_section(".text", contents));
    EXPECT_TRUE(diff.differences.empty()) << diff.differences.front().where << diff.differences.front().field;
  }
}

// Every field of the descriptor, one at a time. What may follow the code is listed here a second time on
// purpose.
TEST(AbiDiff, DescriptorFields) {
  const std::set<std::string_view> resources = {"group_segment_fixed_size", "private_segment_fixed_size",
                                                "granulated_workitem_vgpr_count",
                                                "granulated_wavefront_sgpr_count", "accum_offset"};
  for (const DescriptorField& field : descriptor_fields(k0().target())) {
    if (field.word == DescriptorField::Word::EntryOffset) continue;
    const CodeObject candidate =
        with_descriptor([&](KernelDescriptor& d) { set(d, field, get(d, field) ^ 1); });
    const AbiDiff diff = abi_diff(k0(), candidate);
    ASSERT_FALSE(diff.differences.empty()) << field.name;
    expect_only_contradictions_behind(diff);
    EXPECT_EQ(diff.differences[0].field, fmt::format("descriptor.{}", field.name));
    EXPECT_EQ(diff.differences[0].where, "kernel call");
    EXPECT_EQ(diff.differences[0].frozen, !resources.contains(field.name)) << field.name;
    EXPECT_NE(diff.differences[0].k0, diff.differences[0].candidate);
  }
  expect_frozen(with_descriptor([](KernelDescriptor& d) { d.reserved1[3] = 1; }), "descriptor.reserved bits");
  expect_frozen(with_descriptor([](KernelDescriptor& d) { d.kernel_code_entry_byte_offset += 4; }),
                "entry alignment");
  EXPECT_TRUE(
      abi_diff(k0(), with_descriptor([](KernelDescriptor& d) { d.kernel_code_entry_byte_offset -= 256; }))
          .compatible());
}

TEST(AbiDiff, MetadataKeys) {
  const std::set<std::string> resources = {".vgpr_count",
                                           ".agpr_count",
                                           ".sgpr_count",
                                           ".vgpr_spill_count",
                                           ".sgpr_spill_count",
                                           ".group_segment_fixed_size",
                                           ".private_segment_fixed_size"};
  size_t changed = 0;
  const Json& kernel = k0().metadata()->document()["amdhsa.kernels"][0];
  for (const auto& [key, value] : kernel.items()) {
    if (!value.is_number_unsigned() || key == ".wavefront_size") continue;
    Json document = k0().metadata()->document();
    document["amdhsa.kernels"][0][key] = value.get<uint64_t>() + 8;
    const AbiDiff diff = abi_diff(k0(), with_document(document));
    ASSERT_FALSE(diff.differences.empty()) << key;
    expect_only_contradictions_behind(diff);
    EXPECT_EQ(diff.differences[0].field, "metadata" + key);
    EXPECT_EQ(diff.differences[0].frozen, !resources.contains(key)) << key;
    ++changed;
  }
  EXPECT_GE(changed, 9U);
  // An absent key is a difference too, and keys of the whole note.
  Json document = k0().metadata()->document();
  document["amdhsa.kernels"][0].erase(".kernarg_segment_size");
  expect_frozen(with_document(document), "metadata.kernarg_segment_size");
  document = k0().metadata()->document();
  document["amdhsa.kernels"][0][".reqd_workgroup_size"] = {64, 1, 1};
  expect_frozen(with_document(document), "metadata.reqd_workgroup_size");
  document = k0().metadata()->document();
  document["amdhsa.version"] = {1, 1};
  expect_frozen(with_document(document), "metadata amdhsa.version");
  document = k0().metadata()->document();
  document["amdhsa.kernels"].erase(1);
  expect_frozen(with_document(document), "listed in metadata");
}

// A kernel with resources said twice: in the descriptor, and in the note.
CodeObject with_resources(unsigned lds, unsigned noted_lds, unsigned granules, unsigned noted_vgprs) {
  Json document = k0().metadata()->document();
  Json& kernel = document["amdhsa.kernels"][*k0().kernels()[0].metadata_index];
  kernel[".group_segment_fixed_size"] = noted_lds;
  kernel[".vgpr_count"] = noted_vgprs;
  kernel[".agpr_count"] = 0;
  kernel[".max_flat_workgroup_size"] = 1024;
  const CodeObject noted = with_document(document);
  Bytes bytes(noted.bytes().begin(), noted.bytes().end());
  const Kernel& own = noted.kernels()[0];
  KernelDescriptor descriptor = own.descriptor;
  descriptor.group_segment_fixed_size = lds;
  set(descriptor, noted.target(), "granulated_workitem_vgpr_count", granules - 1);
  const Section& section = noted.sections()[*noted.section_at(own.descriptor_address)];
  std::ranges::copy(
      descriptor.encode(),
      bytes.begin() + static_cast<std::ptrdiff_t>(section.offset + own.descriptor_address - section.address));
  return parsed(bytes);
}

TEST(AbiDiff, NoteAndDescriptorAgreeWhereThoseOfK0Do) {
  const CodeObject original = with_resources(512, 512, 4, 30);
  const auto compatible = [&](const CodeObject& candidate) {
    return abi_diff(original, candidate).compatible();
  };
  EXPECT_TRUE(compatible(with_resources(1024, 1024, 8, 64)));
  EXPECT_TRUE(compatible(with_resources(512, 512, 3, 20)));
  EXPECT_FALSE(compatible(with_resources(1024, 512, 4, 30)));
  EXPECT_FALSE(compatible(with_resources(512, 0, 4, 30)));
  EXPECT_FALSE(compatible(with_resources(512, 512, 4, 8)));
  EXPECT_FALSE(compatible(with_resources(512, 512, 8, 30)));
  const CodeObject careless = with_resources(512, 0, 4, 90);
  EXPECT_TRUE(abi_diff(careless, with_resources(1024, 0, 6, 90)).compatible()) << "as K0's do not";
}

TEST(AbiDiff, TheLargestWorkgroupStaysResident) {
  const CodeObject original = with_resources(0, 0, 4, 32);
  EXPECT_TRUE(abi_diff(original, with_resources(0, 0, 16, 128)).compatible());
  EXPECT_FALSE(abi_diff(original, with_resources(0, 0, 17, 136)).compatible());
  const CodeObject never = with_resources(0, 0, 20, 160);
  EXPECT_TRUE(abi_diff(never, with_resources(0, 0, 32, 256)).compatible()) << "as K0's does not";
}

TEST(AbiDiff, Arguments) {
  const auto with_argument = [](auto change) {
    Json document = k0().metadata()->document();
    change(document["amdhsa.kernels"][0][".args"]);
    return with_document(document);
  };
  expect_frozen(with_argument([](Json& args) { args[0][".value_kind"] = "by_value"; }),
                "metadata.value_kind");
  expect_frozen(with_argument([](Json& args) { args[0][".address_space"] = "local"; }),
                "metadata.address_space");
  expect_frozen(with_argument([](Json& args) { args[1][".size"] = 2; }), "metadata.size");
  expect_frozen(with_argument([](Json& args) { args[1][".offset"] = 12; }), "metadata.offset");
  expect_frozen(with_argument([](Json& args) { args[0].erase(".address_space"); }), "metadata.address_space");
  expect_frozen(with_argument([](Json& args) { args.erase(args.size() - 1); }), "metadata.args count");
}

TEST(AbiDiff, Symbols) {
  expect_frozen(with_symbol("turn", [](Elf64_Sym& s) { s.st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC); }),
                "binding");
  expect_frozen(with_symbol("turn", [](Elf64_Sym& s) { s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE); }),
                "type");
  expect_frozen(with_symbol("turn", [](Elf64_Sym& s) { s.st_other = STV_DEFAULT; }), "visibility");
  expect_frozen(with_symbol("turn", [](Elf64_Sym& s) { s.st_name = 0; }), "exists");
  expect_frozen(with_symbol("numbers", [](Elf64_Sym& s) { s.st_size = 8; }), "size");
  expect_frozen(with_symbol("numbers", [](Elf64_Sym& s) { s.st_shndx = SHN_UNDEF; }), "section");
  EXPECT_TRUE(abi_diff(k0(), with_symbol("turn", [](Elf64_Sym& s) { s.st_size += 64; })).compatible());
}

// A table of hashes with one word changed, in turn; what a loader then misses, by ld.so's own rules, is
// reported.
TEST(AbiDiff, HashTables) {
  size_t tables = 0;
  for (const char* name : {".hash", ".gnu.hash"}) {
    const auto index = k0().find_section(name);
    if (!index) continue;
    const Section& table = k0().sections()[*index];
    const std::string field = name == std::string_view(".hash") ? "entry in DT_HASH" : "entry in DT_GNU_HASH";
    Bytes bytes(k0().bytes().begin(), k0().bytes().end());
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(table.offset), table.size, uint8_t{0});
    expect_frozen(parsed(bytes), field);
    const AbiDiff zeroed = abi_diff(k0(), parsed(bytes));
    EXPECT_EQ(zeroed.differences.size(), k0().dynamic_symbols().size() - 1) << "all but the null symbol";
    size_t noticed = 0;
    for (uint64_t at = 0; at < table.size; at += 4) {
      Bytes one(k0().bytes().begin(), k0().bytes().end());
      store<uint32_t>(one, table.offset + at, ~*load<uint32_t>(one, table.offset + at));
      noticed += abi_diff(k0(), parsed(one)).compatible() ? 0 : 1;
    }
    // All but empty buckets and unused words of the filter.
    EXPECT_GE(noticed, table.size / 4 / 2) << name;
    ++tables;
  }
  EXPECT_EQ(tables, 2U);
}

TEST(AbiDiff, DynamicSection) {
  const Section& dynamic = k0().sections()[*k0().find_section(".dynamic")];
  const std::map<int64_t, std::string> fields = {
      {DT_HASH, "DT_HASH"}, {DT_GNU_HASH, "DT_GNU_HASH"}, {DT_SYMTAB, "DT_SYMTAB"}, {DT_STRTAB, "DT_STRTAB"}};
  size_t changed = 0;
  for (uint64_t at = dynamic.offset; at < dynamic.offset + dynamic.size; at += sizeof(Elf64_Dyn)) {
    const auto field = fields.find(load<Elf64_Dyn>(k0().bytes(), at)->d_tag);
    if (field == fields.end()) continue;
    Bytes bytes(k0().bytes().begin(), k0().bytes().end());
    store<uint64_t>(bytes, at + offsetof(Elf64_Dyn, d_un), UINT64_MAX);
    expect_frozen(parsed(bytes), field->second);
    ++changed;
  }
  EXPECT_EQ(changed, 4U);
}

// Chains that never end.
TEST(AbiDiff, HashTablesInLoops) {
  const Section& table = k0().sections()[*k0().find_section(".hash")];
  Bytes bytes(k0().bytes().begin(), k0().bytes().end());
  for (uint64_t at = 8; at < table.size; at += 4) store<uint32_t>(bytes, table.offset + at, 1);
  expect_frozen(parsed(bytes), "entry in DT_HASH");
}

TEST(AbiDiff, DataAndRelocations) {
  const Section& data = k0().sections()[*k0().find_section(".data")];
  Bytes contents(data.contents.begin(), data.contents.end());
  contents[2] ^= 1;
  expect_frozen(with_section(".data", contents), "data");
  contents.resize(contents.size() + 8);
  expect_frozen(with_section(".data", contents), "size");
  // The table's first function changed for its second.
  Bytes bytes(k0().bytes().begin(), k0().bytes().end());
  const auto function = std::ranges::find_if(k0().relocations(), [](const Relocation& r) {
    const auto section = k0().section_at(static_cast<uint64_t>(r.addend));
    return section && k0().sections()[*section].executable();
  });
  ASSERT_NE(function, k0().relocations().end());
  const auto index = static_cast<uint64_t>(function - k0().relocations().begin());
  const uint64_t at = k0().sections()[*k0().find_section(".rela.dyn")].offset + index * sizeof(Elf64_Rela) +
                      offsetof(Elf64_Rela, r_addend);
  store<uint64_t>(bytes, at, k0().kernels()[0].entry);
  expect_frozen(parsed(bytes), "target");
}

// What a loader goes by, though no section says so.
TEST(AbiDiff, ProgramHeadersAndEntry) {
  const Elf64_Ehdr header = *load<Elf64_Ehdr>(k0().bytes(), 0);
  std::string name; // of the header that is changed
  const auto with_header = [&](uint32_t type, uint32_t flags, auto change) {
    Bytes bytes(k0().bytes().begin(), k0().bytes().end());
    for (size_t i = 0; i < header.e_phnum; ++i) {
      const uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
      auto segment = *load<Elf64_Phdr>(bytes, at);
      if (segment.p_type != type || (segment.p_flags & flags) != flags) continue;
      change(segment);
      store(bytes, at, segment);
      name = fmt::format("program header {}", i);
      return parsed(bytes);
    }
    throw std::runtime_error("no such segment");
  };
  const auto nothing = [](Elf64_Phdr& s) { s.p_type = PT_NULL; };
  expect_frozen(with_header(PT_NOTE, 0, nothing), name);
  expect_frozen(with_header(PT_DYNAMIC, 0, nothing), name);
  expect_frozen(with_header(PT_LOAD, PF_X, [](Elf64_Phdr& s) { s.p_flags = PF_R; }), name);
  const std::string covered = "what PT_NOTE and PT_DYNAMIC cover";
  expect_frozen(with_header(PT_NOTE, 0, [](Elf64_Phdr& s) { s.p_filesz = s.p_memsz = 0; }), covered);
  expect_frozen(with_header(PT_NOTE, 0, [](Elf64_Phdr& s) { s.p_vaddr += 4; }), covered);
  expect_frozen(with_header(PT_DYNAMIC, 0, [](Elf64_Phdr& s) { s.p_filesz -= 16; }), covered);
  Bytes bytes(k0().bytes().begin(), k0().bytes().end());
  store<uint64_t>(bytes, offsetof(Elf64_Ehdr, e_entry), k0().kernels()[0].entry);
  expect_frozen(parsed(bytes), "e_entry");
}

TEST(AbiDiff, WholeObjects) {
  expect_frozen(parsed(samples::compile("gfx942", 6)), "code object version");
  expect_frozen(parsed(samples::compile("gfx950")), "target");
  expect_frozen(parsed(samples::compile("gfx942:xnack+")), "e_flags");
  expect_frozen(parsed(samples::assemble()), "exists");
  // The compiler at another optimisation level keeps every argument but not all implicit inputs.
  const std::string changed =
      std::string(samples::hip_source) + "extern \"C\" global void more(int* p) { *p = 1; }\n";
  const AbiDiff diff = abi_diff(k0(), parsed(samples::compile("gfx942", 5, 2, changed)));
  EXPECT_THAT(fields(diff, true), testing::Contains("exists"));
}

} // namespace
} // namespace asmevo::codeobject
