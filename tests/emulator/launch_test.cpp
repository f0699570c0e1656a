// What a kernel finds in its registers when it starts (AMDGPUUsage, "Initial Kernel Execution State").
#include "assembled_kernel.h"

#include <gmock/gmock.h>

namespace asmevo::emulator {
namespace {

using testing::HasSubstr;

// Each lane stores v0 at out[flat work-item of the launch], where s2 is the workgroup's number.
constexpr std::string_view store_v0 = R"(
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_mbcnt_lo_u32_b32 v1, -1, 0
  v_mbcnt_hi_u32_b32 v1, -1, v1
  s_waitcnt lgkmcnt(0)
  s_lshl_b32 s10, s2, 8
  v_lshlrev_b32_e32 v2, 2, v1
  v_add_u32_e32 v2, s10, v2
  global_store_dword v2, v0, s[8:9]
  s_endpgm
)";

TEST(launch, work_item_ids_are_packed) {
  KernelOptions o;
  o.workitem_directions = 2;
  Bench bench(store_v0, o);
  const uint64_t out = bench.buffer(4096);
  ASSERT_TRUE(bench.launch({{4, 4, 4}, {4, 4, 4}, 0}, {out}).completed());
  const std::vector<uint32_t> ids = bench.words(out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ids[i], i % 4 | i / 4 % 4 << 10 | i / 16 << 20) << i;
}

TEST(launch, directions_that_the_descriptor_leaves_out_are_zero) {
  Bench bench(store_v0);
  const uint64_t out = bench.buffer(4096);
  ASSERT_TRUE(bench.launch({{4, 4, 4}, {4, 4, 4}, 0}, {out}).completed());
  const std::vector<uint32_t> ids = bench.words(out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ids[i], i % 4) << i;
}

TEST(launch, partial_workgroup_has_fewer_lanes) {
  Bench bench(store_v0);
  const uint64_t out = bench.buffer(4096);
  ASSERT_TRUE(bench.device->write(out, std::vector<uint8_t>(4096, 0xee)));
  ASSERT_TRUE(bench.launch({{64 + 7, 1, 1}, {64, 1, 1}, 0}, {out}).completed());
  const std::vector<uint32_t> ids = bench.words(out, 128);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(ids[i], i < 64 ? i : i < 71 ? i - 64 : 0xeeeeeeee) << i;
}

// out[4 * (x + y * 3 + z * 6) ...] = workgroup ids
TEST(launch, workgroup_ids_in_three_directions) {
  Bench bench(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mul_i32 s10, s3, 3
    s_add_i32 s10, s10, s2
    s_mul_i32 s11, s4, 6
    s_add_i32 s10, s10, s11
    s_lshl_b32 s10, s10, 4
    v_mov_b32_e32 v1, s10
    v_mov_b32_e32 v2, s2
    v_mov_b32_e32 v3, s3
    v_mov_b32_e32 v4, s4
    s_waitcnt lgkmcnt(0)
    global_store_dwordx3 v1, v[2:4], s[8:9]
    s_endpgm
  )");
  const uint64_t out = bench.buffer(4096);
  ASSERT_TRUE(bench.launch({{3, 2, 2}, {1, 1, 1}, 0}, {out}).completed());
  const std::vector<uint32_t> ids = bench.words(out, 48);
  for (uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(ids[4 * i], i % 3);
    EXPECT_EQ(ids[4 * i + 1], i / 3 % 2);
    EXPECT_EQ(ids[4 * i + 2], i / 6);
  }
}

// The first 256 bytes are for firmware that does not preload; a kernel that runs them here stores 1.
TEST(launch, preloaded_arguments_and_the_prologue_that_is_skipped) {
  KernelOptions o;
  o.preload_dwords = 3;
  o.kernarg_bytes = 16;
  Bench bench(R"(
    v_mov_b32_e32 v2, 1
    s_branch go
    .fill 62, 4, 0xbf800000
    v_mov_b32_e32 v2, s4
  go:
    v_mov_b32_e32 v1, 0
    global_store_dword v1, v2, s[2:3]
    s_endpgm
  )",
              o);
  const uint64_t out = bench.buffer(4096);
  ASSERT_TRUE(bench.launch(1, 1, {out, 0x1234}).completed());
  EXPECT_EQ(bench.words(out, 1)[0], 0x1234U);
}

// Each lane stores its number + 0x100 at offset 8 of its scratch memory, as `start` does it with v1, and
// finds it there by FLAT. `start` leaves the kernarg segment's first pointer in s[12:13].
void expect_scratch_by_flat(const std::string& start, const KernelOptions& o) {
  Bench bench(start + R"(
    s_mov_b64 s[14:15], src_private_base
    v_mov_b32_e32 v2, 8
    v_mov_b32_e32 v3, s15
    s_waitcnt vmcnt(0) lgkmcnt(0)
    flat_load_dword v4, v[2:3]
    v_lshlrev_b32_e32 v5, 2, v0
    s_waitcnt vmcnt(0) lgkmcnt(0)
    global_store_dword v5, v4, s[12:13]
    s_endpgm
  )",
              o);
  const uint64_t out = bench.buffer(4096);
  const device::LaunchOutcome outcome = bench.launch(1, 64, {out});
  ASSERT_TRUE(outcome.completed()) << outcome.text;
  const std::vector<uint32_t> got = bench.words(out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i + 0x100) << i;
}

TEST(launch, gfx90a_scratch_through_buffer_and_flat) {
  KernelOptions o;
  o.gpu = "gfx90a";
  o.scratch_bytes = 64;
  o.directives = "  .amdhsa_user_sgpr_private_segment_buffer 1\n  .amdhsa_user_sgpr_flat_scratch_init 1\n";
  // s[0:3] buffer, s[4:5] kernarg, s[6:7] flat scratch, s8.. workgroup ids, s11 wave offset
  expect_scratch_by_flat(R"(
    s_add_u32 flat_scratch_lo, s6, s11
    s_addc_u32 flat_scratch_hi, s7, 0
    s_add_u32 s0, s0, s11
    s_addc_u32 s1, s1, 0
    s_load_dwordx2 s[12:13], s[4:5], 0x0
    v_add_u32_e32 v1, 0x100, v0
    buffer_store_dword v1, off, s[0:3], 0 offset:8
  )",
                         o);
}

TEST(launch, gfx942_scratch_directly_and_flat) {
  KernelOptions o;
  o.scratch_bytes = 64;
  expect_scratch_by_flat(R"(
    s_load_dwordx2 s[12:13], s[0:1], 0x0
    v_add_u32_e32 v1, 0x100, v0
    scratch_store_dword off, v1, off offset:8
  )",
                         o);
}

std::string refusal(Bench& bench, const device::LaunchShape& shape, std::vector<uint64_t> arguments = {0}) {
  const auto outcome = bench.try_launch(shape, std::move(arguments));
  EXPECT_FALSE(outcome);
  if (outcome) return {};
  EXPECT_EQ(outcome.error().exit_code(), 2);
  return outcome.error().message;
}

TEST(launch, refuses_what_does_not_fit) {
  Bench bench("s_endpgm");
  EXPECT_THAT(refusal(bench, {{0, 1, 1}, {1, 1, 1}, 0}), HasSubstr("at least one work-item"));
  EXPECT_THAT(refusal(bench, {{1, 1, 1}, {1025, 1, 1}, 0}), HasSubstr("the most is 1024"));
  EXPECT_THAT(refusal(bench, {{64, 64, 1}, {64, 64, 1}, 0}), HasSubstr("at most 1024"));
  EXPECT_THAT(refusal(bench, {{1, 1, 1}, {1, 1, 1}, 65537}), HasSubstr("bytes of LDS"));
  EXPECT_THAT(refusal(bench, {{1, 1, 1}, {1, 1, 1}, 0}, {}),
              HasSubstr("0 bytes of arguments; kernel 'k' needs 8"));
  EXPECT_THAT(refusal(bench, {{1, 1, 1}, {1, 1, 1}, 0}, {0, 0, 0}), HasSubstr("24 bytes of arguments"));
  EXPECT_THAT(refusal(bench, {{~uint64_t{0}, 1, 1}, {1, 1, 1}, 0}), HasSubstr("workgroups in one direction"));
}

TEST(launch, refuses_more_registers_than_a_compute_unit_has) {
  KernelOptions o;
  o.vgprs = 256;
  Bench bench("s_endpgm", o);
  EXPECT_THAT(refusal(bench, {{1024, 1, 1}, {1024, 1, 1}, 0}), HasSubstr("does not fit on a compute unit"));
}

TEST(launch, refuses_more_user_registers_than_there_are) {
  Bytes bytes = assemble_kernel("s_endpgm");
  auto object = *codeobject::CodeObject::parse(bytes);
  codeobject::KernelDescriptor d = object.kernels()[0].descriptor;
  codeobject::set(d, object.target(), "kernarg_preload_spec_length", 127);
  const auto section = object.sections()[*object.section_at(object.kernels()[0].descriptor_address)];
  const uint64_t at = section.offset + object.kernels()[0].descriptor_address - section.address;
  std::ranges::copy(d.encode(), bytes.begin() + static_cast<ptrdiff_t>(at));
  const auto device = *device::EmulatedDevice::create(*isa::Target::from_id("gfx942"));
  const auto module =
      *device->load(std::make_shared<const codeobject::CodeObject>(*codeobject::CodeObject::parse(bytes)));
  device::LaunchArguments arguments;
  arguments.kernarg.resize(8);
  const auto outcome = device->launch(*module, "k", {}, arguments);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("user SGPRs; there are 16"));
}

TEST(launch, refuses_another_target) {
  const auto device = *device::EmulatedDevice::create(*isa::Target::from_id("gfx950"));
  auto object = *codeobject::CodeObject::parse(assemble_kernel("s_endpgm"));
  const auto module = device->load(std::make_shared<const codeobject::CodeObject>(std::move(object)));
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().message, HasSubstr("the code object is for gfx942, the device is gfx950"));
}

} // namespace
} // namespace asmevo::emulator
