// Objects that are broken in one way each: one clear line, never a crash.
#include "codeobject/code_object.h"
#include "codeobject/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <elf.h>

namespace asmevo::codeobject {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// The message of a refusal; also checks that it is one line and means exit code 2.
std::string refusal(Bytes bytes, ErrorKind kind = ErrorKind::BadInput) {
  const auto object = CodeObject::parse(std::move(bytes));
  if (object) return "accepted";
  EXPECT_EQ(object.error().kind, kind) << object.error().message;
  EXPECT_EQ(object.error().exit_code(), 2);
  EXPECT_EQ(object.error().message.find('\n'), std::string::npos) << object.error().message;
  return object.error().message;
}

/// A good object and the places of its tables, to break.
struct Victim {
  Bytes bytes = samples::compile();
  CodeObject good = *CodeObject::parse(bytes);

  template <class Header>
  void change(uint64_t at, auto change_header) {
    Header header = *load<Header>(bytes, at);
    change_header(header);
    store(bytes, at, header);
  }
  void header(auto f) { change<Elf64_Ehdr>(0, f); }
  uint64_t section_at(std::string_view name) const {
    return load<Elf64_Ehdr>(bytes, 0)->e_shoff + *good.find_section(name) * sizeof(Elf64_Shdr);
  }
  void section(std::string_view name, auto f) { change<Elf64_Shdr>(section_at(name), f); }
  void segment(uint32_t type, auto f) {
    for (size_t i = 0; i < good.segments().size(); ++i)
      if (good.segments()[i].type == type)
        return change<Elf64_Phdr>(load<Elf64_Ehdr>(bytes, 0)->e_phoff + i * sizeof(Elf64_Phdr), f);
  }
  void symbol(std::string_view table, std::string_view name, auto f) {
    const auto& symbols = table == ".dynsym" ? good.dynamic_symbols() : good.symbols();
    const auto index = std::ranges::find(symbols, name, &Symbol::name) - symbols.begin();
    change<Elf64_Sym>(good.sections()[*good.find_section(table)].offset +
                          static_cast<uint64_t>(index) * sizeof(Elf64_Sym),
                      f);
  }
  void both_symbols(std::string_view name, auto f) {
    symbol(".dynsym", name, f);
    symbol(".symtab", name, f);
  }
  uint64_t file_offset(uint64_t address) const {
    const Section& s = good.sections()[*good.section_at(address)];
    return s.offset + (address - s.address);
  }
  /// Replaces the note's contents by `document`, which must not be longer.
  void note(const Json& document) {
    const auto packed = Json::to_msgpack(document);
    const auto range = *good.metadata_note();
    ASSERT_LE(packed.size(), range.size);
    std::ranges::copy(packed, bytes.begin() + static_cast<std::ptrdiff_t>(range.offset));
    const uint64_t header_at = good.sections()[*good.find_section(".note")].offset;
    store<uint32_t>(bytes, header_at + 4, static_cast<uint32_t>(packed.size()));
    const uint64_t used = align_up(range.offset + packed.size(), 4) - header_at;
    section(".note", [&](Elf64_Shdr& s) { s.sh_size = used; });
  }
  Json document() const { return good.metadata()->document(); }
};

TEST(BadCodeObject, NotAnElfFile) {
  EXPECT_THAT(refusal({}), HasSubstr("empty"));
  EXPECT_THAT(refusal({'M', 'Z', 0, 0, 0}), HasSubstr("not an ELF"));
  EXPECT_THAT(refusal({0x7f, 'E', 'L', 'F'}), HasSubstr("truncated"));
  EXPECT_THAT(refusal(Bytes(4096, 0)), HasSubstr("not an ELF"));
}

TEST(BadCodeObject, TruncatedAnywhere) {
  for (const Bytes& whole : {samples::assemble(), samples::compile()})
    for (size_t size = 0; size < whole.size(); size += 64)
      EXPECT_NE(refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), "accepted")
          << size;
}

// Any one byte of the tables changed: no crash, and whatever is accepted still holds together.
TEST(BadCodeObject, OneByteChanged) {
  const Bytes whole = samples::assemble();
  for (size_t at = 0; at < whole.size(); ++at)
    for (const uint8_t value : {uint8_t{0}, uint8_t{0x7f}, uint8_t{0xff}}) {
      Bytes bytes = whole;
      bytes[at] = value;
      const auto object = CodeObject::parse(std::move(bytes));
      if (!object) {
        EXPECT_EQ(object.error().message.find('\n'), std::string::npos);
      } else {
        for (const Kernel& kernel : object->kernels()) EXPECT_TRUE(object->section_at(kernel.entry));
      }
    }
}

TEST(BadCodeObject, WrongKindOfElf) {
  Victim v;
  Bytes bytes = v.bytes;
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(refusal(bytes), HasSubstr("64-bit"));
  bytes = v.bytes;
  bytes[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(refusal(bytes), HasSubstr("little-endian"));
  bytes = v.bytes;
  store<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine), EM_X86_64);
  EXPECT_THAT(refusal(bytes, ErrorKind::Unsupported), HasSubstr("machine 62"));
  bytes = v.bytes;
  store<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_type), ET_REL);
  EXPECT_THAT(refusal(bytes, ErrorKind::Unsupported), HasSubstr("link it"));
  bytes = v.bytes;
  bytes[EI_OSABI] = 65; // PAL
  EXPECT_THAT(refusal(bytes, ErrorKind::Unsupported), HasSubstr("OS ABI 65"));
  bytes = v.bytes;
  bytes[EI_ABIVERSION] = 0;
  EXPECT_THAT(refusal(bytes, ErrorKind::Unsupported), HasSubstr("V2"));
  bytes[EI_ABIVERSION] = 5;
  EXPECT_THAT(refusal(bytes, ErrorKind::Unsupported), HasSubstr("ABI version 5"));
}

TEST(BadCodeObject, OtherGpus) {
  for (const char* gpu : {"gfx1030", "gfx1100", "gfx908", "gfx803"})
    EXPECT_THAT(refusal(samples::compile(gpu), ErrorKind::Unsupported), HasSubstr(gpu));
}

TEST(BadCodeObject, HeaderTablesOutsideTheFile) {
  const auto refused = [](auto f) {
    Victim v;
    v.header(f);
    return refusal(v.bytes);
  };
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shoff = ~uint64_t{0}; }), HasSubstr("section headers past"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shoff = ~uint64_t{63}; }), HasSubstr("section headers past"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shoff += 64; }), HasSubstr("section headers past"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shnum = 0xffff; }), HasSubstr("section headers past"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shnum = 0; }), HasSubstr("no section headers"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shentsize = 40; }), HasSubstr("section headers of 40"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_phentsize = 0; }), HasSubstr("program headers of 0"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_phoff = ~uint64_t{7}; }), HasSubstr("program headers past"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_phnum = 0xffff; }), HasSubstr("program headers past"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shstrndx = 0xffff; }), HasSubstr("section names"));
  EXPECT_THAT(refused([](Elf64_Ehdr& h) { h.e_shstrndx = 0; }), HasSubstr("section names"));
}

TEST(BadCodeObject, Sections) {
  const auto refused = [](std::string_view name, auto f) {
    Victim v;
    v.section(name, f);
    return refusal(v.bytes);
  };
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_size = uint64_t{4} << 30; }),
              HasSubstr("past the end"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_size = ~uint64_t{0}; }), HasSubstr("past the end"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_offset = ~uint64_t{0}; }), HasSubstr("past the end"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_offset += 256; }), HasSubstr("PT_LOAD"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_addr = 0; }),
              testing::AnyOf(HasSubstr("PT_LOAD"), HasSubstr("overlaps")));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_addr = ~uint64_t{0}; }), HasSubstr("wrap"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_addralign = 3; }), HasSubstr("power of two"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_flags = SHF_ALLOC; }), HasSubstr("executable"));
  EXPECT_THAT(refused(".text", [](Elf64_Shdr& s) { s.sh_name = 0xffffffff; }), HasSubstr("string table"));
  EXPECT_THAT(refused(".bss", [](Elf64_Shdr& s) { s.sh_size = uint64_t{4} << 30; }), HasSubstr("PT_LOAD"));
  EXPECT_THAT(refused(".dynsym", [](Elf64_Shdr& s) { s.sh_entsize = 0; }), HasSubstr(".dynsym"));
  EXPECT_THAT(refused(".dynsym", [](Elf64_Shdr& s) { s.sh_size -= 8; }), HasSubstr(".dynsym"));
  EXPECT_THAT(refused(".symtab", [](Elf64_Shdr& s) { s.sh_link = 0xffffff; }), HasSubstr("string table"));
  EXPECT_THAT(refused(".symtab", [](Elf64_Shdr& s) { s.sh_link = 1; }), HasSubstr("string table"));
  EXPECT_THAT(refused(".rela.dyn", [](Elf64_Shdr& s) { s.sh_entsize = 1; }), HasSubstr(".rela.dyn"));
  EXPECT_THAT(refused(".rodata", [](Elf64_Shdr& s) { s.sh_size = 64 + 63; }), HasSubstr("run past"));
  EXPECT_THAT(refused(".rodata", [](Elf64_Shdr& s) { s.sh_type = SHT_NOBITS; }), HasSubstr("run past"));
}

TEST(BadCodeObject, Segments) {
  const auto refused = [](auto f) {
    Victim v;
    v.segment(PT_LOAD, f);
    return refusal(v.bytes);
  };
  EXPECT_THAT(refused([](Elf64_Phdr& p) { p.p_filesz = uint64_t{4} << 30; }), HasSubstr("past the end"));
  EXPECT_THAT(refused([](Elf64_Phdr& p) { p.p_memsz = 8; }), HasSubstr("segment"));
  EXPECT_THAT(refused([](Elf64_Phdr& p) {
                p.p_memsz = ~uint64_t{0};
                p.p_vaddr = 4096;
              }),
              HasSubstr("wrap"));
  EXPECT_THAT(refused([](Elf64_Phdr& p) { p.p_memsz = 0x100000; }), HasSubstr("overlaps"));
  EXPECT_THAT(refused([](Elf64_Phdr& p) { p.p_type = PT_NOTE; }), HasSubstr("PT_LOAD"));
}

TEST(BadCodeObject, Symbols) {
  Victim v;
  v.symbol(".symtab", "call", [](Elf64_Sym& s) { s.st_name = 0xfffffff0; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("symbol name"));
  v = Victim();
  v.symbol(".dynsym", "call", [](Elf64_Sym& s) { s.st_shndx = 200; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("section 200"));
  for (const uint64_t off : {uint64_t{1} << 32, uint64_t{2}}) {
    v = Victim();
    v.symbol(".dynsym", "call", [&](Elf64_Sym& s) { s.st_value += off; });
    EXPECT_THAT(refusal(v.bytes), HasSubstr("function call"));
  }
  v = Victim();
  v.symbol(".symtab", "call", [](Elf64_Sym& s) { s.st_size += uint64_t{1} << 32; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("is outside section .text"));
  // A string table that ends without a zero.
  v = Victim();
  v.section(".strtab", [](Elf64_Shdr& s) { s.sh_size -= 1; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("does not end"));
}

TEST(BadCodeObject, Descriptors) {
  Victim v;
  v.both_symbols("call.kd", [](Elf64_Sym& s) { s.st_value = 0x123456; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("call.kd"));
  v = Victim();
  v.both_symbols("call.kd", [](Elf64_Sym& s) { s.st_shndx = SHN_ABS; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("no section"));
  v = Victim(); // gone, though the metadata lists it
  v.both_symbols("call.kd", [](Elf64_Sym& s) { s.st_shndx = SHN_UNDEF; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("no kernel descriptor 'call.kd'"));
  v = Victim();
  v.both_symbols("call.kd", [](Elf64_Sym& s) { s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC); });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("no kernel descriptor 'call.kd'"));

  const auto entry_offset = [](int64_t change) {
    Victim w;
    const Kernel& kernel = *w.good.find_kernel("call");
    store<int64_t>(w.bytes, w.file_offset(kernel.descriptor_address) + 16,
                   kernel.descriptor.kernel_code_entry_byte_offset + change);
    return refusal(w.bytes);
  };
  EXPECT_THAT(entry_offset(2), HasSubstr("multiple of 4"));
  EXPECT_THAT(entry_offset(0x100000), HasSubstr("executable"));
  EXPECT_THAT(entry_offset(INT64_MIN), HasSubstr("executable"));
  EXPECT_THAT(entry_offset(-static_cast<int64_t>(0x1000)), HasSubstr("executable"));

  v = Victim();
  const uint64_t at = v.file_offset(v.good.find_kernel("call")->descriptor_address) + 56;
  store<uint16_t>(v.bytes, at, static_cast<uint16_t>(*load<uint16_t>(v.bytes, at) | 1 << 10));
  EXPECT_THAT(refusal(v.bytes), HasSubstr("32 lanes"));
}

TEST(BadCodeObject, MetadataThatDisagrees) {
  Victim v;
  Json document = v.document();
  document["amdhsa.kernels"][0][".wavefront_size"] = 32;
  v.note(document);
  EXPECT_THAT(refusal(v.bytes), HasSubstr("wavefront size 32"));

  v = Victim();
  document = v.document();
  document["amdhsa.kernels"][0][".name"] = "gone";
  document["amdhsa.kernels"][0][".symbol"] = "no.kd";
  v.note(document);
  EXPECT_THAT(refusal(v.bytes), HasSubstr("no kernel descriptor 'no.kd'"));

  v = Victim();
  document = v.document();
  document["amdhsa.kernels"][1] = document["amdhsa.kernels"][0];
  document["amdhsa.kernels"][1].erase(".args");
  document["amdhsa.kernels"][0].erase(".args");
  v.note(document);
  EXPECT_THAT(refusal(v.bytes), HasSubstr("twice"));

  v = Victim();
  document = v.document();
  document["amdhsa.kernels"][0][".args"][1][".offset"] = 4;
  document["amdhsa.kernels"][0][".args"].erase(5); // same length or less
  v.note(document);
  EXPECT_THAT(refusal(v.bytes), HasSubstr("overlaps"));

  // What production objects contradict themselves in is no error.
  v = Victim();
  document = v.document();
  for (const char* key : {".vgpr_count", ".sgpr_count", ".kernarg_segment_size", ".group_segment_fixed_size"})
    document["amdhsa.kernels"][0][key] = 1;
  document["amdhsa.kernels"][1].erase(".args");
  document["amdhsa.kernels"].erase(1);
  v.note(document);
  EXPECT_EQ(refusal(v.bytes), "accepted");
}

TEST(BadCodeObject, Notes) {
  const auto with_header = [](uint32_t name, uint32_t contents, uint32_t type) {
    Victim v;
    const uint64_t at = v.good.sections()[*v.good.find_section(".note")].offset;
    store(v.bytes, at, name);
    store(v.bytes, at + 4, contents);
    store(v.bytes, at + 8, type);
    return v.bytes;
  };
  EXPECT_THAT(refusal(with_header(7, 0xffffffff, 32)), HasSubstr("note at offset"));
  EXPECT_THAT(refusal(with_header(0xffffffff, 16, 32)), HasSubstr("note at offset"));
  EXPECT_THAT(refusal(with_header(0xffffffff, 0xffffffff, 32)), HasSubstr("note at offset"));
  EXPECT_THAT(refusal(with_header(7, 40, 32)), HasSubstr("note at offset"));
  Victim v;
  std::ranges::copy(std::string_view("AMD\0\0\0\0", 7),
                    v.bytes.begin() + static_cast<std::ptrdiff_t>(v.good.metadata_note()->offset - 8));
  store<uint32_t>(v.bytes, v.good.metadata_note()->offset - 12, 10);
  EXPECT_THAT(refusal(v.bytes, ErrorKind::Unsupported), HasSubstr("V2"));
  v = Victim();
  v.bytes[v.good.metadata_note()->offset] = 0xc1;
  EXPECT_THAT(refusal(v.bytes), HasSubstr("not MessagePack"));
}

TEST(BadCodeObject, Relocations) {
  Victim v;
  const uint64_t at = v.good.sections()[*v.good.find_section(".rela.dyn")].offset;
  v.change<Elf64_Rela>(at, [](Elf64_Rela& r) { r.r_info = ELF64_R_INFO(uint64_t{0xffffff}, 3); });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("dynamic symbol"));
  v = Victim();
  v.change<Elf64_Rela>(at, [](Elf64_Rela& r) { r.r_offset = ~uint64_t{0}; });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("outside all sections"));
}

// A million symbols that all name the same long string.
TEST(BadCodeObject, NamesThatUnfoldToMoreThanTheFile) {
  Victim v;
  const size_t count = 200'000, length = 60'000;
  const uint64_t strings = align_up(v.bytes.size(), 8), symbols = align_up(strings + length + 1, 8);
  v.bytes.resize(symbols + count * sizeof(Elf64_Sym));
  std::fill_n(v.bytes.begin() + static_cast<std::ptrdiff_t>(strings), length, uint8_t{'x'});
  v.section(".strtab", [&](Elf64_Shdr& s) { s.sh_offset = strings, s.sh_size = length + 1; });
  v.section(".symtab", [&](Elf64_Shdr& s) { s.sh_offset = symbols, s.sh_size = count * sizeof(Elf64_Sym); });
  EXPECT_THAT(refusal(v.bytes), HasSubstr("larger than the file"));
}

} // namespace
} // namespace asmevo::codeobject
