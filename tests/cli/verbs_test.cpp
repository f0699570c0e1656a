// What single verbs print beyond the common contract (cli_test.cpp).
#include "base/files.h"
#include "cli/program_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace asmevo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One kernel "k" for gfx942, assembled by asmevo.
std::string kernel_of(const TemporaryFolder& folder, std::string_view body, unsigned lds) {
  const std::string source = (folder / "k.s").string(), object = (folder / "k.co").string();
  const std::string text =
      fmt::format(".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.amdhsa_code_object_version 5\n.text\n"
                  ".globl k\n.p2align 8\n.type k,@function\nk:\n{}\ns_endpgm\n.rodata\n.p2align 6\n"
                  ".amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n"
                  ".amdhsa_accum_offset 8\n.amdhsa_group_segment_fixed_size {}\n.end_amdhsa_kernel\n",
                  body, lds);
  EXPECT_TRUE(write_file(source, text));
  const Ran ran = run_asmevo({"rebuild", source, "-o", object});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return object;
}

TEST(CheckVerb, LdsOfTheDescriptor) {
  const TemporaryFolder small, large;
  const std::string access = "v_mov_b32_e32 v0, 60\nds_read_b32 v1, v0\ns_waitcnt lgkmcnt(0)";
  const std::string k0 = kernel_of(large, access, 64), k1 = kernel_of(small, access, 63);
  EXPECT_EQ(run_asmevo({"check", k0, "--possible"}).out, "1 function, 0 findings\n");
  EXPECT_EQ(run_asmevo({"check", k1}).out, "1 function, 0 findings\n");
  EXPECT_THAT(run_asmevo({"check", k1, "--possible"}).out,
              HasSubstr("possible: lds-out-of-range: LDS, missing LDS: the access ends at byte 64 of 63"));
  const Ran compared = run_asmevo({"check", k1, "--compare", k0});
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_THAT(compared.out, HasSubstr("lds-out-of-range"));
  EXPECT_EQ(run_asmevo({"check", k0, "--compare", k1}).exit_code, 0);
}

TEST(CheckVerb, BarrierMovedBehindABranch) {
  const TemporaryFolder before, after;
  const std::string branch = "v_cmp_gt_u32_e32 vcc, 8, v0\ns_and_saveexec_b64 s[4:5], vcc\n"
                             "s_cbranch_execz over\nv_mov_b32_e32 v1, 0\n";
  const std::string end = "over:\ns_or_b64 exec, exec, s[4:5]";
  const std::string k0 = kernel_of(before, "s_barrier\n" + branch + end, 0);
  const std::string k1 = kernel_of(after, branch + "s_barrier\n" + end, 0);
  EXPECT_EQ(run_asmevo({"check", k1}).exit_code, 0);
  EXPECT_EQ(run_asmevo({"check", k1, "--compare", k1}).exit_code, 0);
  const Ran compared = run_asmevo({"check", k1, "--compare", k0});
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_THAT(compared.out, HasSubstr("possible: barrier-branched-around: exec"));
}

// A bundle of nearly empty kernels.
std::string bundle_for(const TemporaryFolder& folder, const std::vector<std::string>& gpus) {
  const std::string source = (folder / "k.hip").string(), bundle = (folder / "k.hipfb").string();
  EXPECT_TRUE(write_file(source, "extern \"C\" __attribute__((global)) void k(int* p) { *p = 1; }\n"));
  std::vector<std::string> command = {
      "/usr/lib/llvm-22/bin/clang", "-x",   "hip", "-O1", "-nogpuinc", "-nogpulib", "--offload-device-only",
      "--gpu-bundle-output",        source, "-o",  bundle};
  for (const std::string& gpu : gpus) command.push_back("--offload-arch=" + gpu);
  const Ran ran = run_command(command);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return bundle;
}

// No line of stderr, without the program's name, is part of a line of stdout.
void expect_said_once(const Ran& ran) {
  std::istringstream lines(ran.err);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const std::string said = line.substr(line.find(": ") + 2);
    EXPECT_THAT(ran.out, Not(HasSubstr(said)));
    EXPECT_THAT(ran.out, Not(HasSubstr(said.substr(said.rfind(": ") + 2)))) << line;
  }
  EXPECT_EQ(count, 1U);
}

TEST(InspectVerb, AnObjectThatCannotBeReadIsSaidOnce) {
  const TemporaryFolder folder;
  const std::string bundle = bundle_for(folder, {"gfx942", "gfx1030", "gfx1100"});
  for (const bool json : {false, true}) {
    std::vector<std::string> command = {"inspect", bundle, "--target", "gfx1030"};
    if (json) command.emplace_back("--json");
    const Ran one = run_asmevo(command);
    EXPECT_EQ(one.exit_code, 2);
    EXPECT_THAT(one.out, IsEmpty());
    EXPECT_THAT(one.err, HasSubstr("gfx1030"));
    expect_said_once(one);
  }
  const Ran none = run_asmevo({"inspect", bundle, "--target", "gfx906"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.out, IsEmpty());
  expect_said_once(none);
  const Ran all = run_asmevo({"inspect", bundle});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("1 of 3 code objects inspected"));
}

TEST(InspectVerb, NothingThatCanBeRead) {
  const TemporaryFolder folder;
  const Ran ran = run_asmevo({"inspect", bundle_for(folder, {"gfx1030", "gfx1100"})});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.out, HasSubstr("gfx1030"));
  EXPECT_THAT(ran.out, HasSubstr("gfx1100"));
  EXPECT_THAT(ran.err, HasSubstr("2 of 2 code objects not inspected"));
  expect_said_once(ran);
}

} // namespace
} // namespace asmevo::testing
