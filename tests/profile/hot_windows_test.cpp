// Where to edit: the ranges found, what is said of them, and that it is true.
#include "profile/modelled_kernel.h"

#include <algorithm>
#include <sstream>

namespace asmevo::profile {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::lines;
using testing::ModelledKernel;
using ::testing::Not;
using testing::ReadKernel;
using testing::repeated;

bool holds(const HotWindow& w, program::Index i) {
  return i >= w.window.begin && i < w.window.end;
}

// One wave a SIMD: the wait costs what the work behind it could hide.
std::string late_wait(const std::string& order) {
  const std::string load = "global_load_dword v3, v1, s[8:9] sc1\n", wait = "s_waitcnt vmcnt(0)\n",
                    work = lines(32, "v_fma_f32 v4, v4, v4, v4");
  return repeated(100, (order == "early" ? load + wait + work : load + work + wait) + "v_add_u32 v5, v5, v3");
}

TEST(HotWindows, LoopWithAWaitHoldsTheWaitAndItsLoad) {
  const ModelledKernel k(late_wait("early"), {.groups = 304, .items = 256});
  const std::vector<HotWindow> windows = k.windows();
  ASSERT_FALSE(windows.empty());
  const HotWindow& w = windows.front();
  const program::Index load = k.find("global_load_dword"), wait = k.find("s_waitcnt", 1);
  EXPECT_EQ(w.kind, HotWindow::Kind::Loop);
  EXPECT_TRUE(holds(w, load));
  EXPECT_TRUE(holds(w, wait));
  EXPECT_EQ(w.worst, wait);
  EXPECT_THAT(w.awaited, Contains(load));
  EXPECT_FALSE(holds(w, k.find("s_endpgm")));
  EXPECT_EQ(w.window.loop_depth, 1U);
  EXPECT_GT(w.gain, 0.2);
}

// What hides the wait takes the gain away.
TEST(HotWindows, GainFallsWithWhatCanBeHidden) {
  const ModelledKernel early(late_wait("early"), {.groups = 304, .items = 256});
  const ModelledKernel late(late_wait("late"), {.groups = 304, .items = 256});
  EXPECT_GT(early.windows().at(0).gain, 1.2 * late.windows().at(0).gain);
  EXPECT_GT(early.windows().at(0).hideable, 1.3 * late.windows().at(0).hideable);
}

// Waves that fill the pipe have nothing to win, however long each of them waits.
TEST(HotWindows, BusyPipesHaveNothingToWin) {
  const std::string loop = repeated(200, lines(8, "v_exp_f32 v2, v2"));
  const ModelledKernel k(loop, {.groups = 304, .items = 1024});
  const std::vector<HotWindow> windows = k.windows();
  ASSERT_FALSE(windows.empty());
  for (const HotWindow& w : windows) EXPECT_LT(w.gain, 0.1);
  EXPECT_TRUE(holds(windows[0], k.find("v_exp_f32"))) << "it is still where time goes";
  EXPECT_EQ(windows[0].pipe, timing::Pipe::Valu);
  EXPECT_GT(windows[0].pipe_share, 0.8);
}

TEST(HotWindows, NoMoreThanTheBusiestUnitLeaves) {
  const ModelledKernel k(late_wait("early"), {.groups = 304, .items = 256});
  for (const HotWindow& w : k.windows({.busiest_unit = 0.95})) EXPECT_LE(w.gain, 0.05 + 1e-9);
}

TEST(HotWindows, LiveRegistersAreWhatLivenessSays) {
  const ModelledKernel k("global_load_dword v3, v1, s[8:9]\nv_mov_b32 v6, 1\ns_waitcnt vmcnt(0)\n"
                         "v_add_u32 v4, v3, v6\ns_barrier\nglobal_store_dword v1, v4, s[8:9]",
                         {.groups = 64});
  const std::vector<HotWindow> windows = k.windows({.windows = 8});
  ASSERT_FALSE(windows.empty());
  for (const HotWindow& w : windows) { // straight code
    EXPECT_EQ(w.window.live_in, k.code->liveness().before(w.window.begin));
    EXPECT_EQ(w.window.live_out, k.code->liveness().after(w.window.end - 1));
  }
}

TEST(HotWindows, OfALoopWhatLivesAroundIt) {
  const ModelledKernel k("v_mov_b32 v5, 0\n" + late_wait("early") + "global_store_dword v1, v5, s[8:9]",
                         {.groups = 304, .items = 256});
  const HotWindow w = k.windows().at(0);
  EXPECT_TRUE(w.window.live_in.contains(5));
  EXPECT_TRUE(w.window.live_in.contains(1));
  EXPECT_TRUE(w.window.live_out.contains(5));
  EXPECT_FALSE(w.window.live_out.contains(3)) << "only read inside";
  const auto made_by = [&](isa::RegUnit reg) {
    const auto found =
        std::ranges::find_if(w.producers, [&](const OutsideUse& u) { return u.reg.contains(reg); });
    return found == w.producers.end() ? program::no_index : found->at;
  };
  EXPECT_EQ(made_by(5), k.find("v_mov_b32"));
  EXPECT_EQ(made_by(1), k.find("v_lshlrev_b32"));
  ASSERT_EQ(w.consumers.size(), 1U);
  EXPECT_EQ(w.consumers[0].at, k.find("global_store_dword"));
  EXPECT_TRUE(w.consumers[0].reg.contains(5));
}

// Matrix instructions read lanes that are off, too. Where a launch has none, what they hold is no matter.
TEST(HotWindows, LanesThatAreNeverOffHoldNothing) {
  const std::string body = repeated(20, "ds_read_b64 v[2:3], v1\ns_waitcnt lgkmcnt(0)\n"
                                        "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[2:3], v[16:31]");
  const ModelledKernel whole(body, {.groups = 64, .items = 64, .vgprs = 64, .lds = 4096}),
      partial(body, {.groups = 64, .items = 96, .vgprs = 64, .lds = 4096});
  const auto live_in = [](const ModelledKernel& k) {
    return k.code->liveness().before(k.find("ds_read_b64"));
  };
  EXPECT_FALSE(live_in(whole).contains(2));
  EXPECT_TRUE(live_in(partial).contains(2));
  EXPECT_TRUE(live_in(whole).contains(16));
  EXPECT_TRUE(live_in(whole).contains(1));
}

// A loop that is entered and left in its middle, as compilers turn them, and whose end only goes round.
TEST(HotWindows, LooksOutOfLoopsThatAreLeftInTheMiddle) {
  ReadKernel k(
      "v_mov_b32 v5, 0\ns_branch mid\ntop:\nv_add_u32 v4, v5, v3\ns_cbranch_vccnz out\nmid:\n"
      "global_load_dword v3, v0, s[0:1]\ns_waitcnt vmcnt(0)\nds_read_b32 v6, v0\ns_branch top\nout:\n"
      "global_store_dword v0, v4, s[0:1]");
  for (program::Index n = 0; n < 9; ++n)
    k.set(n, {.address = 0,
              .issues = n >= 2 && n < 8 ? 100.0 : 1.0,
              .busy = 4,
              .stalled = {0, 0, n == 5 ? 9e4 : 0}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const HotWindow w = hot_windows(*k.path, k.profile, machine, {.waves_per_simd = 1}).at(0);
  EXPECT_EQ(w.kind, HotWindow::Kind::Loop);
  EXPECT_EQ(w.window.begin, k.entry(2));
  EXPECT_EQ(w.window.end, k.entry(8));
  const auto is = [](program::Index at, isa::RegUnit reg) {
    return ::testing::Truly([=](const OutsideUse& u) { return u.at == at && u.reg.contains(reg); });
  };
  EXPECT_THAT(w.producers, Contains(is(k.entry(0), 5)));
  EXPECT_THAT(w.consumers, Contains(is(k.entry(8), 4)));
  EXPECT_THAT(w.at_exit.lds, Contains(k.entry(6)));
  EXPECT_TRUE(w.at_exit.vector.empty());
}

// The last turn branches around the load for the next one, and then out: nothing is in flight behind.
TEST(HotWindows, LoopsThatLoadAheadLeaveNothingInFlight) {
  ReadKernel k("s_branch mid\ntop:\nv_add_u32 v4, v4, v3\ns_cbranch_vccnz out\nmid:\ns_waitcnt vmcnt(0)\n"
               "s_cbranch_vccnz top\nglobal_load_dword v3, v0, s[0:1]\ns_branch top\nout:\n"
               "global_store_dword v0, v4, s[0:1]");
  const std::array<double, 9> issues = {5, 100, 100, 100, 100, 95, 95, 5, 5};
  for (program::Index n = 0; n < issues.size(); ++n)
    k.set(n, {.address = 0, .issues = issues[n], .busy = 4, .stalled = {0, 0, n == 3 ? 9e4 : 0}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const HotWindow w = hot_windows(*k.path, k.profile, machine, {.waves_per_simd = 1}).at(0);
  ASSERT_EQ(w.kind, HotWindow::Kind::Loop);
  EXPECT_TRUE(w.at_exit.empty());
  EXPECT_THAT(w.awaited, Contains(k.entry(5))) << "though most turns leave the load";
}

// A long block: the window takes the wait, reaches back to the load, and keeps to its size.
TEST(HotWindows, PartOfALongBlock) {
  ReadKernel k(lines(200, "v_mov_b32 v2, v0") + "global_load_dword v3, v0, s[0:1]\n" +
               lines(30, "v_mov_b32 v2, v0") + "s_waitcnt vmcnt(0)\n" + lines(200, "v_mov_b32 v4, v3"));
  k.set(231, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 5000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows =
      hot_windows(*k.path, k.profile, machine, {.most_instructions = 50, .waves_per_simd = 1});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].kind, HotWindow::Kind::Part);
  EXPECT_TRUE(holds(windows[0], k.entry(200))) << "the load";
  EXPECT_TRUE(holds(windows[0], k.entry(231))) << "the wait";
  EXPECT_TRUE(holds(windows[0], k.entry(232))) << "the use";
  EXPECT_LE(windows[0].window.end - windows[0].window.begin, 50U);
  EXPECT_THAT(windows[0].awaited, ::testing::ElementsAre(k.entry(200)));
}

// The wait is at the block's beginning: what the limit leaves goes to where it could move.
TEST(HotWindows, PartsUseTheirLimit) {
  ReadKernel k("global_load_dword v3, v0, s[0:1]\ns_cbranch_vccz skip\nskip:\ns_waitcnt vmcnt(0)\n" +
               lines(200, "v_mov_b32 v4, v0"));
  k.set(2, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 5000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows =
      hot_windows(*k.path, k.profile, machine, {.most_instructions = 50, .waves_per_simd = 1});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].window.begin, k.entry(0)) << "the load";
  EXPECT_EQ(windows[0].window.end, k.entry(50));
}

// A loop too long for a window, of blocks too short for a wait to move anywhere.
TEST(HotWindows, ShortBlocksTakeTheirNeighboursInTheLoop) {
  ReadKernel k(
      "v_mov_b32 v2, v0\nround:\n" + lines(10, "v_mov_b32 v2, v0") +
      "s_cbranch_vccz a\nglobal_load_dword v3, v0, s[0:1]\na:\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v3\n"
      "s_cbranch_vccz b\nv_mov_b32 v5, v0\nb:\n" +
      lines(10, "v_mov_b32 v6, v0") + "s_cbranch_vccz c\nc:\n" + lines(40, "v_mov_b32 v7, v0") +
      "s_cbranch_scc1 round");
  k.set(13, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 5000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows =
      hot_windows(*k.path, k.profile, machine, {.most_instructions = 40, .waves_per_simd = 1});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].worst, k.entry(13));
  EXPECT_EQ(windows[0].kind, HotWindow::Kind::Blocks);
  EXPECT_GE(windows[0].window.begin, k.entry(1)) << "what is outside of the loop stays there";
  EXPECT_TRUE(holds(windows[0], k.entry(12))) << "the load";
  EXPECT_GE(windows[0].window.end - windows[0].window.begin, 20U);
  EXPECT_LE(windows[0].window.end - windows[0].window.begin, 40U);
}

// Each result is needed for the next: no order is faster.
TEST(HotWindows, ChainsCannotBeWon) {
  const ModelledKernel k(
      repeated(400, lines(4, "v_mfma_f32_4x4x4_16b_f16 v[16:19], v[2:3], v[4:5], v[16:19]\n"
                             "v_mov_b32 v2, v16")),
      {.groups = 304, .items = 256});
  const HotWindow w = k.windows().at(0);
  const LoopBound loop = k.loops().at(0);
  EXPECT_LE(w.gain, 1 - loop.turns * loop.carried / k.profile.total() + 1e-9);
  EXPECT_GT(w.hideable / k.profile.total(), w.gain + 0.1) << "stalls would say more";
}

// Half a per cent to win is nothing: the block where time goes comes first.
TEST(HotWindows, RankedByTimeWhereThereIsNothingToWin) {
  ReadKernel k("global_load_dword v3, v0, s[0:1]\ns_waitcnt vmcnt(0)\ns_cbranch_vccz a\na:\n" +
               lines(10, "v_exp_f32 v4, v3"));
  k.set(1, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 60}});
  for (program::Index n = 3; n < 13; ++n)
    k.set(n, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 0, 0, 0, 0, 1000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows =
      hot_windows(*k.path, k.profile, machine, {.windows = 9, .most_instructions = 5, .waves_per_simd = 1});
  ASSERT_GE(windows.size(), 2U);
  EXPECT_TRUE(holds(windows.back(), k.entry(1)));
  EXPECT_GT(windows.back().gain, windows.front().gain);
}

// A wave that waits at a barrier stands at the instruction behind it.
TEST(HotWindows, HoldsTheBarrierThatIsWaitedAt) {
  ReadKernel k(lines(200, "v_mov_b32 v2, v0") + "s_barrier\nv_mov_b32 v3, v0\n" +
               lines(200, "v_mov_b32 v2, v0"));
  k.set(201, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 0, 0, 5000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows =
      hot_windows(*k.path, k.profile, machine, {.most_instructions = 4, .waves_per_simd = 1});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_TRUE(holds(windows[0], k.entry(200)));
  EXPECT_TRUE(holds(windows[0], k.entry(201)));
  EXPECT_EQ(windows[0].barriers, 1U);
}

// The load stands in the block before.
TEST(HotWindows, GrowsToWhatIsWaitedFor) {
  ReadKernel k(
      "v_mov_b32 v2, v0\nglobal_load_dword v3, v0, s[0:1]\ns_cbranch_vccz skip\nv_mov_b32 v2, 1\nskip:\n"
      "s_waitcnt vmcnt(0)\nv_mov_b32 v4, v3");
  k.set(4, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 5000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows = hot_windows(*k.path, k.profile, machine, {.waves_per_simd = 1});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].window.begin, k.entry(1));
}

TEST(HotWindows, AreDisjointAndRanked) {
  const ModelledKernel k(repeated(20, "global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)") +
                             "s_movk_i32 s20, 20\nagain:\nds_read_b32 v4, v1\ns_waitcnt lgkmcnt(0)\n"
                             "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 again",
                         {.groups = 64, .lds = 4096});
  const std::vector<HotWindow> windows = k.windows({.windows = 10});
  ASSERT_GE(windows.size(), 2U);
  for (size_t a = 0; a < windows.size(); ++a)
    for (size_t b = a + 1; b < windows.size(); ++b) {
      EXPECT_GE(windows[a].gain, windows[b].gain);
      EXPECT_TRUE(windows[a].window.end <= windows[b].window.begin ||
                  windows[b].window.end <= windows[a].window.begin);
    }
  double gain = 0;
  for (const HotWindow& w : windows) gain += w.gain;
  EXPECT_LE(gain, 1);
  EXPECT_EQ(k.windows({.windows = 1}).size(), 1U);
}

// What a wave stands at its end for, nobody can hide.
TEST(HotWindows, TheEndIsNoWindow) {
  ReadKernel k("global_store_dword v0, v0, s[0:1]");
  k.set(1, {.address = 0, .issues = 10, .busy = 40, .stalled = {0, 0, 5000}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  EXPECT_TRUE(hot_windows(*k.path, k.profile, machine).empty());
}

// Samples at times that a host chose know no reasons.
TEST(HotWindows, OfSamplesWithoutReasons) {
  ReadKernel k("v_mov_b32 v2, v0\nglobal_load_dword v3, v0, s[0:1]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v3");
  k.profile.origin = Origin::HostTrap;
  k.set(0, {.address = 0, .unexplained = 3});
  k.set(2, {.address = 0, .unexplained = 97});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const std::vector<HotWindow> windows = hot_windows(*k.path, k.profile, machine);
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].worst, k.entry(2));
  EXPECT_THAT(windows[0].awaited, ::testing::ElementsAre(k.entry(1)));
  EXPECT_DOUBLE_EQ(windows[0].total, 100);
}

// Half the time is at the wait, hidden; a chain of quarter-rate instructions keeps the pipe for the rest.
TEST(HotWindows, GainIsByTheRule) {
  ReadKernel k("global_load_dword v3, v0, s[0:1]\ns_waitcnt vmcnt(0)\nv_exp_f32 v4, v3");
  k.set(0, {.address = 0, .issues = 100, .busy = 400});
  k.set(1, {.address = 0, .issues = 100, .busy = 400, .stalled = {0, 0, 8000}});
  k.set(2, {.address = 0, .issues = 100, .busy = 400, .stalled = {0, 0, 0, 0, 0, 0, 800}});
  k.read_profile();
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  const auto gain = [&](double waves, double busiest) {
    return hot_windows(*k.path, k.profile, machine, {.waves_per_simd = waves, .busiest_unit = busiest})
        .at(0)
        .gain;
  };
  EXPECT_NEAR(gain(1, 0), 0.8, 1e-9);          // 10,000 to 2,000
  EXPECT_NEAR(gain(2, 0), 1 - 2 * 0.16, 1e-9); // 5,000 to 1,600, which 100 exponentials need
  EXPECT_NEAR(gain(1, 0.5), 0.5, 1e-9);
  EXPECT_NEAR(gain(7, 0), 0, 1e-9); // 1,429 for them is less than the pipe needs
}

TEST(HotWindows, NothingToSeeIsNoWindow) {
  ReadKernel k("v_mov_b32 v2, v0");
  const timing::Machine machine = timing::MachineModel::find("mi300x")->nominal();
  EXPECT_TRUE(hot_windows(*k.path, k.profile, machine).empty());
}

// --- as text

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) list.push_back(line);
  return list;
}

TEST(WindowText, FitsAndKeepsWhatMatters) {
  const ModelledKernel k(repeated(50, "global_load_dword v3, v1, s[8:9] sc1\n" +
                                          lines(40, "v_fma_f32 v4, v4, v4, v4") +
                                          "s_waitcnt vmcnt(0)\nv_add_u32 v5, v5, v3"),
                         {.groups = 64});
  const HotWindow w = k.windows().at(0);
  ASSERT_GT(w.window.end - w.window.begin, 40U);
  for (const size_t most : {24U, 40U, 200U}) {
    const std::string text = window_text(w, 1, k.context(), most);
    const std::vector<std::string> list = lines_of(text);
    EXPECT_LE(list.size(), most);
    for (const std::string& line : list) EXPECT_LE(line.size(), 160U);
    EXPECT_THAT(text, HasSubstr("\n    " + k.code->id(w.worst) + ": "));
    EXPECT_THAT(text, HasSubstr("\n    " + k.code->id(k.find("global_load_dword")) + ": global_load_dword"));
    EXPECT_THAT(text, HasSubstr("live in: "));
    EXPECT_THAT(text, HasSubstr("; waits for " + k.code->id(k.find("global_load_dword"))));
    EXPECT_THAT(text, HasSubstr("modelled (mi300x)"));
    EXPECT_THAT(text, Not(HasSubstr("measured")));
    EXPECT_EQ(text.find("\n    ... ") != std::string::npos, most != 200);
    EXPECT_THAT(text, HasSubstr("live in: v")) << "and to the end:";
    EXPECT_THAT(text, HasSubstr("exec, mode"));
    EXPECT_THAT(text, Not(HasSubstr("... 1 instruction"))) << "it would take no more room itself";
  }
  EXPECT_GT(lines_of(window_text(w, 1, k.context(), 200)).size(),
            lines_of(window_text(w, 1, k.context(), 24)).size() + 20);
}

TEST(WindowText, SaysWhatAnEditorMustKnow) {
  const ModelledKernel k("ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v1\n"
                         "s_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]",
                         {.groups = 16, .items = 256, .vgprs = 128, .lds = 4096});
  const std::string text = window_text(k.windows().at(0), 1, k.context(), 60);
  EXPECT_THAT(text, HasSubstr("occupancy: 4.0 waves a SIMD, limited by VGPRs"));
  EXPECT_THAT(text, HasSubstr("gfx942"));
  EXPECT_THAT(text, HasSubstr("LDS 4096 bytes"));
  EXPECT_THAT(text, HasSubstr("kernarg 8 bytes"));
  EXPECT_THAT(text, HasSubstr("barriers inside: 1"));
  EXPECT_THAT(text, HasSubstr("s[0:1] kernarg_segment_ptr, s2 workgroup_id_x"));
  EXPECT_THAT(text, HasSubstr("96 (save 32) allow 5"));
}

TEST(WindowText, RegisterLists) {
  isa::RegSet set;
  EXPECT_EQ(register_list(set), "nothing");
  set.insert(isa::RegRange{0, 4}), set.insert(isa::RegUnit{7}), set.insert(isa::RegUnit{255}),
      set.insert(isa::RegUnit{256}), set.insert(isa::RegRange{isa::unit::scalar0 + 4, 2});
  EXPECT_EQ(register_list(set), "v[0:3], v7, v255, a0, s[4:5]");
  EXPECT_EQ(register_list(set, 12), "v[0:3], v7, ... (9 registers)");
}

TEST(WindowText, PairsOfRegistersAreOne) {
  isa::RegSet set;
  set.insert(isa::RegRange{isa::unit::vcc, 2}), set.insert(isa::RegRange{isa::unit::exec, 2});
  set.insert(isa::unit::scc), set.insert(isa::unit::mode);
  EXPECT_EQ(register_list(set), "vcc, exec, scc, mode");
  set.erase(isa::RegUnit{isa::unit::exec}), set.erase(static_cast<isa::RegUnit>(isa::unit::vcc + 1));
  set.insert(isa::RegRange{isa::unit::ttmp0 + 6, 3}), set.insert(isa::unit::m0);
  set.insert(isa::RegRange{isa::unit::scalar0 + 98, 6}); // s[98:101] and flat_scratch
  EXPECT_EQ(register_list(set), "s[98:101], flat_scratch, vcc_lo, ttmp[6:8], m0, exec_hi, scc, mode");
}

} // namespace
} // namespace asmevo::profile
