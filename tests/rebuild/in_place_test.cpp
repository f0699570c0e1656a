#include "codeobject/samples.h"
#include "rebuild/in_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asmevo::rebuild {
namespace {

using program::Edit;
using program::InstrId;
using ::testing::HasSubstr;

// `source` with an address computed in a way recovery does not follow, so that code must not move.
std::string with_unknown_address() {
  std::string source(samples::asm_source);
  const std::string_view place = "label_0008:\n";
  return source.replace(source.find(place), place.size(),
                        "label_0008:\n  s_getpc_b64 s[4:5]\n  s_mov_b32 s6, s4\n");
}

class InPlace : public ::testing::Test {
 protected:
  std::unique_ptr<isa::Codec> codec = isa::Codec::create(isa::Target::from_id("gfx942").value()).value();
  Original k0 = Original::open(samples::assemble(with_unknown_address()), *codec).value();
  // 1c s_getpc, 20 s_mov, 24 v_add, 28 global_store, 30 s_endpgm

  Result<Built> apply(const std::string& first, const std::string& last, std::string text) {
    Edit e;
    e.kernel = "plain";
    e.changes.push_back({InstrId::parse(first), InstrId::parse(last), {}, std::move(text)});
    return apply_edit(k0, k0.program(), e, 1, *codec);
  }
};

TEST_F(InPlace, RecoveryNamesTheGap) {
  ASSERT_EQ(k0.recovery.gaps.size(), 1U);
  EXPECT_EQ(k0.recovery.gaps[0].offset, 0x1cU);
}

TEST_F(InPlace, SameLengthOnlyChangesThoseBytes) {
  const auto built = apply("24", "24", "v_add_u32_e32 v2, 2, v2");
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->route, BuiltBy::InPlace);
  size_t changed = 0;
  for (size_t k = 0; k < built->object.size(); ++k)
    changed += built->object[k] != k0.object.bytes()[k] ? 1 : 0;
  EXPECT_GE(changed, 1U);
  EXPECT_LE(changed, 4U);
}

TEST_F(InPlace, ShorterIsPaddedWithNops) {
  const auto built = apply("24", "28", "v_add_u32_e32 v2, 2, v2");
  ASSERT_TRUE(built) << built.error().message;
  const Original now = Original::open(built->object, *codec).value();
  ASSERT_EQ(now.program().entries.size(), k0.program().entries.size() + 1);
  EXPECT_EQ(codec->print(now.program().instruction(*now.program().find(InstrId{0, 0x28}))), "s_nop 0");
  EXPECT_EQ(codec->print(now.program().instruction(*now.program().find(InstrId{0, 0x2c}))), "s_nop 0");
  EXPECT_EQ(codec->print(now.program().instruction(*now.program().find(InstrId{0, 0x30}))), "s_endpgm");
}

TEST_F(InPlace, RefusesWhatDoesNotFit) {
  EXPECT_THAT(apply("24", "24", "v_add_u32_e32 v2, 2, v2\ns_nop 0").error().message, HasSubstr("longer"));
  EXPECT_THAT(apply("24", "24", "v_mov_b32_e32 v100, v2").error().message, HasSubstr("would need"));
}

TEST_F(InPlace, RefusesInsertionsAndResources) {
  Edit e;
  e.kernel = "plain";
  e.changes.push_back({{}, {}, InstrId{0, 0x24}, "s_nop 0"});
  EXPECT_THAT(apply_edit(k0, k0.program(), e, 1, *codec).error().message, HasSubstr("longer"));
  e.changes = {{InstrId{0, 0x24}, InstrId{0, 0x24}, {}, "v_add_u32_e32 v2, 2, v2"}};
  e.resources.lds_bytes = 64;
  EXPECT_THAT(apply_edit(k0, k0.program(), e, 1, *codec).error().message,
              HasSubstr("resources cannot change"));
}

TEST_F(InPlace, BranchesIntoTheReplacementStayRight) {
  const auto built = apply("24", "28", "s_branch done\nv_nop\ndone:");
  ASSERT_TRUE(built) << built.error().message;
  const Original now = Original::open(built->object, *codec).value();
  const auto branch = *now.program().find(InstrId{0, 0x24});
  // The label stands behind the last line, hence at the next instruction of K0, behind the filler.
  EXPECT_EQ(now.program().entries[now.program().branch_target(branch)].id.n, 0x30U);
}

TEST_F(InPlace, CodeObjectV3IsPatchedOnly) {
  Bytes v3 = samples::assemble();
  v3[8] = 1;                                 // EI_ABIVERSION of V3
  store(std::span(v3), 48, uint32_t{0x04c}); // V3 has other feature bits: none set
  const auto object = codeobject::CodeObject::parse(v3);
  ASSERT_TRUE(object) << object.error().message;
  ASSERT_EQ(object->version(), 3U);
  const Original old = Original::open(v3, *codec).value();
  Edit e;
  e.kernel = "plain";
  e.changes = {{InstrId{0, 0x1c}, InstrId{0, 0x1c}, {}, "v_add_u32_e32 v2, 2, v2"}};
  const auto built = apply_edit(old, old.program(), e, 1, *codec);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->route, BuiltBy::InPlace);
}

} // namespace
} // namespace asmevo::rebuild
