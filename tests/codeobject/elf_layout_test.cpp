#include "codeobject/elf_layout.h"
#include "codeobject/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <elf.h>

namespace asmevo::codeobject {
namespace {

CodeObject parsed(Bytes bytes) {
  auto object = CodeObject::parse(std::move(bytes));
  if (!object) throw std::runtime_error(object.error().message);
  return *std::move(object);
}

std::vector<uint64_t> sizes_of(const CodeObject& object) {
  std::vector<uint64_t> sizes;
  for (const Section& section : object.sections()) sizes.push_back(section.size);
  return sizes;
}

uint64_t distance_into_section(const CodeObject& object, uint64_t address) {
  const auto section = object.section_at(address);
  return section ? address - object.sections()[*section].address : address;
}

std::string section_of(const CodeObject& object, uint64_t address) {
  const auto section = object.section_at(address);
  return section ? object.sections()[*section].name : "none";
}

// Everything that names a place must name the same place of the same section in both objects. `grown` may
// differ in its tail.
void expect_same_but_moved(const CodeObject& k0, const CodeObject& now, const std::string& grown) {
  ASSERT_EQ(k0.sections().size(), now.sections().size());
  for (size_t i = 0; i < k0.sections().size(); ++i) {
    const Section &a = k0.sections()[i], &b = now.sections()[i];
    SCOPED_TRACE(a.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.alignment > 1 ? b.address % a.alignment : 0, a.alignment > 1 ? a.address % a.alignment : 0);
    if (a.name == ".comment" || a.type == SHT_STRTAB || a.type == SHT_HASH || a.type == SHT_GNU_HASH) {
      EXPECT_TRUE(std::ranges::equal(a.contents, b.contents));
    }
    if (a.name == grown && grown != ".rodata") { // descriptors are compared below
      EXPECT_TRUE(std::ranges::equal(a.contents.first(std::min(a.size, b.size)),
                                     b.contents.first(std::min(a.size, b.size))));
    }
  }
  for (const auto& [before, after] :
       {std::pair(&k0.symbols(), &now.symbols()), std::pair(&k0.dynamic_symbols(), &now.dynamic_symbols())}) {
    ASSERT_EQ(before->size(), after->size());
    for (size_t i = 0; i < before->size(); ++i) {
      const Symbol &a = (*before)[i], &b = (*after)[i];
      SCOPED_TRACE(a.name);
      EXPECT_EQ(std::tie(a.name, a.size, a.info, a.other, a.section),
                std::tie(b.name, b.size, b.info, b.other, b.section));
      if (a.section == SHN_UNDEF || a.section >= k0.sections().size()) {
        EXPECT_EQ(a.value, b.value);
      } else
        EXPECT_EQ(a.value - k0.sections()[a.section].address, b.value - now.sections()[b.section].address);
    }
  }
  ASSERT_EQ(k0.relocations().size(), now.relocations().size());
  for (size_t i = 0; i < k0.relocations().size(); ++i) {
    const Relocation &a = k0.relocations()[i], &b = now.relocations()[i];
    EXPECT_EQ(section_of(k0, a.address), section_of(now, b.address));
    EXPECT_EQ(distance_into_section(k0, a.address), distance_into_section(now, b.address));
    EXPECT_EQ(section_of(k0, static_cast<uint64_t>(a.addend)),
              section_of(now, static_cast<uint64_t>(b.addend)));
    EXPECT_EQ(distance_into_section(k0, static_cast<uint64_t>(a.addend)),
              distance_into_section(now, static_cast<uint64_t>(b.addend)));
  }
  ASSERT_EQ(k0.kernels().size(), now.kernels().size());
  for (size_t i = 0; i < k0.kernels().size(); ++i) {
    Kernel a = k0.kernels()[i], b = now.kernels()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(distance_into_section(k0, a.entry), distance_into_section(now, b.entry));
    a.descriptor.kernel_code_entry_byte_offset = b.descriptor.kernel_code_entry_byte_offset = 0;
    EXPECT_EQ(a.descriptor, b.descriptor);
  }
  EXPECT_EQ(k0.metadata()->document(), now.metadata()->document());
}

// llvm-readelf, which knows nothing of us, must read everything without a word on stderr; segments must be
// congruent.
void expect_well_formed(const CodeObject& object) {
  const auto path = samples::save("layout.co", object.bytes());
  const auto errors =
      samples::run(samples::llvm + "llvm-readelf -a -n " + path.string() + " 2>&1 >/dev/null");
  EXPECT_EQ(errors.code, 0);
  EXPECT_EQ(errors.output, "");
  for (const Segment& segment : object.segments())
    if (segment.type == PT_LOAD) {
      EXPECT_EQ((segment.offset - segment.address) % segment.alignment, 0U);
    }
}

// What .dynamic points to, by the name of the section.
std::vector<std::pair<int64_t, std::string>> dynamic_targets(const CodeObject& object) {
  std::vector<std::pair<int64_t, std::string>> targets;
  const Section& section = object.sections()[*object.find_section(".dynamic")];
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.size; at += sizeof(Elf64_Dyn)) {
    const auto entry = *load<Elf64_Dyn>(section.contents, at);
    if (entry.d_tag == DT_HASH || entry.d_tag == DT_STRTAB || entry.d_tag == DT_SYMTAB ||
        entry.d_tag == DT_RELA || entry.d_tag == DT_GNU_HASH)
      targets.emplace_back(entry.d_tag,
                           section_of(object, entry.d_un.d_ptr) +
                               fmt::format("+{}", distance_into_section(object, entry.d_un.d_ptr)));
    else
      targets.emplace_back(entry.d_tag, fmt::format("{}", entry.d_un.d_val));
  }
  return targets;
}

Bytes resized(const CodeObject& k0, size_t section, uint64_t size, uint8_t filler = 0) {
  auto sizes = sizes_of(k0);
  sizes[section] = size;
  auto layout = ElfLayout::plan(k0, sizes);
  EXPECT_TRUE(layout) << layout.error().message;
  if (!layout) return {};
  std::vector<Bytes> contents(sizes.size());
  const ByteSpan old = k0.sections()[section].contents;
  contents[section].assign(old.begin(),
                           old.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(old.size(), size)));
  contents[section].resize(size, filler);
  const Section& changes = k0.sections()[section];
  auto written = layout->write(contents, [&](uint64_t address) {
    const bool inside = address >= changes.address && address <= changes.address + changes.size;
    return inside ? layout->address(section) + (address - changes.address) : layout->moved(address);
  });
  EXPECT_TRUE(written) << written.error().message;
  return written ? *std::move(written) : Bytes();
}

std::vector<Bytes> sample_objects() {
  std::vector<Bytes> objects = {samples::assemble()};
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"}) objects.push_back(samples::compile(gpu, 5, 2));
  for (const int version : {4, 6}) objects.push_back(samples::compile("gfx942", version, 0));
  return objects;
}

TEST(ElfLayout, UnchangedIsK0ByteForByte) {
  for (const Bytes& bytes : sample_objects()) {
    const CodeObject k0 = parsed(bytes);
    const auto layout = ElfLayout::plan(k0, sizes_of(k0));
    ASSERT_TRUE(layout) << layout.error().message;
    EXPECT_EQ(layout->write({}, nullptr), bytes);
    // Also where every section's contents are given again.
    std::vector<Bytes> contents;
    for (const Section& section : k0.sections())
      contents.emplace_back(section.contents.begin(), section.contents.end());
    EXPECT_EQ(layout->write(contents, [&](uint64_t a) { return layout->moved(a); }), bytes);
  }
}

TEST(ElfLayout, EverySectionGrows) {
  for (const Bytes& bytes : sample_objects()) {
    const CodeObject k0 = parsed(bytes);
    for (size_t i = 0; i < k0.sections().size(); ++i) {
      const Section& section = k0.sections()[i];
      if ((section.type != SHT_PROGBITS && section.type != SHT_NOTE) || !section.allocated()) continue;
      if (section.type == SHT_NOTE) continue; // MetadataNoteGrows
      for (const uint64_t more : {4U, 64U, 256U, 0x700U, 0x1000U, 0x12345U}) {
        SCOPED_TRACE(fmt::format("{} {} + {:#x}", k0.target().id(), section.name, more));
        const CodeObject now = parsed(resized(k0, i, section.size + more, 0x5a));
        expect_same_but_moved(k0, now, section.name);
        EXPECT_EQ(dynamic_targets(k0), dynamic_targets(now));
        EXPECT_EQ(now.sections()[i].size, section.size + more);
        if (more == 64 || more == 0x12345U) expect_well_formed(now);
      }
    }
  }
}

TEST(ElfLayout, GrowthWithinAPageMovesNoAddress) {
  const CodeObject k0 = parsed(samples::assemble());
  const size_t text = *k0.find_section(".text"), dynamic = *k0.find_section(".dynamic");
  const CodeObject now = parsed(resized(k0, text, k0.sections()[text].size + 256));
  EXPECT_EQ(now.sections()[dynamic].address, k0.sections()[dynamic].address);
  EXPECT_GT(now.sections()[dynamic].offset, k0.sections()[dynamic].offset);
}

TEST(ElfLayout, MetadataNoteGrows) {
  for (const Bytes& bytes : sample_objects()) {
    const CodeObject k0 = parsed(bytes);
    const size_t note = *k0.find_section(".note");
    for (const uint64_t extra : {1U, 40U, 3000U, 9000U}) {
      // A new note with one kernel's name made longer, as a note of LLVM has it: header, owner, contents,
      // padding.
      auto document = k0.metadata()->document();
      document["amdhsa.filler"] = std::string(extra, 'x');
      std::vector<uint8_t> packed = nlohmann::ordered_json::to_msgpack(document);
      Bytes contents(k0.sections()[note].contents.begin(), k0.sections()[note].contents.begin() + 20);
      store<uint32_t>(contents, 4, static_cast<uint32_t>(packed.size()));
      append(contents, ByteSpan(packed));
      contents.resize(align_up(contents.size(), 4));
      auto sizes = sizes_of(k0);
      sizes[note] = contents.size();
      const auto layout = ElfLayout::plan(k0, sizes);
      ASSERT_TRUE(layout) << layout.error().message;
      std::vector<Bytes> all(sizes.size());
      all[note] = contents;
      auto written = layout->write(all, nullptr);
      ASSERT_TRUE(written) << written.error().message;
      const CodeObject now = parsed(*std::move(written));
      expect_well_formed(now);
      EXPECT_EQ(now.metadata()->document()["amdhsa.filler"], std::string(extra, 'x'));
      EXPECT_EQ(dynamic_targets(k0), dynamic_targets(now));
      for (size_t i = 0; i < k0.kernels().size(); ++i) {
        EXPECT_EQ(distance_into_section(k0, k0.kernels()[i].entry),
                  distance_into_section(now, now.kernels()[i].entry));
      }
      for (const char* kept : {".text", ".rodata"}) {
        EXPECT_EQ(now.sections()[*now.find_section(kept)].size, k0.sections()[*k0.find_section(kept)].size);
      }
    }
  }
}

// .bss alone in a segment keeps its file offset when others move past it; the result must be good for another
// growth.
TEST(ElfLayout, GrownObjectsGrowAgain) {
  for (Bytes bytes : sample_objects())
    for (int round = 0; round < 3; ++round) {
      const CodeObject object = CodeObject::parse(bytes).value();
      const size_t text = object.find_section(".text").value();
      bytes = resized(object, text, object.sections()[text].size + 0x1100);
      ASSERT_FALSE(bytes.empty());
      ASSERT_TRUE(CodeObject::parse(bytes));
    }
}

TEST(ElfLayout, ShrinkingMovesNothing) {
  const CodeObject k0 = parsed(samples::compile());
  const size_t text = *k0.find_section(".text");
  const Bytes bytes = resized(k0, text, k0.sections()[text].size - 16);
  EXPECT_EQ(bytes.size(), k0.bytes().size());
  const CodeObject now = parsed(bytes);
  EXPECT_EQ(now.sections()[text].size, k0.sections()[text].size - 16);
  for (size_t i = 0; i < k0.sections().size(); ++i) {
    EXPECT_EQ(k0.sections()[i].address, now.sections()[i].address);
  }
  expect_well_formed(now);
}

TEST(ElfLayout, InsertedBytesMoveWhatFollows) {
  const CodeObject k0 = parsed(samples::compile());
  const size_t text = *k0.find_section(".text");
  const Section& section = k0.sections()[text];
  // 0x200 bytes before the second kernel.
  const uint64_t at = k0.kernels()[1].entry, more = 0x200;
  auto sizes = sizes_of(k0);
  sizes[text] += more;
  const auto layout = ElfLayout::plan(k0, sizes);
  ASSERT_TRUE(layout) << layout.error().message;
  std::vector<Bytes> contents(sizes.size());
  contents[text].assign(section.contents.begin(), section.contents.end());
  contents[text].insert(contents[text].begin() + static_cast<std::ptrdiff_t>(at - section.address), more, 0);
  auto written = layout->write(contents, [&](uint64_t address) {
    const bool after = address >= at && address <= section.address + section.size;
    return after ? layout->address(text) + (address - section.address) + more : layout->moved(address);
  });
  ASSERT_TRUE(written) << written.error().message;
  const CodeObject now = parsed(*std::move(written));
  expect_well_formed(now);
  EXPECT_EQ(now.kernels()[0].entry, k0.kernels()[0].entry);
  EXPECT_EQ(now.kernels()[1].entry, at + more);
  for (size_t i = 0; i < k0.symbols().size(); ++i)
    if (k0.symbols()[i].section == text) {
      EXPECT_EQ(now.symbols()[i].value, k0.symbols()[i].value + (k0.symbols()[i].value >= at ? more : 0))
          << k0.symbols()[i].name;
    }
  // The disassembler finds both kernels' code under their names as before.
  const auto listing = [](const CodeObject& object) {
    return samples::run(
               samples::llvm +
               "llvm-objdump -d --no-leading-addr --no-show-raw-insn --disassemble-symbols=call,turn " +
               samples::save("inserted.co", object.bytes()).string() + " | grep -v file")
        .output;
  };
  const auto instructions = [&](const CodeObject& object) {
    std::string text_of = listing(object), lines;
    for (size_t begin = 0, end; (end = text_of.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = text_of.substr(begin, end - begin);
      if (line.starts_with('\t') && line.find("s_nop") == std::string::npos &&
          line.find("...") == std::string::npos)
        lines += line.substr(0, line.find("//")) + "\n";
    }
    return lines;
  };
  EXPECT_GT(instructions(k0).size(), 500U);
  // (`call` loads addresses of data relative to its own pc, which did not move.)
  EXPECT_EQ(instructions(k0), instructions(now));
}

TEST(ElfLayout, BytesBetweenSectionsAreKept) {
  Bytes bytes = samples::compile();
  const CodeObject plain = parsed(bytes);
  const Section& rodata = plain.sections()[*plain.find_section(".rodata")];
  const Section& text = plain.sections()[*plain.find_section(".text")];
  ASSERT_GT(text.offset, rodata.offset + rodata.size + 8);
  store<uint64_t>(bytes, rodata.offset + rodata.size, 0x1122334455667788);
  bytes.push_back(0x77); // and after everything
  const CodeObject k0 = parsed(bytes);
  EXPECT_EQ(ElfLayout::plan(k0, sizes_of(k0))->write({}, nullptr), bytes);
  for (const char* grows : {".rodata", ".text", ".data"}) {
    const size_t index = *k0.find_section(grows);
    const Bytes now = resized(k0, index, k0.sections()[index].size + 0x900);
    std::array<uint8_t, 8> mark{};
    store<uint64_t>(mark, 0, 0x1122334455667788);
    EXPECT_FALSE(std::ranges::search(now, mark).empty()) << grows;
    EXPECT_EQ(now.back(), 0x77) << grows;
    expect_same_but_moved(k0, parsed(now), grows);
  }
}

TEST(ElfLayout, RefusesWhatItCannotDo) {
  const CodeObject k0 = parsed(samples::compile());
  const auto refused = [&](const char* section, uint64_t size) {
    auto sizes = sizes_of(k0);
    sizes[*k0.find_section(section)] = size;
    const auto layout = ElfLayout::plan(k0, sizes);
    return layout ? std::string() : layout.error().message;
  };
  EXPECT_THAT(refused(".dynsym", 48), testing::HasSubstr(".dynsym"));
  EXPECT_THAT(refused(".bss", 48), testing::HasSubstr(".bss"));
  EXPECT_THAT(refused(".text", uint64_t{1} << 40), testing::HasSubstr("too many"));
  EXPECT_THAT(refused(".text", ~uint64_t{0}), testing::HasSubstr("too many"));
  EXPECT_FALSE(ElfLayout::plan(k0, {}));
  // Contents of another size than planned.
  const auto layout = ElfLayout::plan(k0, sizes_of(k0));
  std::vector<Bytes> contents(k0.sections().size());
  contents[*k0.find_section(".text")] = Bytes(12);
  EXPECT_FALSE(layout->write(contents, nullptr));
}

TEST(ElfLayout, AiterObjects) {
  size_t same = 0;
  const auto files = samples::aiter_objects();
  for (const auto& file : files) {
    const CodeObject k0 = parsed(samples::read(file));
    const auto layout = ElfLayout::plan(k0, sizes_of(k0));
    ASSERT_TRUE(layout) << file;
    const auto written = layout->write({}, nullptr);
    ASSERT_TRUE(written && std::ranges::equal(*written, k0.bytes())) << file;
    const size_t text = *k0.find_section(".text");
    for (const uint64_t more : {0x40U, 0x1800U}) {
      SCOPED_TRACE(file.string());
      const CodeObject now = parsed(resized(k0, text, k0.sections()[text].size + more));
      expect_same_but_moved(k0, now, ".text");
      EXPECT_EQ(dynamic_targets(k0), dynamic_targets(now));
      if (same % 200 == 0) expect_well_formed(now);
    }
    ++same;
  }
  fmt::print("{} AITer objects laid out\n", same);
  EXPECT_EQ(same, files.size());
}

} // namespace
} // namespace asmevo::codeobject
