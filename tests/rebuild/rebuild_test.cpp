#include "codeobject/abi_diff.h"
#include "codeobject/samples.h"
#include "rebuild/rebuild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asmevo::rebuild {
namespace {

using program::Edit;
using program::InstrId;
using ::testing::HasSubstr;

class RebuildPlain : public ::testing::Test {
 protected:
  // Offsets: 0 s_load, 8 v_lshlrev, c s_waitcnt, 10 global_load, 18 s_waitcnt, 1c v_add, 20 global_store, 28
  // s_endpgm
  std::unique_ptr<isa::Codec> codec = isa::Codec::create(isa::Target::from_id("gfx942").value()).value();
  Original k0 = Original::open(samples::assemble(), *codec).value();

  Edit edit(const std::string& first, const std::string& last, std::string text) const {
    Edit e;
    e.kernel = "plain";
    e.changes.push_back({InstrId::parse(first), InstrId::parse(last), {}, std::move(text)});
    return e;
  }
  Result<Built> apply(const Edit& e) { return apply_edit(k0, k0.program(), e, 1, *codec); }
  // The descriptor and metadata of the only kernel.
  static std::pair<codeobject::KernelDescriptor, codeobject::KernelMetadata> read(const Built& built) {
    const auto object = codeobject::CodeObject::parse(built.object).value();
    return {object.kernels()[0].descriptor, object.metadata()->kernels().value()[0]};
  }
};

TEST_F(RebuildPlain, NoEditGivesTheSameFile) {
  const auto built = rebuild(k0, k0.program(), "", {});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_TRUE(std::ranges::equal(built->object, k0.object.bytes()));
}

TEST_F(RebuildPlain, AnEditThatWritesTheSameTextGivesTheSameFile) {
  const auto built = apply(edit("1c", "20", "v_add_u32_e32 v2, 1, v2\nglobal_store_dword v1, v2, s[2:3]"));
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_TRUE(std::ranges::equal(built->object, k0.object.bytes()));
  EXPECT_TRUE(built->resources.empty());
}

TEST_F(RebuildPlain, MoreVgprsGrowDescriptorAndMetadata) {
  const auto built = apply(edit("1c", "1c", "v_mov_b32_e32 v100, v2\nv_add_u32_e32 v2, 1, v100"));
  ASSERT_TRUE(built) << built.error().message;
  const auto [descriptor, metadata] = read(*built);
  const isa::Target target = k0.object.target();
  EXPECT_EQ(codeobject::allocated_vgprs(descriptor, target), 104U);
  EXPECT_EQ(metadata.vgpr_count, 104U);
  const auto now = codeobject::CodeObject::parse(built->object).value();
  EXPECT_TRUE(codeobject::abi_diff(k0.object, now).compatible());
  // What llvm-readelf thinks of the grown file: no complaint.
  const auto path = samples::save("grown.co", built->object);
  const samples::Run listing = samples::run(samples::llvm + "llvm-readelf -a " + path.string());
  EXPECT_EQ(listing.code, 0);
  EXPECT_THAT(listing.output, ::testing::Not(HasSubstr("warning")));
}

TEST_F(RebuildPlain, AgprsComeBehindTheVgprs) {
  const auto built =
      apply(edit("1c", "1c", "v_accvgpr_write_b32 a9, v2\nv_accvgpr_read_b32 v2, a9\nv_mov_b32_e32 v20, v2"));
  ASSERT_TRUE(built) << built.error().message;
  const auto [descriptor, metadata] = read(*built);
  EXPECT_EQ(codeobject::accum_offset(descriptor, k0.object.target()), 24U);    // v0..v20
  EXPECT_EQ(codeobject::allocated_vgprs(descriptor, k0.object.target()), 40U); // 24 + 10, in granules of 8
}

TEST_F(RebuildPlain, MoreSgprsGrow) {
  const auto built = apply(edit("c", "c", "s_waitcnt lgkmcnt(0)\ns_mov_b32 s70, 1"));
  ASSERT_TRUE(built) << built.error().message;
  const auto [descriptor, metadata] = read(*built);
  EXPECT_GE(codeobject::allocated_sgprs(descriptor, k0.object.target()), 77U); // s0..s70 and 6
  EXPECT_EQ(metadata.sgpr_count, 77U);
}

TEST_F(RebuildPlain, RegistersShrinkOnlyWhenAsked) {
  Edit grow = edit("1c", "1c", "v_mov_b32_e32 v100, v2\nv_add_u32_e32 v2, 1, v100");
  const auto grown = apply(grow);
  ASSERT_TRUE(grown);
  const Original big = Original::open(grown->object, *codec).value();
  // v100 goes again: the allocation stays ...
  Edit back;
  back.kernel = "plain";
  back.changes.push_back({InstrId::parse("1c"), InstrId::parse("20"), {}, "v_add_u32_e32 v2, 1, v2"});
  const auto kept = apply_edit(big, big.program(), back, 2, *codec);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(codeobject::allocated_vgprs(read(*kept).first, k0.object.target()), 104U);
  // ... unless the edit asks.
  back.resources.shrink_vgprs = true;
  const auto shrunk = apply_edit(big, big.program(), back, 2, *codec);
  ASSERT_TRUE(shrunk) << shrunk.error().message;
  EXPECT_EQ(codeobject::allocated_vgprs(read(*shrunk).first, k0.object.target()), 8U);
  EXPECT_EQ(read(*shrunk).second.vgpr_count, 8U);
}

TEST_F(RebuildPlain, LdsFollowsTheRequest) {
  Edit e = edit("1c", "1c", "v_add_u32_e32 v2, 1, v2");
  e.resources.lds_bytes = 4096;
  const auto built = apply(e);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(read(*built).first.group_segment_fixed_size, 4096U);
  EXPECT_EQ(read(*built).second.group_segment_fixed_size, 4096U);
  e.resources.lds_bytes = 65537;
  EXPECT_THAT(apply(e).error().message, HasSubstr("65537 bytes of LDS"));
}

TEST_F(RebuildPlain, ScratchNeedsAPrivateSegment) {
  EXPECT_THAT(apply(edit("1c", "1c", "scratch_store_dword off, v2, s0")).error().message,
              HasSubstr("private segment"));
  Edit e = edit("1c", "1c", "v_add_u32_e32 v2, 1, v2");
  e.resources.scratch_bytes = 16;
  EXPECT_THAT(apply(e).error().message, HasSubstr("private segment"));
}

TEST_F(RebuildPlain, RegistersPastTheFileAreRefusedByTheAssemblerOrHere) {
  EXPECT_FALSE(apply(edit("1c", "1c", "v_mov_b32_e32 v256, v2")));
  const auto built = apply(edit("1c", "1c", "v_mov_b32_e32 v255, v2\nv_accvgpr_write_b32 a255, v2"));
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(codeobject::allocated_vgprs(read(*built).first, k0.object.target()), 512U);
}

TEST_F(RebuildPlain, CodeThatGrowsByPagesKeepsEveryAddress) {
  std::string text;
  for (int k = 0; k < 3000; ++k) text += "v_add_u32_e32 v2, 1, v2\n";
  Edit e = edit("1c", "1c", text.substr(0, 60000));
  e.changes[0].text = text.substr(0, text.find_last_of('\n', 60000) + 1);
  const auto built = apply(e);
  ASSERT_TRUE(built) << built.error().message;
  const auto now = Original::open(built->object, *codec);
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_EQ(now->program().entries.size(), built->program.entries.size());
  EXPECT_TRUE(codeobject::abi_diff(k0.object, now->object).compatible());
}

TEST(Rebuild, EditsOfADeviceFunctionGrowItsCallers) {
  const auto codec = isa::Codec::create(isa::Target::from_id("gfx90a").value()).value();
  const Original k0 = Original::open(samples::compile("gfx90a", 5, 3), *codec).value();
  const program::Function* callee = nullptr;
  for (const program::Function& f : k0.program().functions)
    if (f.name.find("triple") != std::string::npos) callee = &f;
  ASSERT_NE(callee, nullptr);
  Edit e;
  e.kernel = callee->name;
  e.changes.push_back({{}, {}, k0.program().entries[callee->begin].id, "v_mov_b32_e32 v90, 0"});
  const auto built = apply_edit(k0, k0.program(), e, 1, *codec);
  ASSERT_TRUE(built) << built.error().message;
  const auto now = codeobject::CodeObject::parse(built->object).value();
  // "call" reaches it through a table of function pointers, "turn" calls nothing.
  EXPECT_GE(codeobject::allocated_vgprs(now.find_kernel("call")->descriptor, now.target()), 91U);
  EXPECT_EQ(now.find_kernel("turn")->descriptor.compute_pgm_rsrc1,
            k0.object.find_kernel("turn")->descriptor.compute_pgm_rsrc1);
}

} // namespace
} // namespace asmevo::rebuild
