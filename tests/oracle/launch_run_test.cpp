// Launches run on the emulator, and on a device with plain memory: results against the host's arithmetic,
// damage found, mistakes of the launch file named.
#include "oracle/kernarg.h"
#include "oracle/launched.h"

#include <gmock/gmock.h>

#include <cmath>

namespace asmevo::oracle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Kind = device::LaunchOutcome::Kind;

// y = a * x + y for x = 0, 1, 2, ..., y = 1; tests change a line.
const std::string saxpy = R"toml([sizes]
n = 1000
[[buffer]]
name = "x"
dtype = "f32"
shape = ["n"]
role = "in"
init = "sequence"
[[buffer]]
name = "y"
dtype = "f32"
shape = ["n"]
role = "inout"
init = "ones"
[[arg]]
dtype = "f32"
value = 0.5
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = "n"
[[step]]
kernel = "saxpy"
grid = ["ceil_div(n, 256)"]
workgroup = [256]
)toml";

std::string changed(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.rfind(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string with(std::string_view from, std::string_view to) {
  return changed(saxpy, from, to);
}
// Of the buffer x, which comes first.
std::string with_x(std::string_view from, std::string_view to) {
  std::string text = saxpy;
  return text.replace(text.find(from), from.size(), to);
}

device::EmulatorOptions emulator(unsigned threads, uint64_t seed, std::vector<uint64_t> workgroups = {}) {
  device::EmulatorOptions options;
  options.threads = threads;
  options.seed = seed;
  options.workgroups = std::move(workgroups);
  return options;
}

TEST(LaunchRun, SaxpyOnEveryTargetAndDevice) {
  for (const char* target : {"gfx90a", "gfx942", "gfx950"})
    for (const bool plain : {false, true}) {
      const Launched run(saxpy, {.target = target, .plain = plain});
      ASSERT_TRUE(run.result()) << run.error();
      EXPECT_TRUE(run.report().outcome.completed()) << run.report().outcome.text;
      EXPECT_THAT(run.report().notes, IsEmpty());
      const std::vector<double> y = run.values("y");
      ASSERT_EQ(y.size(), 1000U);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 0.5 * static_cast<double>(i) + 1) << i;
      EXPECT_EQ(run.report().launches.size(), 1U);
      EXPECT_GT(run.report().outcome.instructions, 16 * 10U);
    }
}

TEST(LaunchRun, ResultsDoNotDependOnThreadsOrSchedule) {
  const std::string random = with_x("\"sequence\"", "\"uniform\"");
  const std::vector<double> one = Launched(random, {.emulator = emulator(1, 0)}).values("y");
  const std::vector<double> two = Launched(random, {.emulator = emulator(2, 99)}).values("y");
  EXPECT_EQ(one, two);
  EXPECT_NE(one, Launched(random, {.seed = 5}).values("y"));
}

TEST(LaunchRun, WritesOverAGuardAreOutcomes) {
  const std::string short_y =
      with("shape = [\"n\"]\nrole = \"inout\"", "shape = [\"n - 1\"]\nrole = \"inout\"");
  const Launched emulated(short_y);
  ASSERT_TRUE(emulated.result()) << emulated.error();
  EXPECT_EQ(emulated.report().outcome.kind, Kind::GuardDamaged);
  EXPECT_THAT(emulated.report().outcome.text,
              AllOf(StartsWith("guard_damaged: "), HasSubstr("guard behind y")));
  const Launched plain(short_y, {.plain = true});
  ASSERT_TRUE(plain.result()) << plain.error();
  EXPECT_EQ(plain.report().outcome.kind, Kind::GuardDamaged);
  EXPECT_THAT(plain.report().outcome.text, AllOf(HasSubstr("byte 399"), HasSubstr("'y'")));
}

TEST(LaunchRun, WithoutGuardsAnyAccessBeyondIsAFault) {
  const Launched run(with_x("shape = [\"n\"]", "shape = [\"n - 1\"]\nguard = 0"));
  ASSERT_TRUE(run.result()) << run.error();
  EXPECT_EQ(run.report().outcome.kind, Kind::Fault);
  EXPECT_THAT(run.report().outcome.text,
              AllOf(HasSubstr("reads 4 bytes"), HasSubstr("0 bytes past the end of region 'x'")));
  EXPECT_EQ(run.report().outcome.lane, 999 % 64);
}

TEST(LaunchRun, ReadsOfGuardsAreNoted) {
  const Launched run(with_x("shape = [\"n\"]", "shape = [\"n - 1\"]"));
  ASSERT_TRUE(run.result()) << run.error();
  EXPECT_TRUE(run.report().outcome.completed());
  EXPECT_THAT(run.report().notes, ::testing::ElementsAre("memory behind buffer 'x' was read"));
}

TEST(LaunchRun, WritesBetweenRowsAreDamage) {
  const std::string strided =
      with("shape = [\"n\"]\nrole = \"inout\"", "shape = [40, 20]\nstrides = [25, 1]\nrole = \"inout\"");
  for (const bool plain : {false, true}) {
    const Launched run(changed(strided, "value = \"n\"", "value = 21"), {.plain = plain});
    ASSERT_TRUE(run.result()) << run.error();
    EXPECT_EQ(run.report().outcome.kind, Kind::GuardDamaged);
    EXPECT_THAT(run.report().outcome.text,
                AllOf(HasSubstr("'y'"), HasSubstr("byte 8"), HasSubstr("between its rows")));
    EXPECT_TRUE(Launched(changed(strided, "value = \"n\"", "value = 20"), {.plain = plain})
                    .report()
                    .outcome.completed());
  }
}

TEST(LaunchRun, ChangedInputsAreNoted) {
  const Launched run(with("role = \"inout\"", "role = \"in\""));
  ASSERT_TRUE(run.result()) << run.error();
  EXPECT_THAT(run.report().notes, ::testing::ElementsAre("buffer 'y' has role in, but was written"));
}

TEST(LaunchRun, OnlySomeWorkgroups) {
  const Launched run(saxpy, {.emulator = emulator(0, 0, {1})});
  const std::vector<double> y = run.values("y");
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], i / 256 == 1 ? 0.5 * static_cast<double>(i) + 1 : 1.0);
}

// What is not touched is never made.
TEST(LaunchRun, HugeBuffersCostNothing) {
  const std::string huge = with_x("shape = [\"n\"]", "shape = [\"1 << 36\"]");
  const Launched large(changed(huge, "init = \"ones\"", "init = \"zeros\""));
  ASSERT_TRUE(large.result()) << large.error();
  EXPECT_TRUE(large.report().outcome.completed());
  EXPECT_EQ(large.values("y")[7], 3.5);
}

TEST(LaunchRun, RepeatMemsetAndCopy) {
  const std::string text = with("[[step]]\nkernel = \"saxpy\"\n", R"toml([[buffer]]
name = "kept"
dtype = "f32"
shape = [3, "n"]
role = "out"
[[step]]
memset = "y"
value = 0
[[step]]
repeat = 3
variable = "i"
[[step.step]]
kernel = "saxpy"
grid = 4
workgroup = 256
[[step.step.arg]]
dtype = "f32"
value = "i + 1"
[[step.step.arg]]
buffer = "x"
[[step.step.arg]]
buffer = "y"
[[step.step.arg]]
dtype = "u32"
value = "n"
[[step.step]]
copy = "y"
to = "kept"
to_offset = "4 * n * i"
[[step]]
kernel = "saxpy"
)toml");
  const Launched run(text);
  ASSERT_TRUE(run.result()) << run.error();
  const std::vector<double> kept = run.values("kept"), y = run.values("y");
  for (size_t i = 0; i < 1000; ++i) {
    const auto x = static_cast<double>(i);
    ASSERT_EQ(kept[i], x);
    ASSERT_EQ(kept[1000 + i], 3 * x);
    ASSERT_EQ(kept[2000 + i], 6 * x);
    ASSERT_EQ(y[i], 6.5 * x);
  }
  ASSERT_EQ(run.report().launches.size(), 1U); // the same kernel and grid four times
  EXPECT_EQ(run.report().launches[0].times, 4U);
}

TEST(LaunchRun, HiddenArgumentsCanBeSet) {
  // Workgroups of 64 that are told they have 32: they overlap, and the second half of the elements stays.
  const Launched run(
      with("[[step]]\nkernel = \"saxpy\"\ngrid = [\"ceil_div(n, 256)\"]\nworkgroup = [256]",
           "[hidden]\nhidden_group_size_x = 32\n[[step]]\nkernel = \"saxpy\"\ngrid = 2\nworkgroup = 64"));
  ASSERT_TRUE(run.result()) << run.error();
  const std::vector<double> y = run.values("y");
  EXPECT_EQ(y[31], 0.5 * 31 + 1);
  EXPECT_EQ(y[95], 0.5 * 95 + 1);
  EXPECT_EQ(y[96], 1);
  EXPECT_THAT(Launched(with("[[step]]", "[hidden]\nhidden_colour = 1\n[[step]]")).error(),
              HasSubstr("hidden_colour"));
}

TEST(LaunchRun, RunsTheDocumentedExample) {
  const auto bytes = read_file(ASMEVO_SOURCE_DIR "/docs/launch-spec.md");
  ASSERT_TRUE(bytes);
  std::string text(bytes->begin(), bytes->end());
  const size_t start = text.find("```toml\n") + 8;
  text = text.substr(start, text.find("```", start) - start);
  for (const std::string shape : {"", "tiny", "odd.one", "odd.prime"}) {
    const Launched run(text, {.shape = shape});
    ASSERT_TRUE(run.result()) << run.error();
    ASSERT_TRUE(run.report().outcome.completed()) << run.report().outcome.text;
    EXPECT_THAT(run.report().notes, IsEmpty());
    const std::vector<double> x = run.values("x"), y = run.values("y"), history = run.values("history");
    const size_t n = x.size();
    const auto a = static_cast<float>(1 / std::sqrt(static_cast<double>(n)));
    for (size_t i = 0; i < n; ++i) {
      float expected = 1 + 0.5f * static_cast<float>(i);
      for (size_t round = 0; round < 3; ++round) {
        expected = std::fma(a, static_cast<float>(x[i]), expected);
        ASSERT_EQ(history[round * n + i], expected);
      }
      ASSERT_EQ(y[i], i == n - 1 ? 0 : expected);
      ASSERT_EQ(run.values("b64")[i], std::fma(2.0, run.values("a64")[i], 1.0));
      if (i == 40) break; // values() reads the whole buffer each time
    }
    EXPECT_EQ(run.values("b64_words").size(), 2 * n);
  }
}

TEST(LaunchRun, PointersInMemory) {
  const std::string text = with("[[arg]]\ndtype = \"f32\"", R"toml([[buffer]]
name = "table"
dtype = "ptr"
shape = 4
role = "in"
init = {kind = "pointers", to = ["y", {buffer = "x", offset = 8, stride = 16, count = 3}]}
[[arg]]
dtype = "f32")toml");
  for (const bool plain : {false, true}) {
    const Launched run(text, {.plain = plain});
    ASSERT_TRUE(run.result()) << run.error();
    const uint64_t x = run.memory().address(0), y = run.memory().address(1);
    const auto codes = run.memory().codes(2, 0, 4);
    ASSERT_TRUE(codes);
    EXPECT_EQ(*codes, (std::vector<uint64_t>{y, x + 8, x + 24, x + 40}));
  }
}

// --- arguments

struct Segment {
  Status status;
  Bytes bytes;
  std::vector<uint64_t> pointed; // 8-byte words of the tables
};

Segment segment(const std::string& arguments, const codeobject::KernelMetadata* kernel) {
  Segment s;
  const auto run = [&]() -> Status {
    ASMEVO_TRY(LaunchSpec spec,
               LaunchSpec::parse("[[buffer]]\nname = \"x\"\ndtype = \"u8\"\nshape = 100\nrole = \"out\"\n" +
                                     arguments + "[[step]]\ngrid = 1\nworkgroup = 1\n",
                                 "launch.toml"));
    ASMEVO_TRY(const LaunchPlan plan, LaunchPlan::make(std::move(spec), ""));
    ASMEVO_TRY(const auto device, device::EmulatedDevice::create(*isa::Target::from_id("gfx942")));
    ASMEVO_TRY(const auto memory, LaunchMemory::create(plan, *device));
    std::vector<uint64_t> tables;
    ASMEVO_TRY(s.bytes, build_kernarg(plan.spec.arguments, plan.sizes, kernel, *memory, tables));
    for (const uint64_t table : tables) {
      std::array<uint8_t, 16> bytes{};
      ASMEVO_CHECK(device->read(table, bytes));
      for (size_t i = 0; i < 2; ++i) s.pointed.push_back(*load<uint64_t>(bytes, i * 8) - memory->address(0));
    }
    return {};
  };
  s.status = run();
  return s;
}

std::string scalar(const char* dtype, const char* value, const char* more = "") {
  return fmt::format("[[arg]]\ndtype = \"{}\"\nvalue = {}\n{}", dtype, value, more);
}

TEST(Kernarg, NaturalAlignmentWithoutMetadata) {
  const Segment s = segment(scalar("u8", "1") + scalar("u16", "2") + scalar("f64", "1.0") +
                                "[[arg]]\nbytes = \"aa bb cc\"\n" + scalar("u32", "\"0x01020304\""),
                            nullptr);
  ASSERT_TRUE(s.status) << s.status.error().message;
  EXPECT_EQ(s.bytes,
            (Bytes{1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0xaa, 0xbb, 0xcc, 0, 4, 3, 2, 1}));
}

TEST(Kernarg, PlacedAndTables) {
  const Segment s = segment(scalar("u32", "7", "at = 12\n") + scalar("i8", "-1", "at = 1\n") +
                                "[[arg]]\npointers = [\"x\", {buffer = \"x\", offset = 40}]\nat = 24\n",
                            nullptr);
  ASSERT_TRUE(s.status) << s.status.error().message;
  EXPECT_EQ(s.bytes.size(), 32U);
  EXPECT_EQ(s.bytes[1], 0xff);
  EXPECT_EQ(s.bytes[12], 7);
  EXPECT_EQ(s.pointed, (std::vector<uint64_t>{0, 40}));
}

TEST(Kernarg, CheckedAgainstMetadata) {
  codeobject::KernelMetadata kernel;
  kernel.name = "k";
  kernel.args = {{"p", 0, 8, "global_buffer", "global", ""},
                 {"n", 16, 4, "by_value", "", ""},
                 {"", 24, 4, "hidden_block_count_x", "", ""}};
  const std::string pointer = "[[arg]]\nbuffer = \"x\"\n";
  const Segment right = segment(pointer + scalar("i32", "-2"), &kernel);
  ASSERT_TRUE(right.status) << right.status.error().message;
  EXPECT_EQ(right.bytes.size(), 20U);
  EXPECT_EQ(*load<int32_t>(right.bytes, 16), -2);
  const auto refused = [&](const std::string& arguments, const char* why) {
    const Segment s = segment(arguments, &kernel);
    ASSERT_FALSE(s.status) << arguments;
    EXPECT_THAT(s.status.error().message, AllOf(StartsWith("launch.toml"), HasSubstr(why)));
  };
  refused(pointer, "1 argument; kernel 'k' takes 2");
  refused(pointer + scalar("f64", "1"), "takes 4 bytes");
  refused(scalar("f64", "1") + scalar("i32", "1"), "a number of f64");
  refused(pointer + scalar("i32", "3000000000"), "does not fit");
  refused(pointer + scalar("i32", "1.5"), "no integer");
  refused(pointer + scalar("i32", "\"m\""), "'m'");
  refused("[[arg]]\nbuffer = \"x\"\noffset = 101\n" + scalar("i32", "1"), "100");
  refused(scalar("u32", "7", "at = 18\n"), "end at 20");
  refused(scalar("u32", "7", "at = 4\n") + scalar("u32", "7", "at = 6\n"), "taken");
}

// --- mistakes

TEST(LaunchRun, MistakesAreNamed) {
  EXPECT_THAT(Launched(with("kernel = \"saxpy\"", "kernel = \"saxpi\"")).error(),
              AllOf(StartsWith("launch.toml:"), HasSubstr("'saxpi'"), HasSubstr("saxpy_strided")));
  EXPECT_THAT(Launched(with("kernel = \"saxpy\"\n", "")).error(), HasSubstr("kernel: missing"));
  EXPECT_THAT(Launched(saxpy, {.kernel = "saxpi"}).error(), HasSubstr("--kernel"));
  EXPECT_THAT(Launched(saxpy, {.kernel = "saxpy_strided"}).error(), HasSubstr("takes 5"));
  EXPECT_THAT(Launched(with("workgroup = [256]", "workgroup = [2048]")).error(), HasSubstr("workgroup"));
  EXPECT_THAT(Launched(with("workgroup = [256]", "workgroup = [1024, 2]")).error(),
              StartsWith("launch.toml:"));
  EXPECT_THAT(Launched(with("workgroup = [256]", "workgroup = [256]\ndynamic_lds = 100000")).error(),
              HasSubstr("LDS"));
  EXPECT_THAT(Launched(with("grid = [\"ceil_div(n, 256)\"]", "grid = 0")).error(), HasSubstr("grid"));
  EXPECT_THAT(Launched(with("buffer = \"y\"", "buffer = \"y\"\noffset = 5000")).error(), HasSubstr("offset"));
  const auto step = [](const std::string& lines) { return Launched(saxpy + "[[step]]\n" + lines).error(); };
  EXPECT_THAT(step("memset = \"y\"\nvalue = 256\n"), HasSubstr("value"));
  EXPECT_THAT(step("memset = \"y\"\nvalue = 0\noffset = 4001\n"), HasSubstr("4000"));
  EXPECT_THAT(step("memset = \"y\"\nvalue = 0\nbytes = 4001\n"), HasSubstr("4000"));
  EXPECT_THAT(step("copy = \"y\"\nto = \"x\"\nto_offset = 4\n"), HasSubstr("copy"));
  EXPECT_THAT(step("copy = \"y\"\nto = \"y\"\nto_offset = 4\nbytes = 8\n"), HasSubstr("overlap"));
  EXPECT_THAT(step("repeat = 1000000\n[[step.step]]\nrepeat = 1000000\n[[step.step.step]]\nmemset = "
                   "\"y\"\nvalue = 0\nbytes = 0\n"),
              HasSubstr("1000000 steps"));
  EXPECT_THAT(step("repeat = 2\nvariable = \"i\"\n[[step.step]]\nrepeat = 2\nvariable = \"i\"\n"
                   "[[step.step.step]]\nmemset = \"y\"\nvalue = 0\n"),
              HasSubstr("'i'"));
}

} // namespace
} // namespace asmevo::oracle::testing
