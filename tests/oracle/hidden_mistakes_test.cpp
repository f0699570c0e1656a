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

std::shared_ptr<const Subject> subject_of(const std::string& code) {
  emulator::KernelOptions options;
  options.kernarg_bytes = 20;
  options.scratch_bytes = 16;
  options.lds_bytes = 1024;
  auto made = Subject::open(emulator::assemble_kernel(code, options));
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

const std::string store_zero = "v_mov_b32_e32 v9, 0\nscratch_store_dword off, v9, off\ns_waitcnt vmcnt(0)\n";
const std::string add_scratch =
    "scratch_load_dword v9, off, off\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v8, v8, v9\n";

// Empty: no case tells.
std::string told_by(const std::string& text, const std::string& original, const std::string& candidate) {
  const auto k0 = subject_of(original), other = subject_of(candidate);
  const auto spec = LaunchSpec::parse(text, "launch.toml");
  if (!spec) throw std::runtime_error(spec.error().message);
  for (const bool held_back : {false, true}) {
    CaseSetOptions options;
    options.joint_sizes = 32;
    options.held_back = held_back;
    const auto set = make_case_set(*spec, k0, options);
    if (!set) throw std::runtime_error(set.error().message);
    const auto reports = verify_cases(set->cases, other);
    if (!reports) throw std::runtime_error(reports.error().message);
    if (reports->back().outcome != Outcome::Equivalent)
      return reports->back().name + ": " + reports->back().text;
  }
  return "";
}

std::string told_by(const Parts& original, const Parts& candidate) {
  return told_by(launch, kernel(original), kernel(candidate));
}

// The launch with other text in places.
std::string launch_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = launch;
  for (const auto& [from, to] : changes) {
    const size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("not in the launch: " + from);
    text.replace(at, from.size(), to);
  }
  return text;
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

// What only the sanitizer sees, where only large sizes go.
TEST(HiddenMistakes, WaitsOnPathsOfLargeSizes) {
  const auto large = [](const std::string& wait) {
    return Parts{.work =
                     "s_cmp_gt_u32 s8, 0x4e20\ns_cbranch_scc0 small\nglobal_load_dword v9, v[4:5], off\n" +
                     wait + "v_mov_b32_e32 v8, v9\nsmall:\nv_add_f32_e32 v8, v8, v8\n"};
  };
  const std::string wait = "s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(told_by(large(wait), large(wait)), "");
  EXPECT_NE(told_by(large(wait), large("")), "");
}

// y[0] counts workgroups; the last one to come says so in y[1].
std::string count_down(const std::string& is_last) {
  return "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\nv_cmp_eq_u32_e32 vcc, 0, v0\n"
         "s_and_b64 exec, exec, vcc\ns_waitcnt lgkmcnt(0)\ns_cbranch_execz done\ns_add_u32 s8, s8, 0xff\n"
         "s_lshr_b32 s8, s8, 8\ns_sub_u32 s8, s8, 1\nv_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\n"
         "global_atomic_add v4, v2, v3, s[6:7] sc0\ns_waitcnt vmcnt(0)\n"
         "v_mov_b32_e32 v6, s2\n"
         "v_cmp_eq_u32_e32 vcc, s8, " +
         is_last +
         "\ns_and_b64 exec, exec, vcc\ns_cbranch_execz done\nglobal_load_dword v5, v2, s[6:7] sc1\n"
         "s_waitcnt vmcnt(0)\nglobal_store_dword v2, v5, s[6:7] offset:4\ndone:\ns_endpgm\n";
}

TEST(HiddenMistakes, WorkgroupsThatComeInAnotherOrder) {
  const std::string counts = launch_with({{R"(dtype = "f32"
shape = "n"
role = "out")",
                                           R"(dtype = "u32"
shape = "n + 2"
role = "inout"
init = "zeros")"}});
  EXPECT_EQ(told_by(counts, count_down("v4"), count_down("v4")), "");
  EXPECT_NE(told_by(counts, count_down("v4"), count_down("v6")), "");
}

// y[x[i] & mask] counts: nothing that a sample of the workgroups says.
std::string histogram(const std::string& more) {
  return kernel(
      {.begin = more, .work = "v_mov_b32_e32 v9, 1\nglobal_atomic_add v[6:7], v9, off\ns_branch done\n"});
}

TEST(HiddenMistakes, AtomicsOfTheFullSize) {
  const std::string counts = launch_with({{R"(dtype = "f32"
shape = "n"
role = "out")",
                                           R"(dtype = "u32"
shape = "n"
role = "inout"
init = "zeros")"}});
  EXPECT_EQ(told_by(counts, histogram(""), histogram("")), "");
  EXPECT_NE(told_by(counts, histogram(""), histogram(leave_where("", "s_cmp_eq_u32 s2, 300"))), "");
}

// K0 reads four elements at a time, beyond the end, but writes as many as there are.
std::string fours(const std::string& store) {
  return "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n"
         "s_lshl_b32 s9, s2, 10\nv_lshl_add_u32 v1, v0, 2, s9\nv_cmp_gt_u32_e32 vcc, s8, v1\n"
         "s_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execz done\nv_lshlrev_b32_e32 v2, 2, v1\n"
         "global_load_dwordx4 v[4:7], v2, s[4:5]\ns_waitcnt vmcnt(0)\n" +
         store + "done:\ns_endpgm\n";
}

TEST(HiddenMistakes, EndsThatK0ReadsBeyond) {
  std::string one_by_one;
  for (unsigned k = 0; k < 4; ++k)
    one_by_one += fmt::format("v_add_u32_e32 v8, {}, v1\nv_cmp_gt_u32_e32 vcc, s8, v8\n"
                              "s_and_b64 exec, exec, vcc\nglobal_store_dword v2, v{}, s[6:7] offset:{}\n",
                              k, 4 + k, 4 * k);
  const std::string wide = launch_with({{"n = 300", "n = 400"}, {"ceil_div(n, 256)", "ceil_div(n, 1024)"}});
  EXPECT_EQ(told_by(wide, fours(one_by_one), fours(one_by_one)), "");
  EXPECT_NE(told_by(wide, fours(one_by_one), fours("global_store_dwordx4 v2, v[4:7], s[6:7]\n")), "");
}

// A variable of the code object's own, which the host reads.
std::string with_variable(const std::string& store) {
  return ".pushsection .data,\"aw\",@progbits\n.p2align 6\n.globl seen\n.protected seen\n"
         ".type seen,@object\nseen: .long 7, 8\n.size seen, 8\n.popsection\n" +
         kernel({.begin = "s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, seen@rel32@lo+4\n"
                          "s_addc_u32 s21, s21, seen@rel32@hi+12\n",
                 .work = "v_add_f32_e32 v8, v8, v8\nv_mov_b32_e32 v9, 0\n" + store});
}

TEST(HiddenMistakes, VariablesOfTheCodeObject) {
  const std::string size = "v_mov_b32_e32 v10, s8\nglobal_store_dword v9, v10, s[20:21]\n";
  const std::string one = "v_mov_b32_e32 v10, 1\nglobal_store_dword v9, v10, s[20:21]\n";
  EXPECT_EQ(told_by(launch, with_variable(size), with_variable("s_nop 0\n" + size)), "");
  EXPECT_NE(told_by(launch, with_variable(size), with_variable("")), "");
  EXPECT_NE(told_by(launch, with_variable(size), with_variable(one)), "");
  EXPECT_NE(told_by(launch, with_variable(""), with_variable(size)), "");
}

// What a launch leaves there is what the next one finds.
TEST(HiddenMistakes, VariablesStayFromLaunchToLaunch) {
  // One wave: nobody else changes it in between.
  const std::string once =
      launch_with({{"grid = \"ceil_div(n, 256)\"\nworkgroup = 256", "grid = 1\nworkgroup = 64"}});
  const std::string twice = once + once.substr(once.find("[[step]]"));
  const auto add = [](const std::string& condition) {
    return with_variable("global_load_dword v11, v9, s[20:21]\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v10, 20\n" +
                         condition + "global_store_dword v9, v10, s[20:21]\n");
  };
  // 7 in the first launch, 20 in the second.
  const std::string other_later =
      "v_cmp_ne_u32_e32 vcc, 7, v11\ns_nop 1\nv_cndmask_b32_e32 v10, v10, v11, vcc\n"
      "v_mov_b32_e32 v12, 0\nv_cndmask_b32_e32 v12, v12, v11, vcc\n"
      "v_cvt_f32_u32_e32 v12, v12\nv_add_f32_e32 v8, v8, v12\n";
  EXPECT_EQ(told_by(once, add(""), add(other_later)), "");
  EXPECT_NE(told_by(twice, add(""), add(other_later)), "");
}

TEST(HiddenMistakes, NarrowElementsThatBeginAnywhere) {
  const std::string bytes = launch_with({{R"(dtype = "f32"
shape = "n"
role = "in"
init = {kind = "uniform", low = 0, high = 1})",
                                          R"(dtype = "u8"
shape = "n + 4"
role = "in"
init = {kind = "integers", low = 0, high = 255})"},
                                         {R"(dtype = "f32"
shape = "n"
role = "out")",
                                          R"(dtype = "u8"
shape = "n"
role = "out")"}});
  const auto add_first = [](const std::string& first) {
    return "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n"
           "s_lshl_b32 s9, s2, 8\nv_add_u32_e32 v1, s9, v0\nv_cmp_gt_u32_e32 vcc, s8, v1\n"
           "s_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execz done\nv_mov_b32_e32 v9, 0\n"
           "global_load_ubyte v3, v1, s[4:5]\n" +
           first +
           "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32_e32 v3, v4, v3\nglobal_store_byte v1, v3, s[6:7]\n"
           "done:\ns_endpgm\n";
  };
  const std::string vector = add_first("global_load_ubyte v4, v9, s[4:5]\n");
  const std::string scalar =
      add_first("s_load_dword s20, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v4, s20\n");
  EXPECT_EQ(told_by(bytes, vector, vector), "");
  EXPECT_NE(told_by(bytes, vector, scalar), "");
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
