// One candidate for each outcome, and what a driver reads of it.
#include "gate/commit_rule.h"
#include "gate/gated_eval.h"
#include "gate/pair_kernel.h"
#include "rebuild/rebuild.h"

namespace asmevo::gate {
namespace {

const Setup& setup() {
  static const auto made = Setup::make(pair_request());
  if (!made) throw std::runtime_error(made.error().message);
  return **made;
}
const oracle::Subject& k0() {
  return *setup().k0();
}

Evaluation tried(const program::Edit& edit) {
  Evaluation e = build(setup(), {.chain = {}, .edit = edit, .node = 1});
  if (e.passed()) judge(setup(), e, setup().k0_seconds());
  return e;
}

TEST(GatedEval, WhatIsFasterAndDoesTheSamePasses) {
  Evaluation e = tried(late_wait(k0()));
  ASSERT_TRUE(e.passed()) << name(e.outcome) << " " << e.text;
  EXPECT_EQ(e.gate, Gate::G3);
  EXPECT_EQ(e.built_by, "direct");
  EXPECT_EQ(e.cases, setup().cases().size());
  ASSERT_EQ(e.seconds.size(), 4U);
  const Comparison c = compare_times(setup().k0_seconds(), setup().k0_seconds(), e.seconds);
  EXPECT_TRUE(c.sufficient) << c.describe();
  EXPECT_GT(c.speedup, 1.2);
  hold_against(setup(), e);
  EXPECT_TRUE(e.passed()) << e.text;
}

TEST(GatedEval, TextThatDoesNotAssembleSaysWhere) {
  const Evaluation e =
      tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "s_nop 0\nv_frob v1")}));
  EXPECT_EQ(e.outcome, Outcome::AsmInvalid);
  EXPECT_EQ(e.gate, Gate::G0);
  EXPECT_EQ(e.details.at("line"), 2);
  EXPECT_TRUE(e.object.empty());
  const Evaluation directive =
      tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), ".incbin \"/etc/passwd\"")}));
  EXPECT_EQ(directive.outcome, Outcome::AsmInvalid);
}

TEST(GatedEval, AMissingWaitIsAHazardThoughTheEmulatorDoesNotMind) {
  const Evaluation e = tried(edit_of({replaced(id_of(k0(), "s_waitcnt vmcnt(0)"), "")}));
  EXPECT_EQ(e.outcome, Outcome::Hazard);
  EXPECT_EQ(e.gate, Gate::G1);
  ASSERT_FALSE(e.details.at("findings").empty());
}

TEST(GatedEval, OtherResultsNameBufferAndElement) {
  const Evaluation e =
      tried(edit_of({replaced(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "v_sub_u32_e32 v3, v3, v4")}));
  EXPECT_EQ(e.outcome, Outcome::Divergent);
  EXPECT_EQ(e.gate, Gate::G2);
  EXPECT_EQ(e.details.at("buffer"), "output");
  EXPECT_TRUE(e.details.at("first").contains("k0"));
  EXPECT_TRUE(e.seconds.empty()) << "what is wrong is not timed";
}

TEST(GatedEval, AFaultNamesAddressAndPlace) {
  const Evaluation e = tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"),
                                               "v_mov_b32_e32 v6, 0\nv_mov_b32_e32 v7, 0x7f00\n"
                                               "global_load_dword v8, v[6:7], off\ns_waitcnt vmcnt(0)")}));
  EXPECT_EQ(e.outcome, Outcome::Fault) << e.text;
  EXPECT_EQ(e.details.at("address"), uint64_t{0x7f00} << 32);
}

TEST(GatedEval, WhatDoesNotEndIsAHang) {
  const Evaluation e =
      tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "round:\ns_branch round")}));
  EXPECT_EQ(e.outcome, Outcome::Hang) << e.text;
}

TEST(GatedEval, AGuardThatIsWrittenIsDamage) {
  const Evaluation e = tried(edit_of({inserted(
      id_of(k0(), "s_endpgm"), "v_mov_b32_e32 v1, 0\nglobal_store_dword v1, v3, s[6:7] offset:-4")}));
  EXPECT_EQ(e.outcome, Outcome::GuardDamaged) << e.text;
}

TEST(GatedEval, WhatIsSlowerIsTimedOnOneModelOnly) {
  const Evaluation e = tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "s_sleep 10")}));
  EXPECT_TRUE(e.passed()) << e.text;
  EXPECT_EQ(e.seconds.size(), 1U);
  EXPECT_FALSE(compare_times(setup().k0_seconds(), setup().k0_seconds(), e.seconds).sufficient);
}

TEST(GatedEval, AnObjectThatHostsCannotLaunchIsRefused) {
  const Bytes other = *read_file(ASMEVO_BINARY_DIR "/kernels/saxpy.gfx942.co");
  const Evaluation e = accept_object(setup(), other);
  EXPECT_EQ(e.outcome, Outcome::AbiInvalid) << e.text;
  const Evaluation cut = accept_object(setup(), Bytes(other.begin(), other.begin() + 100));
  EXPECT_EQ(cut.outcome, Outcome::AbiInvalid);
}

TEST(GatedEval, ResourcesThatGrowAreTold) {
  const Evaluation e =
      tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "v_mov_b32_e32 v200, 0")}));
  ASSERT_FALSE(e.resources.empty());
  EXPECT_EQ(e.resources[0].at("kernel"), "slow");
}

// An edit of an edit: the ids of both are there.
TEST(GatedEval, ChainsOfEdits) {
  const program::Edit first = late_wait(k0());
  const program::Edit second = edit_of({replaced({1, 0}, "s_waitcnt vmcnt(0)\ns_nop 0")});
  Evaluation e = build(setup(), {.chain = {{first, 1}}, .edit = second, .node = 2});
  EXPECT_TRUE(e.passed()) << e.text;
  const Evaluation wrong = build(setup(), {.chain = {}, .edit = second, .node = 2});
  EXPECT_EQ(wrong.outcome, Outcome::AsmInvalid);
}

TEST(GatedEval, ThroughJsonNothingIsLost) {
  const Evaluation e = tried(edit_of({inserted(id_of(k0(), "v_add_u32_e32 v3, v3, v4"), "s_sleep 10")}));
  Evaluation back = Evaluation::from_json(Json::parse(e.json().dump()));
  EXPECT_EQ(back.json(), e.json());
  for (size_t n = 0; n < outcome_count; ++n)
    EXPECT_EQ(outcome_named(name(static_cast<Outcome>(n))), static_cast<Outcome>(n));
}

// Every candidate meets the first set; what is about to be committed the second, too.
TEST(Setup, ExpensiveCasesThatWereMadeUpAreHeldBack) {
  const std::string name = "level1_36_rms_norm";
  SetupRequest request;
  request.k0 = *read_file(ASMEVO_BINARY_DIR "/kernels/suite/" + name + ".gfx942.co");
  request.launch = ASMEVO_SOURCE_DIR "/kernels/suite/" + name + ".toml";
  request.shape = "tiny", request.members = 1, request.effort = 10'000;
  const auto made = Setup::make(request);
  ASSERT_TRUE(made) << made.error().message;
  uint64_t instructions = 0, most = 0, given = 0;
  for (const auto& c : (*made)->cases()) {
    instructions += c->instructions();
    if (!c->dispatch().made_up)
      ++given;
    else
      most = std::max(most, c->instructions());
  }
  EXPECT_LE(instructions, 4'000'000U);
  EXPECT_GT(instructions, 3'000'000U) << "or there is none that is expensive";
  EXPECT_GE(given, 6U) << "as the launch file has them: two shapes, three seeds";
  EXPECT_GT((*made)->cases().size(), 60U);
  const auto expensive = std::ranges::count_if(
      (*made)->held_back(), [&](const auto& c) { return c->dispatch().made_up && c->instructions() > most; });
  EXPECT_GT(expensive, 10);
}

} // namespace
} // namespace asmevo::gate
