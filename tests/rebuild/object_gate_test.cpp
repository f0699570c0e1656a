#include "rebuild/assembly_fixture.h"
#include "rebuild/object_gate.h"

#include <gmock/gmock.h>

#include <elf.h>

namespace asmevo::rebuild {
namespace {

using codeobject::CodeObject;
using codeobject::Section;
using testing::HasSubstr;

class Gate : public testing::Test {
 protected:
  Gate() : bytes_(samples::compile("gfx942", 5, 1, rich_source)), k0_(parse(bytes_)) {}

  const Section& section(std::string_view name) const {
    return k0_.sections()[k0_.find_section(name).value()];
  }

  // K0 with some bytes changed, compared with K0.
  template <class T>
  ObjectComparison with(uint64_t file_offset, T value, Route route = Route::Assembly) const {
    Bytes changed = bytes_;
    store(changed, file_offset, value);
    EXPECT_NE(changed, bytes_);
    return compare_objects(k0_, parse(std::move(changed)), route);
  }
  ObjectComparison flipped(uint64_t file_offset, Route route = Route::Assembly) const {
    return with(file_offset, static_cast<uint8_t>(bytes_[file_offset] ^ 1), route);
  }

  static void expect_only(const ObjectComparison& comparison, std::string_view where, uint64_t offset) {
    ASSERT_EQ(comparison.differences.size(), 1U) << describe(comparison);
    EXPECT_EQ(comparison.differences[0].section, where);
    EXPECT_EQ(comparison.differences[0].offset, offset) << comparison.differences[0].detail;
  }

  Bytes bytes_;
  CodeObject k0_;
};

TEST_F(Gate, EqualObjectsAreIdentical) {
  EXPECT_TRUE(compare_objects(k0_, parse(bytes_), Route::Assembly).identical());
  EXPECT_TRUE(compare_objects(k0_, parse(bytes_), Route::Direct).identical());
  EXPECT_TRUE(compare_objects(k0_, parse(bytes_), Route::Direct).masks.empty());
}

TEST_F(Gate, CodeIsShownBothWays) {
  const Section& text = section(".text");
  // The last instruction of the kernel `call`: s_endpgm, 0xbf810000.
  uint64_t at = 0;
  while (*load<uint32_t>(text.contents, at) != 0xbf810000) at += 4;
  const ObjectComparison comparison = with(text.offset + at, uint32_t{0xbf800005});
  expect_only(comparison, ".text", at);
  EXPECT_THAT(comparison.differences[0].detail, HasSubstr("'s_endpgm'"));
  EXPECT_THAT(comparison.differences[0].detail, HasSubstr("'s_nop 5'"));
}

TEST_F(Gate, DescriptorFields) {
  const codeobject::Kernel& kernel = k0_.kernels().front();
  const Section& rodata = section(".rodata");
  const uint64_t at = kernel.descriptor_address - rodata.address + rodata.offset;
  for (uint64_t byte = 0; byte < 64; ++byte) {
    if (byte >= 16 && byte < 24) continue; // the entry
    expect_only(flipped(at + byte), "kernel descriptor " + kernel.name + ".kd", byte);
  }
  // The entry leads elsewhere.
  const auto moved = with(at + 16, kernel.descriptor.kernel_code_entry_byte_offset + 4);
  expect_only(moved, "kernel descriptor " + kernel.name + ".kd", 16);
}

TEST_F(Gate, MetadataAndHeader) {
  const auto note = k0_.metadata_note().value();
  const std::string_view text = as_text(ByteSpan(bytes_).subspan(note.offset, note.size));
  const uint64_t at =
      text.find(".kernarg_segment_size") + 21 + 2; // a value of the first kernel, behind its type
  expect_only(flipped(note.offset + at), "metadata note", at);
  expect_only(with<uint32_t>(offsetof(Elf64_Ehdr, e_flags), k0_.elf_flags() | 0x300), "e_flags",
              offsetof(Elf64_Ehdr, e_flags));
  expect_only(with<uint8_t>(EI_ABIVERSION, 4), "ABI version", EI_ABIVERSION);
}

TEST_F(Gate, DataBesideDescriptors) {
  const Section& rodata = section(".rodata");
  expect_only(flipped(rodata.offset + rodata.size - 1), ".rodata", rodata.size - 1);
  const Section& data = section(".data");
  const auto numbers = std::ranges::find(k0_.symbols(), "numbers", &codeobject::Symbol::name);
  expect_only(flipped(data.offset + numbers->value - data.address), ".data", numbers->value - data.address);
  // Inside a word that the loader fills nothing can be read from the file.
  const codeobject::Relocation& relocation = k0_.relocations().front();
  const Section& filled = k0_.sections()[k0_.section_at(relocation.address).value()];
  EXPECT_TRUE(flipped(filled.offset + relocation.address - filled.address).identical());
}

TEST_F(Gate, RelocationsByMeaning) {
  const Section& table = section(".rela.dyn");
  for (uint64_t at = 0; at < table.size; at += sizeof(Elf64_Rela)) {
    const auto entry = *load<Elf64_Rela>(table.contents, at);
    if (ELF64_R_SYM(entry.r_info) != 0) continue;
    const auto comparison = with(table.offset + at + offsetof(Elf64_Rela, r_addend), entry.r_addend + 4);
    ASSERT_EQ(comparison.differences.size(), 1U);
    EXPECT_EQ(comparison.differences[0].section, "relocations");
  }
}

TEST_F(Gate, Symbols) {
  const Section& table = section(".symtab");
  size_t tried = 0;
  for (uint64_t at = sizeof(Elf64_Sym); at < table.size; at += sizeof(Elf64_Sym)) {
    const codeobject::Symbol& symbol = k0_.symbols()[at / sizeof(Elf64_Sym)];
    if (symbol.name == "_DYNAMIC" || symbol.name.ends_with(".kd")) continue;
    ++tried;
    // Functions must stay inside their section to be read at all.
    const bool inside = symbol.section < k0_.sections().size();
    const Section* home = inside ? &k0_.sections()[symbol.section] : nullptr;
    const bool last = home != nullptr && symbol.value + symbol.size + 4 > home->address + home->size;
    const uint64_t change = last ? uint64_t{0} - 4 : 4;
    const auto size = with(table.offset + at + offsetof(Elf64_Sym, st_size), symbol.size + change);
    ASSERT_FALSE(size.identical()) << symbol.name;
    EXPECT_EQ(size.differences[0].section, ".symtab");
    EXPECT_THAT(size.differences[0].detail, HasSubstr(symbol.name));
    EXPECT_FALSE(with(table.offset + at + offsetof(Elf64_Sym, st_value), symbol.value + change).identical())
        << symbol.name;
    const auto visibility = static_cast<uint8_t>(symbol.other ^ 1);
    EXPECT_FALSE(with(table.offset + at + offsetof(Elf64_Sym, st_other), visibility).identical())
        << symbol.name;
  }
  EXPECT_GT(tried, 10U);
}

TEST_F(Gate, DirectRouteSeesEveryByte) {
  for (const Section& s : k0_.sections()) {
    if (s.contents.empty() || s.type == SHT_STRTAB || s.type == SHT_NOTE || s.name == ".rodata") continue;
    const uint64_t last = s.offset + s.size - 1;
    Bytes changed = bytes_;
    changed[last] ^= 0x80;
    auto other = CodeObject::parse(std::move(changed));
    if (!other) continue; // the change broke a table
    expect_only(compare_objects(k0_, *other, Route::Direct), s.name, s.size - 1);
  }
  // Between sections.
  expect_only(with<uint8_t>(EI_NIDENT - 1, 7, Route::Direct), "file", EI_NIDENT - 1);
}

// Two programs that differ only in which of two words they read, linked at different distances: their
// literals differ anyway, and only what they lead to tells them apart.
TEST(GateReferences, AreFollowed) {
  const auto source = [](std::string_view word) {
    return fmt::format(
        "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n  .text\n  .p2align 8\nplace:\n"
        "  s_getpc_b64 s[4:5]\n  s_add_u32 s4, s4, {0}@rel32@lo+4\n  s_addc_u32 s5, s5, {0}@rel32@hi+12\n"
        "  s_load_dword s6, s[4:5], 0x0\n  s_endpgm\n  .data\nfirst:\n  .long 1\nsecond:\n  .long 2\n",
        word);
  };
  const CodeObject first = parse(build(source("first"), "gfx942"));
  const CodeObject moved = parse(build(source("first"), "gfx942", "-z max-page-size=0x10000"));
  const CodeObject other = parse(build(source("second"), "gfx942", "-z max-page-size=0x10000"));
  const ObjectComparison same = compare_objects(first, moved, Route::Assembly);
  EXPECT_TRUE(same.identical()) << describe(same);
  EXPECT_TRUE(masks(same, "1 literals behind s_getpc_b64"));
  const ObjectComparison different = compare_objects(first, other, Route::Assembly);
  ASSERT_EQ(different.differences.size(), 1U);
  EXPECT_EQ(different.differences[0].section, ".text");
  EXPECT_EQ(different.differences[0].offset, 4U);
  EXPECT_THAT(different.differences[0].detail,
              HasSubstr("leads to .data+0x0+0 in k0, to .data+0x4+0 in rebuilt"));

  // The same bytes do not mean the same where the section has moved under them.
  Bytes bytes(moved.bytes().begin(), moved.bytes().end());
  const Section &from = first.sections()[*first.find_section(".text")],
                &to = moved.sections()[*moved.find_section(".text")];
  std::ranges::copy(from.contents, bytes.begin() + static_cast<std::ptrdiff_t>(to.offset));
  EXPECT_FALSE(compare_objects(first, parse(std::move(bytes)), Route::Assembly).identical());
}

} // namespace
} // namespace asmevo::rebuild
