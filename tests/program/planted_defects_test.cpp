// Planted defects: kernels from clang 22 with one wait weakened or one s_nop shortened, and whether the check
// notices. What is a defect is llc's word, not ours. For waits: its pass si-insert-waitcnts, run over the
// weakened code, puts something back. For wait states: every s_nop is there because its hazard recognizer
// wants that many. A sample runs by default; ASMEVO_FULL=1 plants everything and prints the table of
// docs/static-check.md.
#include "base/random.h"
#include "full_run.h"
#include "isa/hazard_oracle.h"
#include "program/static_check.h"
#include "program_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

namespace asmevo::program {
namespace {

std::string run(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 65536> buffer{};
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << command << ": " << output.substr(0, 2000);
  return output;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// One kernel: plain instructions and labels, and llc's MIR of the same point for asking about waits.
struct Kernel {
  std::string name;
  std::vector<std::string> text;
  std::vector<size_t> waits, nops; // lines of text
};

struct Suite {
  isa::Gfx gfx = isa::Gfx::gfx942;
  std::string cpu;
  // What llc has after each of the two passes, and the instructions of interest in it, in order.
  std::string wait_mir, nop_mir;
  std::vector<std::string> waits, nops; // "S_WAITCNT 3952", "S_NOP 3"
  std::vector<Kernel> kernels;
};

std::vector<Kernel> kernels_of(const std::string& assembly) {
  std::vector<Kernel> kernels;
  bool inside = false;
  for (std::string line : lines_of(assembly)) {
    if (const size_t comment = line.find(';'); comment != std::string::npos) line.resize(comment);
    line = test::trim(std::regex_replace(line, std::regex("\t"), " "));
    if (line == ".amdgpu_metadata") break;
    if (line.ends_with(":") && line[0] != '.' && line[0] != '_') {
      kernels.push_back({line.substr(0, line.size() - 1), {}, {}, {}});
      inside = true;
      continue;
    }
    if (line.starts_with(".section") || line.starts_with(".Lfunc_end")) inside = false;
    if (!inside || line.empty() || (line[0] == '.' && !line.starts_with(".LBB"))) continue;
    Kernel& k = kernels.back();
    line = std::regex_replace(line, std::regex("\\.LBB"), "LBB");
    if (line.starts_with("s_waitcnt")) k.waits.push_back(k.text.size());
    if (line.starts_with("s_nop")) k.nops.push_back(k.text.size());
    k.text.push_back(line);
  }
  std::erase_if(kernels, [](const Kernel& k) { return k.text.empty(); });
  return kernels;
}

std::vector<std::string> select(const std::string& mir, std::string_view mnemonic) {
  std::vector<std::string> list;
  for (const std::string& line : lines_of(mir))
    if (const std::string text = test::trim(line); text.starts_with(mnemonic)) list.push_back(text);
  return list;
}

constexpr std::string_view wait = "S_WAITCNT ", nop = "S_NOP ";

Suite build_suite(isa::Gfx gfx) {
  Suite s;
  s.gfx = gfx;
  s.cpu = std::string(isa::Target{.gfx = gfx}.name());
  const std::string ir =
      run("/usr/lib/llvm-22/bin/clang -x hip --offload-device-only -nogpuinc -nogpulib -O3 -S -emit-llvm "
          "--no-gpu-bundle-output --offload-arch=" +
          s.cpu + " " ASMEVO_SOURCE_DIR "/tests/program/planted/kernels.hip -o -");
  s.wait_mir = test::run_llc("-O3 -mcpu=" + s.cpu + " -stop-after=si-insert-waitcnts", ir, "ll");
  s.nop_mir = test::run_llc("-O3 -mcpu=" + s.cpu + " -stop-after=post-RA-hazard-rec", ir, "ll");
  s.waits = select(s.wait_mir, wait);
  s.nops = select(s.nop_mir, nop);
  s.kernels = kernels_of(test::run_llc("-O3 -mcpu=" + s.cpu, ir, "ll"));
  return s;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<Finding> findings(const Suite& s, const std::vector<std::string>& text, Program& program) {
  program = testing::build_program(joined(text), true, s.gfx);
  const Cfg cfg = Cfg::build(program, program.functions[0]);
  CheckOptions options;
  options.possible = true;
  return check(program, program.functions[0], cfg, options);
}

// Counts per kind of defect.
struct Tally {
  size_t planted = 0, matter = 0, found = 0;
};

class PlantedDefects : public ::testing::TestWithParam<isa::Gfx> {
 protected:
  // llvm#218363: llc 22 puts nothing between different matrix instructions that share an accumulator.
  static bool known_of_llc(const Finding& f) { return f.rule == "mfma-mixed-src-c"; }

  void start(const Suite& s) {
    // llc's own code has nothing else to find, and its wait pass nothing to add to it.
    for (const Kernel& k : s.kernels) {
      Program program;
      for (const Finding& f : findings(s, k.text, program))
        if (!known_of_llc(f)) ADD_FAILURE() << s.cpu << " " << k.name << ": " << f.message;
    }
    ASSERT_EQ(select(wait_pass(s, s.wait_mir), wait), s.waits);
  }

  static std::string wait_pass(const Suite& s, const std::string& mir) {
    return test::run_llc("-mcpu=" + s.cpu + " -run-pass=si-insert-waitcnts", mir);
  }
  static std::string hazard_pass(const Suite& s, const std::string& mir) {
    return test::run_llc("-mcpu=" + s.cpu + " -run-pass=post-RA-hazard-rec", mir);
  }

  // The MIR with its n-th line of that mnemonic changed.
  static std::string changed(const std::string& mir, std::string_view mnemonic, size_t n,
                             const std::string& line) {
    size_t at = 0;
    for (size_t k = 0; k <= n; ++k) at = mir.find(mnemonic, at) + 1;
    return mir.substr(0, at - 1) + line + mir.substr(mir.find('\n', at));
  }

  // Does llc put the wait, the wait states back?
  static bool wait_matters(const Suite& s, size_t n, uint16_t immediate) {
    const std::string weakened = changed(s.wait_mir, wait, n, std::string(wait) + std::to_string(immediate));
    return select(wait_pass(s, weakened), wait) != select(weakened, wait);
  }
  static bool nop_matters(const Suite& s, size_t n, const std::string& line) {
    const std::string weakened = changed(s.nop_mir, nop, n, line);
    return select(hazard_pass(s, weakened), nop) != select(weakened, nop);
  }

  bool found(const Suite& s, const Kernel& k, size_t line, const std::string& replacement) {
    std::vector<std::string> text = k.text;
    text[line] = replacement;
    Program program;
    const std::vector<Finding> list = findings(s, text, program);
    return std::ranges::any_of(list, [](const Finding& f) { return !known_of_llc(f); });
  }

  void count(Tally& t, bool hit, const std::string& what) {
    ++t.matter;
    t.found += hit;
    if (!hit) misses_.push_back(what);
  }

  void plant_wait(const Suite& s, const Kernel& k, size_t line, size_t n) {
    const auto immediate = static_cast<uint16_t>(std::stoul(s.waits[n].substr(wait.size())));
    const isa::WaitcntFields was = isa::WaitcntFields::decode(immediate);
    struct Variant {
      const char* kind;
      isa::WaitcntFields fields;
    };
    std::vector<Variant> variants;
    if (was.vmcnt < 63) {
      variants.push_back({"vmcnt by one", {was.vmcnt + 1, was.expcnt, was.lgkmcnt}});
      if (was.vmcnt < 62) variants.push_back({"vmcnt dropped", {63, was.expcnt, was.lgkmcnt}});
    }
    if (was.lgkmcnt < 15) {
      variants.push_back({"lgkmcnt by one", {was.vmcnt, was.expcnt, was.lgkmcnt + 1}});
      if (was.lgkmcnt < 14) variants.push_back({"lgkmcnt dropped", {was.vmcnt, was.expcnt, 15}});
    }
    for (const Variant& v : variants) {
      if (!test::full_run() && random_.below(16) != 0) continue;
      Tally& tally = tallies_[v.kind];
      ++tally.planted;
      if (!wait_matters(s, n, v.fields.encode())) continue;
      const std::string text =
          fmt::format("s_waitcnt vmcnt({}) lgkmcnt({})", v.fields.vmcnt, v.fields.lgkmcnt);
      count(tally, found(s, k, line, text),
            fmt::format("{} {} line {}: {} -> {}", s.cpu, k.name, line, k.text[line], text));
    }
  }

  void plant_nop(const Suite& s, const Kernel& k, size_t line, size_t n) {
    const unsigned states = static_cast<unsigned>(std::stoul(k.text[line].substr(6)));
    // Dropped: a label keeps the line.
    for (const bool drop : {false, true}) {
      if (!test::full_run() && random_.below(6) != 0) continue;
      if (!drop && states == 0) continue; // the same as dropping it
      Tally& tally = tallies_[drop ? "s_nop dropped" : "s_nop by one"];
      ++tally.planted;
      if (!nop_matters(s, n, drop ? "" : fmt::format("{}{}", nop, states - 1))) continue;
      const std::string text = drop ? "planted:" : fmt::format("s_nop {}", states - 1);
      count(tally, found(s, k, line, text),
            fmt::format("{} {} line {}: {} -> {}", s.cpu, k.name, line, k.text[line], text));
    }
  }

  RandomStream random_{5};
  std::map<std::string, Tally> tallies_;
  std::vector<std::string> misses_;
};

TEST_P(PlantedDefects, AreFound) {
  const Suite s = build_suite(GetParam());
  start(s);
  size_t waits = 0, nops = 0;
  for (const Kernel& k : s.kernels) waits += k.waits.size(), nops += k.nops.size();
  ASSERT_EQ(waits, s.waits.size()) << "llc's last passes changed the waits";
  ASSERT_EQ(nops, s.nops.size()) << "llc's last passes changed the wait states";
  waits = nops = 0;
  for (const Kernel& k : s.kernels) {
    for (const size_t line : k.waits) plant_wait(s, k, line, waits++);
    for (const size_t line : k.nops) plant_nop(s, k, line, nops++);
  }
  Tally all;
  for (const auto& [kind, t] : tallies_) {
    fmt::print("{} {:16} planted {:4} matter {:4} found {:4}\n", s.cpu, kind, t.planted, t.matter, t.found);
    all.matter += t.matter;
    all.found += t.found;
  }
  for (const std::string& miss : misses_) fmt::print("{}: not found\n", miss);
  EXPECT_GT(all.matter, 10U);
  EXPECT_GE(all.found * 100, all.matter * 95) << all.found << " of " << all.matter;
}

INSTANTIATE_TEST_SUITE_P(Targets, PlantedDefects,
                         ::testing::Values(isa::Gfx::gfx90a, isa::Gfx::gfx942, isa::Gfx::gfx950),
                         [](const auto& gpu) { return std::string(isa::Target{.gfx = gpu.param}.name()); });

} // namespace
} // namespace asmevo::program
