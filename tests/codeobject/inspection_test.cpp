#include "codeobject/inspection.h"
#include "codeobject/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace asmevo::codeobject {
namespace {

CodeObject parsed(Bytes bytes) {
  auto object = CodeObject::parse(std::move(bytes));
  if (!object) throw std::runtime_error(object.error().message);
  return *std::move(object);
}

// Kernels with workgroups of one size each and some LDS or many registers.
constexpr std::string_view resources_source = R"(
#define KERNEL(name, group, bytes)                                                             \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(group, group))) void name(float* p) { \
    __attribute__((shared)) static float s[bytes / 4];                                                          \
    int i = __builtin_amdgcn_workitem_id_x();                                                  \
    s[i] = p[i];                                                                               \
    __builtin_amdgcn_s_barrier();                                                              \
    p[i] = s[(i * 7) % (bytes / 4)];                                                           \
  }
KERNEL(lds_4k_64, 64, 4096)
KERNEL(lds_4k_256, 256, 4096)
KERNEL(lds_20k_256, 256, 20480)
KERNEL(lds_33k_256, 256, 33792)
KERNEL(lds_64k_256, 256, 65536)
KERNEL(lds_64k_1024, 1024, 65536)
KERNEL(lds_20k_512, 512, 20480)
#define MANY(name, count)                                                                      \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64))) void name(float* p) {  \
    float v[count];                                                                            \
    int i = __builtin_amdgcn_workitem_id_x();                                                  \
    _Pragma("unroll") for (int j = 0; j < count; ++j) v[j] = ((volatile float*)p)[i * count + j]; \
    __builtin_amdgcn_s_barrier();                                                              \
    _Pragma("unroll") for (int j = 0; j < count; ++j) p[j * 64 + i] = v[count - 1 - j] * v[j];   \
  }
MANY(vgprs_40, 40)
MANY(vgprs_80, 80)
MANY(vgprs_150, 150)
)";

// The compiler prints its own idea of occupancy beside each kernel's assembly.
std::map<std::string, int> compilers_occupancy(const std::string& gpu) {
  const auto in = samples::save("occupancy.hip", as_bytes(resources_source)),
             out = samples::folder() / "occupancy.s";
  const auto run = samples::run(fmt::format(
      "{}clang -x hip --offload-device-only --offload-arch={} -nogpuinc -nogpulib -O2 -S {} -o {}",
      samples::llvm, gpu, in.string(), out.string()));
  EXPECT_EQ(run.code, 0) << run.output;
  std::map<std::string, int> waves;
  std::string kernel;
  const Bytes bytes = samples::read(out);
  std::istringstream lines{std::string(as_text(bytes))};
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, std::regex(R"(\s*\.amdhsa_kernel (\w+))"))) kernel = found[1];
    if (std::regex_match(line, found, std::regex(R"(; Occupancy: (\d+))")))
      waves[kernel] = std::stoi(found[1]);
  }
  return waves;
}

TEST(Inspection, OccupancyIsTheCompilers) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"}) {
    const auto expected = compilers_occupancy(gpu);
    ASSERT_EQ(expected.size(), 10U);
    const CodeObject object = parsed(samples::compile(gpu, 5, 2, resources_source));
    const Inspection inspection = inspect(object);
    ASSERT_EQ(inspection.kernels.size(), 10U);
    std::set<int> seen;
    for (const KernelInspection& k : inspection.kernels) {
      EXPECT_EQ(k.occupancy.waves_per_simd, expected.at(k.kernel->name))
          << gpu << " " << k.kernel->name << " VGPRs " << k.vgprs;
      seen.insert(expected.at(k.kernel->name));
    }
    EXPECT_GE(seen.size(), 4U) << "the kernels are to differ";
  }
}

TEST(Inspection, OccupancyLimits) {
  const isa::Target target = *isa::Target::from_id("gfx942");
  const Occupancy one = occupancy(target, 512, 65536, 256);
  EXPECT_EQ(one.workgroups, 1U);
  EXPECT_EQ(one.waves_per_simd, 1);
  EXPECT_THAT(one.limiters, testing::ElementsAre("VGPRs", "LDS"));
  EXPECT_THAT(occupancy(target, 32, 0, 64).limiters, testing::ElementsAre("wave slots"));
  EXPECT_THAT(occupancy(target, 32, 0, 128).limiters, testing::ElementsAre("wave slots"));
  // Three workgroups of ten waves leave two slots empty.
  const Occupancy odd = occupancy(target, 32, 0, 640);
  EXPECT_EQ(odd.workgroups, 3U);
  EXPECT_THAT(odd.limiters, testing::ElementsAre("workgroup size"));
  EXPECT_EQ(occupancy(target, 512, 0, 512).workgroups, 0U);
  EXPECT_EQ(occupancy(target, 8, 65537, 64).workgroups, 0U);
  EXPECT_EQ(occupancy(target, 0, ~uint64_t{0}, ~uint64_t{0}).workgroups, 0U);
}

TEST(Inspection, TellsWhatIsThere) {
  const CodeObject object = parsed(samples::compile());
  const Inspection inspection = inspect(object);
  ASSERT_EQ(inspection.kernels.size(), 2U);
  EXPECT_TRUE(inspection.notes.empty());
  for (const KernelInspection& k : inspection.kernels) EXPECT_TRUE(k.notes.empty()) << k.notes.front();
  const std::string text = inspection_text(object, inspection, true);
  for (const char* part : {"code object V5 for gfx942", "kernel call", "kernel turn", "hidden_block_count_x",
                           ".rodata", "LDS          256 bytes"})
    EXPECT_THAT(text, testing::HasSubstr(part));
  const std::string brief = inspection_text(object, inspection, false);
  EXPECT_THAT(brief, testing::HasSubstr("turn"));
  EXPECT_LT(std::ranges::count(brief, '\n'), 6);
  const auto json = inspection_json(object, inspection);
  EXPECT_EQ(json["kernels"].size(), 2U);
  EXPECT_EQ(json["kernels"][0]["descriptor"].size(), descriptor_fields(object.target()).size());
  EXPECT_EQ(json["sections"].size(), object.sections().size());
  EXPECT_EQ(json["kernels"][1]["metadata"][".name"], "turn");
  EXPECT_EQ(inspect(object, "turn").kernels.size(), 1U);
  EXPECT_EQ(inspect(object, "nothing").kernels.size(), 0U);
}

// A good object made to contradict itself in place; each contradiction is named.
TEST(Inspection, NamesInconsistencies) {
  Bytes bytes = samples::compile();
  const CodeObject good = parsed(bytes);
  const Kernel& kernel = *good.find_kernel("turn");
  const Section& rodata = good.sections()[*good.find_section(".rodata")];
  KernelDescriptor d = kernel.descriptor;
  d.kernarg_size = 0;
  d.group_segment_fixed_size = 512;
  d.private_segment_fixed_size = 16;
  d.reserved0[0] = 1;
  d.kernel_code_entry_byte_offset += 4;
  set(d, good.target(), "granulated_workitem_vgpr_count", 40);
  set(d, good.target(), "user_sgpr_count", 7);
  const auto encoded = d.encode();
  std::ranges::copy(
      encoded, bytes.begin() +
                   static_cast<std::ptrdiff_t>(rodata.offset + (kernel.descriptor_address - rodata.address)));
  const CodeObject object = parsed(bytes);
  const Inspection inspection = inspect(object, "turn");
  ASSERT_EQ(inspection.kernels.size(), 1U);
  const std::string notes = fmt::format("{}", fmt::join(inspection.kernels[0].notes, "\n"));
  for (const char* part :
       {"kernarg segment: 0 in the descriptor, 12 in the metadata",
        "LDS: 512 in the descriptor, 256 in the metadata", "scratch: 16 in the descriptor", "reserved bits",
        "not a multiple of 256", "by symbol turn", "VGPRs: the descriptor allocates 328",
        "user SGPRs: 7 counted, 2 enabled", "cannot start"})
    EXPECT_THAT(notes, testing::HasSubstr(part));
}

TEST(Inspection, AiterOddities) {
  size_t short_of = 0, past = 0, kernargs = 0, vgprs = 0;
  const auto files = samples::aiter_objects();
  for (const auto& file : files) {
    const CodeObject object = parsed(samples::read(file));
    const Inspection inspection = inspect(object);
    EXPECT_FALSE(inspection_text(object, inspection, true).empty());
    for (const std::string& note : inspection.kernels.at(0).notes) {
      short_of += note.find("short of") != std::string::npos;
      past += note.find("past the kernarg") != std::string::npos;
      kernargs += note.starts_with("kernarg segment: 0 ");
      vgprs += note.starts_with("VGPRs: the descriptor allocates 464");
    }
  }
  if (files.empty()) return;
  fmt::print(
      "{} objects: {} end short, {} run past, {} without kernarg size in the descriptor, {} of 464 VGPRs\n",
      files.size(), short_of, past, kernargs, vgprs);
  EXPECT_EQ(past, 4U);
  EXPECT_EQ(vgprs, 2U);
  EXPECT_EQ(kernargs, 1428U + 1439U);
}

} // namespace
} // namespace asmevo::codeobject
