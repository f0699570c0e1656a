// `asmevo run` as a user meets it: results and outcomes on stdout with exit code 0 or 1, mistakes on stderr
// with 2.
#include "base/files.h"
#include "cli/program_run.h"
#include "codeobject/code_object.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// y = 2 * x + y for x = 0, 1, 2, ... and y = 1.
const std::string saxpy = R"toml([sizes]
n = 1000
beyond = 0
groups = 4
[shapes.tiny]
n = 70
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
guard = 4096
[[arg]]
dtype = "f32"
value = 2
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = "n + beyond"
[[step]]
kernel = "saxpy"
grid = ["groups"]
workgroup = [256]
)toml";

std::string with(std::string_view from, std::string_view to) {
  std::string text = saxpy;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class Run : public ::testing::Test {
 protected:
  // Runs `object` by a launch file with this text.
  Ran run(const std::string& object, const std::string& launch, std::vector<std::string> more = {}) {
    EXPECT_TRUE(write_file(launch_, launch));
    std::vector<std::string> command = {"run", object, "--launch", launch_.string()};
    command.insert(command.end(), more.begin(), more.end());
    return run_asmevo(command);
  }
  // saxpy with an endless loop in front.
  std::string spinning() {
    const std::string edit = (folder_ / "edit.json").string(), out = (folder_ / "spin.co").string();
    EXPECT_TRUE(write_file(edit, std::string_view(R"({"version": 1, "base": 0, "kernel": "saxpy", "changes": [
      {"before": "0", "text": "spin:\ns_nop 0\ns_branch spin"}]})")));
    const Ran built = run_asmevo({"rebuild", good_, "--edit", edit, "-o", out});
    EXPECT_EQ(built.exit_code, 0) << built.err;
    return out;
  }

  TemporaryFolder folder_;
  fs::path launch_ = folder_ / "launch.toml";
  std::string good_ = sample("saxpy", "gfx942").string();
};

// The run did not complete: one line says so, last on stdout.
void expect_outcome(const Ran& ran, const std::string& line) {
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.err, IsEmpty());
  ASSERT_THAT(ran.out, EndsWith("\n"));
  const size_t start = ran.out.rfind('\n', ran.out.size() - 2) + 1;
  EXPECT_THAT(ran.out.substr(start, ran.out.size() - start - 1), MatchesRegex(line));
}

void expect_refused(const Ran& ran, const std::string& named) {
  EXPECT_EQ(ran.exit_code, 2) << ran.out;
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, AllOf(StartsWith("asmevo: "), HasSubstr(named), EndsWith("\n")));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

TEST_F(Run, PrintsWhatCameOut) {
  for (const char* target : {"gfx90a", "gfx942", "gfx950"}) {
    const Ran ran = run(sample("saxpy", target).string(), saxpy);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(fmt::format(" on emulator ({})\n", target)));
    EXPECT_THAT(ran.out, HasSubstr("saxpy: 4 x 1 x 1 workgroups of 256 x 1 x 1 work-items: "));
    EXPECT_THAT(ran.out, HasSubstr("inout y f32[1000]: 1 3 5 7 9 11 13 15 ...\ncompleted\n"));
  }
  EXPECT_THAT(run(good_, saxpy, {"--shape", "tiny", "--print", "x:3", "--print", "y:0"}).out,
              HasSubstr("in x f32[70]: 0 1 2 ...\ninout y f32[70]:  ...\n"));
}

TEST_F(Run, WritesBuffersToFiles) {
  const std::string dump = (folder_ / "dump").string();
  EXPECT_EQ(run(good_, saxpy, {"--dump", dump}).exit_code, 0);
  const auto bytes = read_file(dump + "/y.bin");
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 4000U);
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(*load<float>(*bytes, 4 * i), 2 * static_cast<float>(i) + 1);
  EXPECT_FALSE(fs::exists(dump + "/x.bin"));
}

TEST_F(Run, Json) {
  const Ran ran = run(good_, saxpy, {"--json", "--print", "y:2"});
  EXPECT_EQ(ran.exit_code, 0);
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(document.is_object()) << ran.out;
  EXPECT_EQ(document["outcome"], "completed");
  EXPECT_EQ(document["launches"][0]["workgroups"][0], 4);
  EXPECT_EQ(document["buffers"][0]["head"][1], "3");
  uint64_t by_family = 0;
  for (const auto& [family, count] : document["families"].items()) by_family += count.get<uint64_t>();
  EXPECT_EQ(document["instructions"], by_family);
  const auto faulty =
      nlohmann::json::parse(run(good_, with("beyond = 0", "beyond = 1"), {"--json"}).out, nullptr, false);
  ASSERT_TRUE(faulty.is_object());
  EXPECT_EQ(faulty["outcome"], "guard_damaged");
  EXPECT_EQ(faulty["lane"], 1000 % 64);
}

TEST_F(Run, AWriteOverAGuardIsAnOutcome) {
  expect_outcome(run(good_, with("beyond = 0", "beyond = 1")),
                 "guard_damaged: global_store_dword writes 4 bytes at 0x[0-9a-f]+: byte 0 of region 'guard "
                 "behind y' .*");
}

TEST_F(Run, AFaultIsAnOutcome) {
  std::string unguarded = with("guard = 4096", "guard = 0");
  unguarded.replace(unguarded.find("beyond = 0"), 10, "beyond = 1");
  expect_outcome(run(good_, unguarded),
                 "fault: global_load_dword.* at 0x[0-9a-f]+: .* at pc 0x[0-9a-f]+ .*workgroup 3, "
                 "wave 3, lane 40.*");
}

TEST_F(Run, AHangIsAnOutcome) {
  const std::string spin = spinning();
  expect_outcome(run(spin, saxpy, {"--max-steps", "100000"}),
                 "hang: .*workgroup 0, wave [0-9].* from pc 0x1e00 to 0x1e04");
  expect_outcome(run(spin, saxpy, {"--time-limit", "0.2"}), "time limit: .*");
}

TEST_F(Run, HugeGrids) {
  // 2^31 workgroups: those asked for, and what fits into the time.
  const std::string huge = with("groups = 4", "groups = \"1 << 31\"");
  const Ran some = run(good_, huge, {"--workgroups", "0-3,2147483647", "--shape", "tiny"});
  EXPECT_EQ(some.exit_code, 0) << some.out << some.err;
  EXPECT_THAT(some.out, HasSubstr("saxpy: 2147483648 x 1 x 1 workgroups"));
  expect_outcome(run(good_, huge, {"--time-limit", "0.3"}), "time limit: stopped after [0-9]+ workgroups");
  expect_refused(run(good_, with("groups = 4", "groups = \"1 << 45\"")), "grid");
  expect_refused(run(good_, saxpy, {"--workgroups", "4"}), "workgroup 4");
  expect_refused(run(good_, saxpy, {"--workgroups", "0-99999999"}), "--workgroups");
  expect_refused(run(good_, saxpy, {"--workgroups", "1,x"}), "--workgroups");
}

TEST_F(Run, TooManyRegisters) {
  // The descriptor's field cannot say more than 512; 16 waves of them do not fit on a compute unit.
  auto bytes = read_file(good_);
  ASSERT_TRUE(bytes);
  const auto object = codeobject::CodeObject::parse(*bytes);
  ASSERT_TRUE(object);
  const codeobject::Kernel* kernel = object->find_kernel("saxpy");
  const auto section = object->section_at(kernel->descriptor_address);
  ASSERT_TRUE(section);
  const codeobject::Section& s = object->sections()[*section];
  constexpr size_t pgm_rsrc1 = 48;
  (*bytes)[s.offset + kernel->descriptor_address - s.address + pgm_rsrc1] |= 0x3f;
  const std::string all = (folder_ / "all.co").string();
  ASSERT_TRUE(write_file(all, *bytes));
  expect_refused(run(all, with("workgroup = [256]", "workgroup = [1024]")), "512 vector registers");
  EXPECT_EQ(run(all, saxpy).exit_code, 0);

  // Metadata can ask for 600.
  const std::string text = (folder_ / "k.s").string(), asks = (folder_ / "asks.co").string();
  ASSERT_EQ(run_asmevo({"recover", good_, "-o", text}).exit_code, 0);
  const auto lines = read_file(text);
  std::string changed(lines->begin(), lines->end());
  size_t at = 0, count = 0;
  while ((at = changed.find(".vgpr_count:", at)) != std::string::npos) {
    const size_t end = changed.find('\n', at);
    changed.replace(at, end - at, ".vgpr_count: 600");
    at += 5;
    ++count;
  }
  ASSERT_GT(count, 0U);
  ASSERT_TRUE(write_file(text, changed));
  ASSERT_EQ(run_asmevo({"rebuild", text, "-o", asks}).exit_code, 0);
  expect_refused(run(asks, saxpy), "600 vector registers");
}

TEST_F(Run, OtherTargets) {
  expect_refused(run(good_, "targets = [\"gfx90a\", \"gfx950\"]\n" + saxpy), "gfx942");
  expect_refused(run(good_, saxpy, {"--target", "gfx950"}), "gfx950");
  const std::string rdna = (folder_ / "rdna.co").string();
  const Ran compiled = run_command(
      {"clang-22", "-x", "hip", "--offload-device-only", "--offload-arch=gfx1100", "-nogpuinc", "-nogpulib",
       "--no-gpu-bundle-output", "-O3", ASMEVO_SOURCE_DIR "/kernels/samples/saxpy.hip", "-o", rdna});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  expect_refused(run(rdna, saxpy), "gfx1100");
}

TEST_F(Run, MistakesNameFileAndKey) {
  const std::string file = launch_.string() + ":";
  expect_refused(run(good_, with("kernel = \"saxpy\"", "kernel = \"saxpi\"")),
                 file + "30: step launch: kernel: ");
  expect_refused(run(good_, with("kernel = \"saxpy\"", "kernel = \"saxpy_strided\"")), launch_.string());
  expect_refused(run(good_, saxpy, {"--kernel", "nothing"}), "'nothing'");
  // Buffers and files that are too short for what is asked of them.
  expect_refused(run(good_, with("buffer = \"y\"", "buffer = \"y\"\noffset = 4001")), "offset");
  expect_refused(run(good_, with("init = \"sequence\"", "init = {kind = \"file\", path = \"short.bin\"}")),
                 "short.bin");
  ASSERT_TRUE(write_file(folder_ / "short.bin", std::string_view("1234")));
  expect_refused(run(good_, with("init = \"sequence\"", "init = {kind = \"file\", path = \"short.bin\"}")),
                 "4 bytes; 4000 from byte 0 on");
  expect_refused(run(good_, with("init = \"sequence\"", "init = {kind = \"values\", values = [1]}")),
                 "1 values");
  expect_refused(run(good_, saxpy + "[[step]]\nmemset = \"y\"\nvalue = 0\nbytes = 5000\n"), "5000");
  expect_refused(run(good_, with("n = 1000", "n = \"1000 +\"")), file + "2: size 'n'");
  expect_refused(run(good_, "no launch file"), file + "1: ");
  expect_refused(run(good_, saxpy, {"--shape", "none"}), "'none'");
  expect_refused(run(good_, saxpy, {"--print", "z"}), "'z'");
  expect_refused(run(good_, saxpy, {"--print", "y:many"}), "y:many");
  expect_refused(run(good_, saxpy, {"--trace", "--trace-pc", "5-x"}), "--trace-pc");
  expect_refused(run_asmevo({"run", good_}), "--launch");
}

// What would fill memory, or take a workgroup twice.
TEST_F(Run, RefusesTooMuch) {
  expect_refused(run(good_, saxpy, {"--workgroups", "0,0,0"}), "--workgroups: 0 is there twice");
  expect_refused(run(good_, saxpy, {"--workgroups", "1-3,2"}), "--workgroups: 2 is there twice");
  const std::string huge = with("n = 1000", "n = 3000000000");
  expect_refused(run(good_, huge, {"--workgroups", "0", "--print", "y:1000001"}), "--print: 'y:1000001'");
  expect_refused(run(good_, huge, {"--workgroups", "0", "--print", "y:600000", "--print", "x:600000"}),
                 "--print: 'x:600000'");
  EXPECT_EQ(run(good_, saxpy, {"--print", "y:18446744073709551615"}).exit_code, 0) << "all there are";
  const std::string memset = "[[step]]\nmemset = \"y\"\nvalue = 0\n";
  expect_refused(run(good_, huge + memset + "offset = 4\n", {"--workgroups", "0"}),
                 "memsets and copies touch more than");
  EXPECT_EQ(run(good_, huge + memset, {"--workgroups", "0"}).exit_code, 0) << "a whole buffer is no work";
  // Again and again the same bytes.
  EXPECT_EQ(run(good_,
                with("n = 1000", "n = 100000") + "[[step]]\nrepeat = 30000\n[[step.step]]\nmemset = "
                                                 "\"y\"\nvalue = 0\n",
                {"--workgroups", "0"})
                .exit_code,
            0);
  const std::string dump = (folder_ / "dump").string();
  expect_refused(run(good_, huge, {"--workgroups", "0", "--dump", dump}), "--dump");
  EXPECT_FALSE(fs::exists(dump));
}

TEST_F(Run, Traces) {
  const Ran ran = run(good_, saxpy,
                      {"--trace", "--trace-workgroup", "2", "--trace-wave", "1", "--trace-pc", "1e00-1e10",
                       "--trace-lane", "3"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("wg 2 wave 1       1e00  s_load_dword "));
  EXPECT_THAT(ran.out, EndsWith("completed\n"));
  const Ran json = run(good_, saxpy, {"--trace", "--trace-pc", "1e00", "--json"});
  EXPECT_TRUE(nlohmann::json::parse(json.out, nullptr, false).is_object());
  EXPECT_THAT(json.err, StartsWith("wg 0 wave 0 "));
}

TEST_F(Run, ListsWhatIsNotImplemented) {
  const Ran all = run_asmevo({"run", "--list-unimplemented"});
  EXPECT_EQ(all.exit_code, 0) << all.out;
  EXPECT_THAT(all.out, HasSubstr("images, interpolation, export:\n  image_"));
  EXPECT_THAT(
      all.out,
      MatchesRegex("(.|\n)*\n1[0-9][0-9][0-9] mnemonics, 0 unimplemented, besides [0-9]+ for graphics\n"));
  const Ran one = run_asmevo({"run", good_, "--list-unimplemented"});
  EXPECT_EQ(one.exit_code, 0) << one.out;
  EXPECT_THAT(one.out, EndsWith(" 0 unimplemented, besides 0 for graphics\n"));
  expect_refused(run_asmevo({"run", launch_.string(), "--list-unimplemented"}), "launch.toml");
}

// saxpy, whose wait for both loads is taken out.
TEST_F(Run, SanitizerFindsAMissingWaitAndDelayedResultsShowIt) {
  const TemporaryFolder folder;
  const std::string k0 = sample("saxpy", "gfx942").string(), k1 = (folder / "no-wait.co").string();
  const std::string edit =
      R"({"version": 1, "base": 0, "kernel": "saxpy", "changes": [{"first": "70", "last": "70", "text": ""}]})";
  ASSERT_TRUE(write_file(folder / "edit.json", as_bytes(edit)));
  ASSERT_TRUE(write_file(folder / "launch.toml", as_bytes(saxpy)));
  const std::string launch = (folder / "launch.toml").string();
  ASSERT_EQ(run_asmevo({"rebuild", k0, "--edit", (folder / "edit.json").string(), "-o", k1}).exit_code, 0);

  const Ran clean = run_asmevo({"run", k0, "--launch", launch, "--sanitize"});
  EXPECT_EQ(clean.exit_code, 0) << clean.out;
  EXPECT_THAT(clean.out, HasSubstr("sanitizer: 0 defects, 0 possible\n"));
  const Ran found = run_asmevo({"run", k1, "--launch", launch, "--sanitize"});
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_THAT(found.out,
              AllOf(StartsWith("saxpy: in_flight: v5 used while in flight: 'v_fmac_f32_e32 v5, s2, v4'"),
                    HasSubstr("s_waitcnt vmcnt(0) before the second\nsanitizer: 1 defect, 0 possible\n"),
                    EndsWith("completed\n")));
  const auto json =
      nlohmann::json::parse(run_asmevo({"run", k1, "--launch", launch, "--sanitize", "--json"}).out);
  ASSERT_EQ(json["defects"].size(), 1U);
  EXPECT_EQ(json["defects"][0]["kind"], "in_flight");
  EXPECT_EQ(json["defects"][0]["before"]["text"], "global_load_dword v5, v[0:1], off");

  // The emulator does not mind, but for a memory as slow as it may be.
  const auto numbers = [&](const std::string& object, bool delayed) {
    std::vector<std::string> command = {"run", object, "--launch", launch, "--json"};
    if (delayed) command.push_back("--delay-results");
    return nlohmann::json::parse(run_asmevo(command).out)["buffers"];
  };
  EXPECT_EQ(numbers(k0, false), numbers(k1, false));
  EXPECT_EQ(numbers(k0, false), numbers(k0, true));
  EXPECT_NE(numbers(k0, false), numbers(k1, true));
}

} // namespace
} // namespace asmevo::testing
