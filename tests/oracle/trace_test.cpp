// The trace of a run: which instructions it shows, and the values before and after.
#include "emulator/trace.h"
#include "oracle/launched.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace asmevo::oracle::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

const std::string saxpy = R"toml([[buffer]]
name = "x"
dtype = "f32"
shape = 200
role = "in"
init = "sequence"
[[buffer]]
name = "y"
dtype = "f32"
shape = 200
role = "inout"
init = "ones"
[[arg]]
dtype = "f32"
value = 2
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = 200
[[step]]
kernel = "saxpy"
grid = 2
workgroup = 128
)toml";

struct Traced {
  std::vector<std::string> lines;
  uint64_t printed = 0, left_out = 0, executed = 0;
  bool completed = false;
};

Traced traced(const emulator::TraceOptions& options) {
  Traced result;
  auto trace = emulator::Trace::create(*isa::Target::from_id("gfx942"), options,
                                       [&](std::string_view line) { result.lines.emplace_back(line); });
  EXPECT_TRUE(trace);
  Launched::Options launch;
  launch.emulator.threads = 1;
  launch.emulator.observer = [&](size_t) { return trace->get(); };
  const Launched run(saxpy, launch);
  EXPECT_TRUE(run.result()) << run.error();
  result.completed = run.report().outcome.completed();
  result.executed = run.report().outcome.instructions;
  result.printed = (*trace)->printed();
  result.left_out = (*trace)->left_out();
  return result;
}

bool is_instruction(const std::string& line) {
  return line.starts_with("wg ");
}

TEST(Trace, ShowsEveryInstruction) {
  const Traced t = traced({});
  EXPECT_TRUE(t.completed);
  EXPECT_EQ(t.printed, t.executed);
  EXPECT_EQ(std::ranges::count_if(t.lines, is_instruction), static_cast<ptrdiff_t>(t.executed));
}

TEST(Trace, FiltersByWorkgroupWaveAndPc) {
  emulator::TraceOptions one;
  one.workgroup = 1;
  one.wave = 1;
  const Traced wave = traced(one);
  for (const std::string& line : wave.lines) {
    if (is_instruction(line)) {
      EXPECT_THAT(line, StartsWith("wg 1 wave 1 "));
    }
  }
  EXPECT_GT(wave.printed, 10U);
  // Its 64 work-items are 192 to 255, of which 8 are below 200.
  EXPECT_THAT(wave.lines, Contains(HasSubstr("exec 0x00000000000000ff")));

  const auto first = std::ranges::find_if(wave.lines, is_instruction);
  const uint64_t entry = std::stoull(first->substr(12), nullptr, 16);
  one.first_pc = one.last_pc = entry;
  const Traced pc = traced(one);
  EXPECT_EQ(pc.printed, 1U);
  EXPECT_EQ(pc.lines[0], *first);
}

TEST(Trace, ShowsValuesBeforeAndAfter) {
  emulator::TraceOptions one;
  one.workgroup = 0;
  one.wave = 0;
  one.lane = 5;
  const Traced t = traced(one);
  // The fused multiply-add of lane 5: 2 * 5 + 1 = 11.
  EXPECT_THAT(t.lines, Contains(HasSubstr("-> [5] 0x41300000")));
  EXPECT_THAT(t.lines, Contains(MatchesRegex("    global load 4 bytes \\[5\\] 0x[0-9a-f]+")));
  EXPECT_THAT(t.lines, Contains(MatchesRegex("    global store 4 bytes \\[5\\] 0x[0-9a-f]+")));
  EXPECT_THAT(t.lines, Contains(MatchesRegex("    s[0-9]+ 0x[0-9a-f]+ -> 0x40000000"))); // a is loaded
}

TEST(Trace, StopsPrintingAtTheMost) {
  emulator::TraceOptions few;
  few.most = 5;
  const Traced t = traced(few);
  EXPECT_TRUE(t.completed);
  EXPECT_EQ(t.printed, 5U);
  EXPECT_EQ(t.left_out, t.executed - 5);
}

} // namespace
} // namespace asmevo::oracle::testing
