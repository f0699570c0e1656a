// What is said of candidates that are not run: of kernels that no launch reaches, and of code that no
// emulated GPU gets to. Whole objects, as an edit cannot do most of this.
#include "emulator/assembled_kernel.h"
#include "oracle/verify.h"
#include "rebuild/assembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace asmevo::oracle {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

struct Source {
  std::string pad;                      // in `tried`, in front of everything else
  std::string helper = "s_nop 1\n";     // both kernels call it
  std::string lone = "s_nop 2\n";       // only `tried` does
  std::string table = "11, 22, 33, 44"; // `other` reads it
  unsigned other_lds = 1024;
};

std::string descriptor(const std::string& name, unsigned lds) {
  return fmt::format(".amdhsa_kernel {0}\n.amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 64\n"
                     ".amdhsa_accum_offset 32\n.amdhsa_group_segment_fixed_size {1}\n"
                     ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.end_amdhsa_kernel\n",
                     name, lds);
}

std::string note(const std::string& name, unsigned lds) {
  return fmt::format("  - .name: {0}\n    .symbol: {0}.kd\n    .kernarg_segment_size: 8\n"
                     "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: {1}\n"
                     "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 70\n"
                     "    .vgpr_count: 32\n    .max_flat_workgroup_size: 256\n",
                     name, lds);
}

std::string function(const std::string& name, const std::string& code) {
  return fmt::format(".p2align 8\n.type {0},@function\n{0}:\n{1}.size {0}, .-{0}\n", name, code);
}

std::string address(const std::string& symbol) {
  return fmt::format("s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, {0}@rel32@lo+4\n"
                     "s_addc_u32 s21, s21, {0}@rel32@hi+12\n",
                     symbol);
}

std::string call(const std::string& name) {
  return address(name) + "s_swappc_b64 s[30:31], s[20:21]\n";
}

Bytes assembled(const Source& s) {
  const std::string back = "s_setpc_b64 s[30:31]\n";
  const std::string text =
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.amdhsa_code_object_version 5\n.text\n" +
      function("helper", s.helper + back) + function("lone", s.lone + back) + ".globl tried\n.globl other\n" +
      function("tried", s.pad + call("helper") + call("lone") + "s_endpgm\n") +
      function("other", address("table") + "s_load_dword s22, s[20:21], 0x4\ns_waitcnt lgkmcnt(0)\n" +
                            call("helper") + "s_endpgm\n") +
      ".rodata\n.p2align 6\ntable: .long " + s.table + "\n.p2align 6\n" + descriptor("tried", 0) +
      descriptor("other", s.other_lds) +
      ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--gfx942\n"
      "amdhsa.kernels:\n" +
      note("tried", 0) + note("other", s.other_lds) + "...\n.end_amdgpu_metadata\n";
  auto made = rebuild::assemble(text, "test.s");
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

std::shared_ptr<const Subject> opened(Bytes bytes) {
  auto subject = Subject::open(std::move(bytes));
  if (!subject) throw std::runtime_error(subject.error().message);
  return *std::move(subject);
}

std::vector<std::string> changed(const Bytes& candidate) {
  const auto verdict = compare_statically(*opened(assembled({})), *opened(candidate));
  if (!verdict) throw std::runtime_error(verdict.error().message);
  EXPECT_EQ(verdict->outcome, Outcome::Equivalent);
  return verdict->changed;
}

// So many instructions of `tried` that everything behind it lies elsewhere.
Source longer() {
  Source s;
  for (unsigned i = 0; i < 200; ++i) s.pad += "s_nop 0\n";
  return s;
}

TEST(ChangedKernels, AreNotThoseThatOnlyMoved) {
  EXPECT_THAT(changed(assembled({})), IsEmpty());
  EXPECT_THAT(changed(assembled(longer())), ::testing::ElementsAre("tried"));
}

// The words of `other` are K0's, but not what they mean.
TEST(ChangedKernels, AreThoseWhoseDataMovedAwayUnderThem) {
  const auto k0 = opened(assembled({})), moved = opened(assembled(longer()));
  const auto at = [](const Subject& s) {
    const auto& text = s.object().sections()[*s.object().find_section(".text")];
    const program::Index begin = s.program().find_function("other")->begin;
    return text.offset + s.program().entries[begin + 1].id.n + 4; // the literal of the first s_add_u32
  };
  Bytes stale(moved->object().bytes().begin(), moved->object().bytes().end());
  const auto right = load<uint32_t>(k0->object().bytes(), at(*k0));
  ASSERT_NE(*right, *load<uint32_t>(stale, at(*moved)));
  store(stale, at(*moved), *right);
  EXPECT_THAT(changed(stale), Contains("other"));
}

TEST(ChangedKernels, AreThoseThatCallWhatHasChanged) {
  Source s;
  s.helper = "s_nop 3\n";
  EXPECT_THAT(changed(assembled(s)), Contains("other"));
  Source own;
  own.lone = "s_nop 3\n";
  EXPECT_THAT(changed(assembled(own)), Not(Contains("other")));
}

TEST(ChangedKernels, AreThoseWithOtherResources) {
  for (const unsigned lds : {0U, 4U, 65536U}) {
    Source s;
    s.other_lds = lds;
    EXPECT_THAT(changed(assembled(s)), Contains("other")) << lds;
  }
}

// The emulated GPU preloads arguments, so that what others run in place of that is never run.
TEST(CompareStatically, CodeForFirmwareThatDoesNotPreloadStays) {
  const auto kernel = [](const std::string& front, const std::string& behind) {
    emulator::KernelOptions options;
    options.preload_dwords = 2;
    return opened(emulator::assemble_kernel(
        front + "s_waitcnt lgkmcnt(0)\ns_branch main\n.p2align 8\nmain:\n" + behind + "s_endpgm\n", options));
  };
  const std::string loads = "s_load_dwordx2 s[2:3], s[0:1], 0x0\n";
  const auto k0 = kernel(loads, "s_nop 0\n");
  const auto outcome = [&](const std::string& front, const std::string& behind) {
    return compare_statically(*k0, *kernel(front, behind))->outcome;
  };
  EXPECT_EQ(outcome(loads, "s_nop 1\ns_nop 1\n"), Outcome::Equivalent);
  EXPECT_EQ(outcome("s_nop 0\ns_nop 0\n", "s_nop 0\n"), Outcome::AbiInvalid);
}

} // namespace
} // namespace asmevo::oracle
