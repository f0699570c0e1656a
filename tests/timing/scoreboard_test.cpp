// One wave alone: chains, units, waits.
#include "isa/codec.h"
#include "timing/scoreboard.h"

#include <gtest/gtest.h>

namespace asmevo::timing {
namespace {

std::string times(unsigned count, const std::string& text) {
  std::string all;
  for (unsigned n = 0; n < count; ++n) all += text + "\n";
  return all;
}

struct Issued {
  double end = 0;    // when the wave could issue another one
  double memory = 0; // when everything is done
  std::vector<Issue> issues;
};

Issued run(const std::string& text, const std::string& machine = "mi300a") {
  const auto model = MachineModel::find(machine);
  auto codec = isa::Codec::create(model->target());
  const auto parsed = (*codec)->parse(text);
  EXPECT_TRUE(parsed) << text;
  Scoreboard board(model->target(), model->nominal());
  Issued r;
  for (const auto& line : *parsed)
    if (line.instruction != nullptr) r.issues.push_back(board.issue(*line.instruction));
  r.end = board.now();
  r.memory = board.end();
  return r;
}

TEST(Scoreboard, VectorInstructionsIssueEveryFourCycles) {
  EXPECT_EQ(run(times(100, "v_add_f32_e32 v0, v1, v2")).end, 400);
  EXPECT_EQ(run(times(100, "v_add_f32_e32 v0, v0, v2")).end, 400); // dependent ones, too
  EXPECT_EQ(run(times(10, "v_exp_f32_e32 v0, v0")).issues.back().at, 9 * 16);
}

TEST(Scoreboard, MatrixChains) {
  const std::string chained = "v_mfma_f32_32x32x8_f16 v[0:15], v[32:33], v[34:35], v[0:15]";
  EXPECT_EQ(run(times(10, chained)).issues.back().at, 9 * 32); // the accumulator is forwarded
  const std::string other = "v_mfma_f32_32x32x8_f16 v[16:31], v[32:33], v[34:35], v[16:31]";
  EXPECT_EQ(run(times(5, chained + "\n" + other)).issues.back().at, 9 * 32);
  // As a factor it has to come out first.
  EXPECT_EQ(run(chained + "\nv_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[34:35], v[16:31]").issues.back().at,
            44);
  EXPECT_EQ(run(chained + "\nv_add_f32_e32 v40, v0, v41").issues.back().at, 44);
  EXPECT_EQ(run(chained + "\nv_add_f32_e32 v40, v0, v41").issues.back().reason, Stall::AluDependency);
}

// Seven vector instructions fit beside a matrix instruction of eight passes.
TEST(Scoreboard, VectorInstructionsBesideMatrixInstructions) {
  const std::string matrix = "v_mfma_f32_32x32x8_f16 v[0:15], v[32:33], v[34:35], v[0:15]\n";
  const std::string valu = "v_add_f32_e32 v40, v41, v42";
  EXPECT_EQ(run(times(10, matrix + times(7, valu))).issues[8 * 9].at, 9 * 32);
  EXPECT_EQ(run(times(10, matrix + times(8, valu))).issues[9 * 9].at, 9 * 36);
  const std::string packed = "v_pk_fma_f32 v[40:41], v[42:43], v[44:45], v[46:47]";
  EXPECT_EQ(run(matrix + packed).issues.back().at, 40);
}

TEST(Scoreboard, WaitsAreForWhatTheyCount) {
  const auto model = MachineModel::find("mi300a");
  const Machine m = model->nominal();
  const std::string load = "global_load_dword v0, v[2:3], off\n";
  const Issued one = run(load + "s_waitcnt vmcnt(0)\nv_add_f32_e32 v1, v0, v0");
  EXPECT_EQ(one.issues[1].at, m[Parameter::l1_latency]);
  EXPECT_EQ(one.issues[1].reason, Stall::Waitcnt);
  // Two in flight cost little more than one, and the first can be waited for alone.
  const Issued two =
      run(load + "global_load_dword v4, v[2:3], off\ns_waitcnt vmcnt(1)\nv_add_f32_e32 v1, v0, v0");
  EXPECT_EQ(two.issues[2].at, m[Parameter::l1_latency]);
  EXPECT_EQ(run(load + "global_load_dword v4, v[2:3], off\ns_waitcnt vmcnt(0)").issues[2].at,
            m[Parameter::l1_latency] + m[Parameter::memory_issue_cycles]);
  // A wait that comes late waits less.
  const std::string work = times(20, "v_add_f32_e32 v5, v5, v6");
  EXPECT_LT(run(load + work + "s_waitcnt vmcnt(0)\n").end, run(load + "s_waitcnt vmcnt(0)\n" + work).end);
  EXPECT_EQ(run("s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)").issues[1].at,
            m[Parameter::scalar_latency]);
  EXPECT_EQ(run("ds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)").issues[1].at, m[Parameter::lds_latency]);
  EXPECT_EQ(run("ds_read_b32 v0, v1\ns_waitcnt vmcnt(0)").issues[1].stalled, 0);
  EXPECT_EQ(run("s_waitcnt vmcnt(0)").end, m[Parameter::waitcnt_cycles]);
}

TEST(Scoreboard, LdsIsBusyAsLongAsItsDataTake) {
  const Issued wide = run(times(20, "ds_read_b128 v[0:3], v8"));
  EXPECT_EQ(wide.issues.back().at, 19 * 8); // 1024 bytes at 128 a cycle
  EXPECT_EQ(wide.issues.back().reason, Stall::ArbiterWinExStall);
  EXPECT_EQ(run(times(20, "ds_read_b32 v0, v8")).issues.back().at, 19 * 4);
}

} // namespace
} // namespace asmevo::timing
