// Mistakes that small sizes, tidy addresses and inputs of one size do not show: each candidate does what K0
// does but for one of them, and some case of the first set or of the one that is held back has to tell.
#include "emulator/assembled_kernel.h"
#include "oracle/case_set.h"

#include <gmock/gmock.h>

namespace asmevo::oracle {
namespace {

const std::string launch = R"toml([sizes]
n = 1000
[shapes.tiny]
n = 300
[shapes.full]
n = 100000
[[buffer]]
name = "x"
dtype = "f32"
shape = "n"
role = "in"
init = {kind = "uniform", low = 0, high = 1}
[[buffer]]
name = "y"
dtype = "f32"
shape = "n"
role = "out"
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = "n"
[[step]]
kernel = "k"
grid = "ceil_div(n, 256)"
workgroup = 256
)toml";

// The parts of the kernel that candidates have others for.
struct Parts {
  std::string begin = "";
  std::string offset = "v_mov_b32_e32 v2, v1\nv_mov_b32_e32 v3, 0\nv_lshlrev_b64 v[2:3], 2, v[2:3]\n";
  std::string work = "v_add_f32_e32 v8, v8, v8\n";
  std::string end = "";
};

// y[i] = x[i] + x[i], and scratch memory that is written before it is read.
std::string kernel(const Parts& p) {
  return "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n" +
         p.begin +
         "s_lshl_b32 s9, s2, 8\nv_add_u32_e32 v1, s9, v0\nv_cmp_gt_u32_e32 vcc, s8, v1\n"
         "s_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execz done\n" +
         p.offset +
         "v_mov_b32_e32 v6, s5\nv_add_co_u32_e32 v4, vcc, s4, v2\nv_addc_co_u32_e32 v5, vcc, v3, v6, vcc\n"
         "v_mov_b32_e32 v7, s7\nv_add_co_u32_e32 v6, vcc, s6, v2\nv_addc_co_u32_e32 v7, vcc, v3, v7, vcc\n"
         "global_load_dword v8, v[4:5], off\ns_waitcnt vmcnt(0)\n" +
         p.work + "global_store_dword v[6:7], v8, off\n" + p.end + "done:\ns_endpgm\n";
}

std::shared_ptr<const Subject> subject_of(const Parts& parts) {
  emulator::KernelOptions options;
  options.kernarg_bytes = 20;
  options.scratch_bytes = 16;
  auto made = Subject::open(emulator::assemble_kernel(kernel(parts), options));
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

const std::string store_zero = "v_mov_b32_e32 v9, 0\nscratch_store_dword off, v9, off\ns_waitcnt vmcnt(0)\n";
const std::string add_scratch =
    "scratch_load_dword v9, off, off\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v8, v8, v9\n";

// Empty: no case tells.
std::string told_by(const Parts& original, const Parts& candidate) {
  const auto k0 = subject_of(original), other = subject_of(candidate);
  const auto spec = LaunchSpec::parse(launch, "launch.toml");
  for (const bool held_back : {false, true}) {
    CaseSetOptions options;
    options.joint_sizes = 32;
    options.held_back = held_back;
    const auto set = make_case_set(*spec, k0, options);
    if (!set) throw std::runtime_error(set.error().message);
    const auto reports = verify_cases(set->cases, other);
    if (!reports) throw std::runtime_error(reports.error().message);
    if (reports->back().outcome != Outcome::Equivalent)
      return set->cases[reports->size() - 1]->dispatch().name;
  }
  return "";
}

std::string leave_where(const std::string& read, const std::string& compare) {
  return read + "\n" + compare + "\ns_cbranch_scc1 done\n";
}

TEST(HiddenMistakes, TheSameIsTheSame) {
  EXPECT_EQ(told_by({}, {}), "");
  const Parts with_scratch = {.work = "v_add_f32_e32 v8, v8, v8\n" + store_zero + add_scratch};
  EXPECT_EQ(told_by(with_scratch, with_scratch), "");
}

TEST(HiddenMistakes, WorkgroupsThatNoSmallSizeHas) {
  EXPECT_NE(told_by({}, {.begin = leave_where("s_sub_u32 s12, s2, 0x80", "s_cmp_lt_u32 s12, 64")}), "");
  EXPECT_NE(told_by({}, {.begin = leave_where("", "s_cmp_eq_u32 s2, 50")}), "") << "one of 391";
}

TEST(HiddenMistakes, SizesBetweenTheSmallAndTheFullOne) {
  EXPECT_NE(told_by({}, {.begin = leave_where("s_sub_u32 s12, s8, 5000", "s_cmp_lt_u32 s12, 50000")}), "");
}

TEST(HiddenMistakes, WhereAWaveRuns) {
  for (const char* name : {"HW_REG_HW_ID", "HW_REG_GPR_ALLOC", "HW_REG_XCC_ID"})
    EXPECT_NE(told_by({}, {.begin = leave_where(fmt::format("s_getreg_b32 s20, hwreg({})", name),
                                                "s_cmp_lg_u32 s20, 0")}),
              "")
        << name;
}

TEST(HiddenMistakes, NumbersThatNeedMoreBits) {
  EXPECT_NE(told_by({}, {.offset = "v_lshlrev_b32_e32 v2, 2, v1\nv_mov_b32_e32 v3, 0\n"}), "");
  EXPECT_NE(told_by({}, {.offset = "v_mul_u32_u24_e32 v2, 4, v1\nv_mov_b32_e32 v3, 0\n"}), "");
  EXPECT_NE(told_by({}, {.begin = leave_where("", "s_cmp_lt_i32 s8, 0")}), "");
}

TEST(HiddenMistakes, MemoryThatNobodySet) {
  const Parts k0 = {.work = "v_add_f32_e32 v8, v8, v8\n" + store_zero + add_scratch};
  EXPECT_NE(told_by(k0, {.work = "v_add_f32_e32 v8, v8, v8\n" + add_scratch}), "");
}

TEST(HiddenMistakes, WhereBuffersLie) {
  EXPECT_NE(told_by({}, {.begin = "s_and_b32 s4, s4, 0xffffff00\n"}), "") << "an address that is not round";
  const std::string once_more = "s_waitcnt vmcnt(0)\nglobal_load_dword v8, v[4:5], off\ns_waitcnt vmcnt(0)\n"
                                "v_add_f32_e32 v8, v8, v8\nglobal_store_dword v[6:7], v8, off\n";
  EXPECT_NE(told_by({}, {.end = once_more}), "") << "the result in place of the input";
}

TEST(HiddenMistakes, NumbersOfAnotherSize) {
  // 2^-60 and less, but not denormal, is 0; what lies between -30 and -8 is.
  EXPECT_NE(told_by({}, {.work = "s_mov_b32 s12, 0x21800000\ns_mov_b32 s14, 0x01800000\n"
                                 "v_cmp_lt_f32_e64 vcc, |v8|, s12\nv_cmp_gt_f32_e64 s[12:13], |v8|, s14\n"
                                 "s_and_b64 vcc, vcc, s[12:13]\nv_cndmask_b32_e64 v8, v8, 0, vcc\n"
                                 "v_add_f32_e32 v8, v8, v8\n"}),
            "");
  EXPECT_NE(told_by({}, {.work = "s_mov_b32 s12, 0xc1f00000\ns_mov_b32 s14, 0xc1000000\n"
                                 "v_cmp_gt_f32_e64 vcc, v8, s12\nv_cmp_lt_f32_e64 s[12:13], v8, s14\n"
                                 "s_and_b64 vcc, vcc, s[12:13]\nv_cndmask_b32_e64 v8, v8, 0, vcc\n"
                                 "v_add_f32_e32 v8, v8, v8\n"}),
            "");
}

} // namespace
} // namespace asmevo::oracle
