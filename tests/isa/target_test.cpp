#include "isa/target.h"
#include "llvm_tools.h"

#include <gtest/gtest.h>

namespace asmevo::isa {
namespace {

TEST(Target, IdsRoundTrip) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"})
    for (const char* sramecc : {"", ":sramecc-", ":sramecc+"})
      for (const char* xnack : {"", ":xnack-", ":xnack+"}) {
        const std::string id = std::string(gpu) + sramecc + xnack;
        const auto target = Target::from_id(id);
        ASSERT_TRUE(target) << id;
        EXPECT_EQ(target->id(), id);
        EXPECT_EQ(target->triple_id(), "amdgcn-amd-amdhsa--" + id);
        EXPECT_EQ(*Target::from_id(target->triple_id()), *target);
        EXPECT_EQ(*Target::from_elf_flags(target->elf_flags()), *target);
      }
}

// e_flags as llvm-mc writes them for the same target id.
TEST(Target, ElfFlagsAsLlvmWritesThem) {
  const test::ScratchFolder folder;
  for (const char* id :
       {"gfx90a", "gfx90a:sramecc+:xnack-", "gfx942", "gfx942:sramecc-:xnack+", "gfx950", "gfx950:xnack-"}) {
    const Target target = *Target::from_id(id);
    const std::string source = fmt::format(".amdgcn_target \"{}\"\n.text\ns_endpgm\n", target.triple_id());
    std::string features;
    if (target.sramecc != Feature::Any) features += target.sramecc == Feature::On ? ",+sramecc" : ",-sramecc";
    if (target.xnack != Feature::Any) features += target.xnack == Feature::On ? ",+xnack" : ",-xnack";
    const std::string cpu =
        std::string(target.name()) + (features.empty() ? "" : " -mattr=" + features.substr(1));
    ASSERT_TRUE(test::assemble(source, cpu, folder / "o")) << test::text_of(folder / "o.err");
    const auto file = read_file(folder / "o");
    ASSERT_TRUE(file);
    EXPECT_EQ(load<uint32_t>(*file, offsetof(Elf64_Ehdr, e_flags)), target.elf_flags()) << id;
  }
}

TEST(Target, GenericIsReadAsGfx942AndKept) {
  const Target generic = *Target::from_id("gfx9-4-generic");
  EXPECT_EQ(generic.gfx, Gfx::gfx942);
  EXPECT_TRUE(generic.generic);
  EXPECT_EQ(generic.elf_flags() & 0xff, 0x5fU);
  EXPECT_EQ(*Target::from_elf_flags(generic.elf_flags()), generic);
}

TEST(Target, RefusesOthersByName) {
  EXPECT_NE(Target::from_id("gfx1100").error().message.find("gfx1100"), std::string::npos);
  EXPECT_EQ(Target::from_id("gfx1100").error().kind, ErrorKind::Unsupported);
  EXPECT_NE(Target::from_id("gfx942:wave32").error().message.find("wave32"), std::string::npos);
  EXPECT_EQ(Target::from_id("gfx942:xnack").error().kind, ErrorKind::BadInput);
  EXPECT_FALSE(Target::from_id(""));
  EXPECT_FALSE(Target::from_id("gfx942:"));
  EXPECT_FALSE(Target::from_id("gfx942::xnack+"));
  EXPECT_NE(Target::from_elf_flags(0x041).error().message.find("gfx1100"), std::string::npos);
  EXPECT_NE(Target::from_elf_flags(0x0ee).error().message.find("0xee"), std::string::npos);
}

TEST(Target, Limits) { // CDNA3 ISA 3.6.4; gfx950 has 160 KiB of LDS
  EXPECT_EQ(limits(*Target::from_id("gfx90a")).lds_bytes, 65536U);
  EXPECT_EQ(limits(*Target::from_id("gfx942")).lds_granule, 512U);
  EXPECT_EQ(limits(*Target::from_id("gfx950")).lds_bytes, 163840U);
  EXPECT_EQ(limits(*Target::from_id("gfx950")).lds_granule, 1280U);
  EXPECT_EQ(limits(*Target::from_id("gfx942")).max_vgprs, 512U);
  EXPECT_FALSE(Target::from_id("gfx90a")->architected_flat_scratch());
  EXPECT_TRUE(Target::from_id("gfx950")->architected_flat_scratch());
}

} // namespace
} // namespace asmevo::isa
