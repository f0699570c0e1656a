// Small kernels whose kernarg segment nothing describes: what inference makes of their instructions.
#include "emulator/assembled_kernel.h"
#include "infer/infer.h"
#include "infer/probe.h"
#include "oracle/launch_run.h"

#include <gmock/gmock.h>

namespace asmevo::infer {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::shared_ptr<const codeobject::CodeObject> object_of(std::string_view body,
                                                        const emulator::KernelOptions& o) {
  auto parsed = codeobject::CodeObject::parse(emulator::assemble_kernel(body, o));
  return std::make_shared<const codeobject::CodeObject>(std::move(parsed).value());
}

// v1 is 4 * work-item id; the pointers at bytes 0 and 8 are in s[4:5] and s[6:7], bytes 16 to 23 in s[8:9].
std::string with_arguments(std::string_view body) {
  return fmt::format(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
{}
  s_endpgm)",
                     body);
}

Inference inferred(std::string_view body, InferOptions options = {}, emulator::KernelOptions kernel = {}) {
  kernel.kernarg_bytes = 24;
  options.workgroup = {64, 1, 1};
  return infer_launch(object_of(with_arguments(body), kernel), options).value();
}

constexpr std::string_view scale = R"(
  v_cmp_gt_u32_e32 vcc, s9, v0
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz end
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_mul_f32_e32 v2, s8, v2
  global_store_dword v1, v2, s[6:7]
end:)";

TEST(InferKernels, FindsPointersAndFloatsInABlob) {
  const Inference i = inferred(scale);
  ASSERT_EQ(i.arguments.size(), 4U);
  EXPECT_TRUE(i.arguments[0].field.pointer);
  EXPECT_EQ(i.arguments[0].role, oracle::Role::In);
  EXPECT_EQ(i.arguments[0].dtype, "f32");
  EXPECT_EQ(i.arguments[0].confidence, Confidence::High);
  EXPECT_TRUE(i.arguments[1].field.pointer);
  EXPECT_EQ(i.arguments[1].role, oracle::Role::Out);
  EXPECT_EQ(i.arguments[1].dtype, "f32");
  EXPECT_EQ(i.arguments[2].dtype, "f32");
  EXPECT_EQ(i.arguments[2].field.offset, 16U);
  EXPECT_EQ(i.arguments[3].dtype, "i32");
  EXPECT_FALSE(i.arguments[3].field.pointer);
  EXPECT_THAT(i.arguments[0].evidence, Contains(HasSubstr("not declared as one: base of global_load_dword")));
}

TEST(InferKernels, ExtentsFollowTheScalarThatIsGiven) {
  for (const int n : {1, 33, 64}) {
    const Inference i = inferred(scale, {.kernel = {},
                                         .grid = {{1, 1, 1}},
                                         .workgroup = {},
                                         .values = {{"kernarg_14", fmt::format("{}", n)}}});
    EXPECT_EQ(i.arguments[0].bytes(), 4U * n);
    EXPECT_EQ(i.arguments[1].bytes(), 4U * n);
    EXPECT_EQ(i.arguments[3].value, fmt::format("{}", n));
  }
}

TEST(InferKernels, WhatIsReadBeforeItIsWrittenIsInOut) {
  const Inference i = inferred(R"(
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v2, 1.0, v2
  global_store_dword v1, v2, s[4:5]
  global_store_dword v1, v2, s[6:7]
  s_waitcnt vmcnt(0)
  global_load_dword v3, v1, s[6:7]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v3, s[6:7] offset:256)");
  EXPECT_EQ(i.arguments[0].role, oracle::Role::InOut);
  EXPECT_EQ(i.arguments[1].role, oracle::Role::Out);
  EXPECT_EQ(i.arguments[1].bytes(), 512U);
}

TEST(InferKernels, AtomicsUpdate) {
  const Inference i = inferred(R"(
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v3, 0
  global_atomic_add_f32 v3, v2, s[6:7])");
  EXPECT_EQ(i.arguments[1].role, oracle::Role::InOut);
  EXPECT_TRUE(i.arguments[1].atomic);
  EXPECT_EQ(i.arguments[1].dtype, "f32");
  EXPECT_EQ(i.arguments[1].bytes(), 4U);
}

// Rounding by integer instructions, and a buffer resource made of a pointer and constants.
TEST(InferKernels, Bf16BeforeThereWereInstructionsForIt) {
  const Inference i = inferred(R"(
  s_and_b32 s5, s5, 0xffff
  s_mov_b32 s18, 0x1000
  s_mov_b32 s19, 0x20000
  s_mov_b32 s16, s4
  s_mov_b32 s17, s5
  s_movk_i32 s20, 0x7fff
  v_lshlrev_b32_e32 v4, 1, v0
  buffer_load_ushort v2, v4, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  v_lshlrev_b32_e32 v2, 16, v2
  v_add_f32_e32 v2, v2, v2
  v_bfe_u32 v3, v2, 16, 1
  v_add3_u32 v3, v2, v3, s20
  global_store_short_d16_hi v4, v3, s[6:7])");
  EXPECT_EQ(i.arguments[0].dtype, "bf16");
  EXPECT_EQ(i.arguments[0].role, oracle::Role::In);
  EXPECT_EQ(i.arguments[1].dtype, "bf16");
  EXPECT_EQ(i.arguments[1].bytes(), 128U);
}

TEST(InferKernels, FollowsValuesThroughLdsAndLanes) {
  emulator::KernelOptions kernel;
  kernel.lds_bytes = 512;
  const Inference i = inferred(R"(
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  v_mov_b32_dpp v3, v3 row_shr:1 row_mask:0xf bank_mask:0xf
  v_cvt_f32_f16_e32 v4, v3
  v_cvt_f16_f32_e32 v4, v4
  v_lshlrev_b32_e32 v5, 1, v0
  global_store_short v5, v4, s[6:7])",
                               {}, kernel);
  EXPECT_EQ(i.arguments[0].dtype, "f16");
  EXPECT_EQ(i.arguments[1].dtype, "f16");
}

// op_sel_hi 0: the lower scalar of the pair, twice; the upper one is an integer.
TEST(InferKernels, PackedInstructionsTakeWhatOpSelSays) {
  const Inference i = inferred(R"(
  v_cvt_f32_u32_e32 v2, s9
  v_mov_b32_e32 v3, v2
  v_pk_mul_f32 v[4:5], v[2:3], s[8:9] op_sel_hi:[1,0]
  v_lshlrev_b32_e32 v6, 3, v0
  global_store_dwordx2 v6, v[4:5], s[6:7])");
  const auto& scalars = i.arguments;
  ASSERT_GE(scalars.size(), 2U);
  EXPECT_EQ(scalars[scalars.size() - 2].dtype, "f32");
  EXPECT_EQ(scalars[scalars.size() - 1].dtype, "u32");
}

// A value that a loop leaves in some lanes, while others still hold what was there before.
TEST(InferKernels, LanesThatALoopLeftAloneSayNothing) {
  const Inference i = inferred(R"(
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_lshlrev_b32_e32 v3, 2, v2
  v_mov_b32_e32 v2, 0
  v_cmp_gt_u32_e32 vcc, 32, v0
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v2, 1.0
  s_mov_b64 exec, s[10:11]
  v_add_f32_e32 v2, v2, v2
  global_store_dword v3, v2, s[6:7])");
  EXPECT_EQ(i.arguments[0].dtype, "i32");
  EXPECT_TRUE(i.arguments[0].index);
}

TEST(InferKernels, IndexBuffersAreNamed) {
  const Inference i = inferred(R"(
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_lshlrev_b32_e32 v2, 2, v2
  v_mov_b32_e32 v3, 1.0
  global_store_dword v2, v3, s[6:7])");
  EXPECT_TRUE(i.arguments[0].index);
  EXPECT_EQ(i.arguments[0].dtype, "i32");
  EXPECT_EQ(i.arguments[1].placed_by, std::vector{i.arguments[0].field.name});
  EXPECT_EQ(i.arguments[1].role, oracle::Role::InOut) << "not all of it need be written";
  EXPECT_NE(i.arguments[1].confidence, Confidence::High);
  EXPECT_EQ(i.arguments[1].bytes(), 256U) << "indices 0 to 63";
}

// A float, bytes 16 to 19, doubled into as many elements as bytes 20 to 23 say.
constexpr std::string_view fill = R"(
  v_mov_b32_e32 v2, s2
  v_lshl_add_u32 v2, v2, 6, v0
  v_cmp_gt_u32_e32 vcc, s9, v2
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v3, 0
  v_lshlrev_b64 v[2:3], 2, v[2:3]
  v_mov_b32_e32 v4, s8
  v_add_f32_e32 v4, v4, v4
  v_mov_b32_e32 v5, s7
  v_add_co_u32_e32 v2, vcc, s6, v2
  v_addc_co_u32_e32 v3, vcc, v5, v3, vcc
  global_store_dword v[2:3], v4, off)";

Inference filled(std::map<std::string, std::string> values,
                 std::optional<std::array<uint64_t, 3>> grid = {}) {
  return inferred(fill, {.kernel = {}, .grid = grid, .workgroup = {}, .values = std::move(values)});
}

const InferredArgument& argument(const Inference& i, std::string_view name) {
  const auto at =
      std::ranges::find_if(i.arguments, [&](const InferredArgument& a) { return a.field.name == name; });
  EXPECT_NE(at, i.arguments.end()) << name;
  return at == i.arguments.end() ? i.arguments.front() : *at;
}

TEST(InferKernels, GridGrowsWhileWorkgroupsWriteMore) {
  const Inference i = filled({{"kernarg_14", "256"}});
  EXPECT_EQ(i.grid, (std::array<uint64_t, 3>{4, 1, 1}));
  const auto out =
      std::ranges::find_if(i.arguments, [](const InferredArgument& a) { return a.field.pointer; });
  ASSERT_NE(out, i.arguments.end());
  EXPECT_EQ(out->bytes(), 1024U);
}

// Also where that are more workgroups than can be run.
TEST(InferKernels, GridFollowsLargeScalars) {
  for (const auto& [given, workgroups] : std::map<std::string, uint64_t>{
           {"1025", 17}, {"5000", 79}, {"65536", 1024}, {"1000000007", 15'625'001}}) {
    const Inference i = filled({{"kernarg_14", given}});
    EXPECT_EQ(i.grid, (std::array<uint64_t, 3>{workgroups, 1, 1})) << given;
    EXPECT_EQ(argument(i, "kernarg_8").bytes(), 4 * std::stoull(given)) << given;
    EXPECT_THAT(i.missing, ::testing::Not(Contains(HasSubstr("grid x")))) << given;
  }
  const Inference all = filled({{"kernarg_14", "0xffffffff"}});
  EXPECT_EQ(all.grid, (std::array<uint64_t, 3>{2, 1, 1}));
  EXPECT_THAT(all.missing, Contains(HasSubstr("grid x: no scalar bounds it")));
}

// Where nobody gave a size that makes it so large, the grid stays small, and the draft says why. There are
// 4,096 times as many elements as bytes 20 to 23 say.
TEST(InferKernels, LargeGridsAreForWhomAsksForThem) {
  const auto body = [](unsigned shift) {
    return fmt::format(R"(
  v_mov_b32_e32 v2, s2
  v_lshl_add_u32 v2, v2, 6, v0
  s_lshl_b32 s9, s9, {}
  v_cmp_gt_u32_e32 vcc, s9, v2
  s_and_saveexec_b64 s[10:11], vcc
  v_lshlrev_b32_e32 v2, 2, v2
  v_mov_b32_e32 v4, 1.0
  global_store_dword v2, v4, s[6:7])",
                       shift);
  };
  const Inference i = inferred(body(12));
  EXPECT_EQ(i.grid, (std::array<uint64_t, 3>{2, 1, 1}));
  EXPECT_EQ(argument(i, "kernarg_14").value, "64");
  EXPECT_THAT(i.missing,
              Contains(HasSubstr("grid x: with these scalars 4096 workgroups have something to do, not 2")));
  InferOptions options;
  options.values = {{"kernarg_14", "3"}};
  EXPECT_EQ(inferred(body(12), options).grid, (std::array<uint64_t, 3>{192, 1, 1}));
  const Inference just = inferred(body(4)); // 64 * 16 elements
  EXPECT_EQ(just.grid, (std::array<uint64_t, 3>{16, 1, 1}));
  EXPECT_THAT(just.missing, ::testing::Not(Contains(HasSubstr("grid x"))));
}

// Each workgroup writes 4 KiB further, in 32 bits: after 2^20 of them from the beginning again, which is no
// bound.
TEST(InferKernels, PlacesThatComeRoundBoundNothing) {
  const Inference i = inferred(R"(
  v_mov_b32_e32 v2, s2
  v_lshl_add_u32 v2, v2, 12, v1
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v4, 1.0
  v_mov_b32_e32 v5, s7
  v_add_co_u32_e32 v2, vcc, s6, v2
  v_addc_co_u32_e32 v3, vcc, v5, v3, vcc
  global_store_dword v[2:3], v4, off)");
  EXPECT_EQ(i.grid, (std::array<uint64_t, 3>{2, 1, 1}));
  EXPECT_THAT(i.missing, Contains(HasSubstr("grid x: no scalar bounds it")));
}

// A probe runs so many workgroups, whatever the grid.
TEST(InferKernels, HugeGridsAreProbedAtSomeWorkgroups) {
  const Inference i = filled({{"kernarg_14", "0xffffffff"}}, {{uint64_t{1} << 26, 4'000'000'000, 1}});
  EXPECT_EQ(i.sample.size(), most_probed_workgroups);
  EXPECT_EQ(i.sample.front(), 0U);
  EXPECT_EQ(i.sample.back(), (uint64_t{1} << 26) * 4'000'000'000 - 1);
  EXPECT_EQ(argument(i, "kernarg_8").bytes(), 4 * uint64_t{0xffffffff});
  EXPECT_THAT(i.notes, Contains(HasSubstr("workgroups were probed")));
  EXPECT_TRUE(filled({}, {{256, 1, 1}}).sample.empty());
}

TEST(InferKernels, GivenNumbersAreOfTheTypeTheKernelTakes) {
  EXPECT_EQ(argument(filled({{"kernarg_10", "2"}}), "kernarg_10").value, "2") << "a float";
  EXPECT_EQ(argument(filled({{"kernarg_10", "-0x10"}}), "kernarg_10").value, "-16");
  EXPECT_EQ(argument(filled({{"kernarg_10", "1e10"}}), "kernarg_10").value, "10000000000");
  EXPECT_EQ(argument(filled({{"kernarg_14", "0x40"}}), "kernarg_14").value, "64");
  EXPECT_EQ(argument(filled({{"kernarg_14", "4294967295"}}), "kernarg_14").value, "-1");
}

TEST(InferKernels, EndlessLoopsAreCutOff) {
  InferOptions options;
  options.most_instructions = 100'000;
  const Inference i = inferred("again:\n  s_branch again", options);
  EXPECT_THAT(i.last_outcome, HasSubstr("hang"));
  EXPECT_THAT(i.missing, Contains(HasSubstr("does not complete")));
}

// A page further with each turn: neither time nor memory without end.
TEST(InferKernels, WalksThroughMemoryAreCutOff) {
  InferOptions options;
  options.grid = {{1, 1, 1}};
  options.most_instructions = uint64_t{1} << 40;
  const Inference i = inferred(R"(
  v_lshlrev_b32_e32 v1, 12, v0
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v4, s4
  v_mov_b32_e32 v5, s5
  v_add_co_u32_e32 v4, vcc, v4, v1
  v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
again:
  global_load_dword v2, v[4:5], off
  v_add_co_u32_e32 v4, vcc, 0x40000, v4
  v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
  s_branch again)",
                               options);
  EXPECT_THAT(i.last_outcome, HasSubstr("the probe is cut off"));
}

// The text is a launch file that runs, the same every time.
TEST(InferKernels, TheDraftRuns) {
  const Inference i = inferred(scale);
  EXPECT_EQ(i.text(), inferred(scale).text());
  const auto plan =
      oracle::LaunchPlan::make(oracle::LaunchSpec::parse(i.text(), "draft").value(), "").value();
  emulator::KernelOptions kernel;
  kernel.kernarg_bytes = 24;
  const auto object = object_of(with_arguments(scale), kernel);
  const auto device = device::EmulatedDevice::create(object->target()).value();
  const auto module = device->load(object).value();
  const auto memory = oracle::LaunchMemory::create(plan, *device).value();
  const auto report = oracle::run_launch(plan, *memory, *module).value();
  EXPECT_TRUE(report.outcome.completed()) << report.outcome.text;
  EXPECT_THAT(report.notes, ::testing::IsEmpty());
}

TEST(InferKernels, RefusesWhatDoesNotFit) {
  emulator::KernelOptions kernel;
  kernel.kernarg_bytes = 24;
  const auto object = object_of(with_arguments(scale), kernel);
  const auto error = [&](const InferOptions& options) {
    const auto result = infer_launch(object, options);
    return result ? std::string("none") : result.error().message;
  };
  EXPECT_THAT(error({.kernel = "other", .grid = {}, .workgroup = {}, .values = {}}),
              HasSubstr("no kernel 'other'"));
  EXPECT_THAT(error({.kernel = {}, .grid = {}, .workgroup = {}, .values = {{"m", "3"}}}),
              HasSubstr("no argument 'm'"));
  EXPECT_THAT(error({.kernel = {}, .grid = {}, .workgroup = {}, .values = {{"kernarg_14", "x"}}}),
              HasSubstr("is no number"));
  const auto given = [&](const std::string& name, const std::string& text) {
    return error({.kernel = {}, .grid = {}, .workgroup = {}, .values = {{name, text}}});
  };
  // Bytes 16 to 19 are a float, 20 to 23 an integer.
  for (const std::string text : {"nan", "inf", "-1e500"})
    for (const std::string name : {"kernarg_10", "kernarg_14"})
      EXPECT_EQ(given(name, text), "--set " + name + ": '" + text + "' is no finite number");
  for (const std::string text : {"", " 5", "5 ", "0x", "1,2"})
    EXPECT_EQ(given("kernarg_14", text), "--set kernarg_14: '" + text + "' is no number");
  for (const std::string text : {"1.5", "4294967296", "-2147483649", "18446744073709551616", "1e3"})
    EXPECT_THAT(given("kernarg_14", text), HasSubstr("--set kernarg_14: '" + text + "' is no i32"));
  EXPECT_THAT(given("kernarg_10", "1e39"), HasSubstr("--set kernarg_10: '1e39' is no f32"));
  EXPECT_THAT(given("kernarg_0", "0.5"), HasSubstr("--set kernarg_0: elements of a buffer are integers"));
  EXPECT_THAT(given("kernarg_4", "1"), HasSubstr("--set kernarg_4: the kernel takes it for the upper half"));
  for (const std::array<uint64_t, 3> grid :
       {std::array{uint64_t{1} << 32, uint64_t{1}, uint64_t{1}}, {~uint64_t{0}, 1, 1}})
    EXPECT_THAT(error({.kernel = {}, .grid = grid, .workgroup = {}, .values = {}}),
                HasSubstr("workgroups in one direction"));
  EXPECT_THAT(
      error({.kernel = {}, .grid = {{4'000'000'000, 4'000'000'000, 2}}, .workgroup = {}, .values = {}}),
      HasSubstr("more than 2^64 workgroups"));
  EXPECT_THAT(error({.kernel = {}, .grid = {}, .workgroup = {{2048, 1, 1}}, .values = {}}),
              HasSubstr("2048"));
}

} // namespace
} // namespace asmevo::infer
