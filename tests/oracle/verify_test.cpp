// Equivalent rewrites of sample kernels are accepted; wrong ones are rejected with the outcome that fits.
#include "emulator/assembled_kernel.h"
#include "oracle/verified.h"
#include "oracle/workgroup_sample.h"

#include <gmock/gmock.h>

namespace asmevo::oracle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string saxpy = R"toml([[buffer]]
name = "x"
dtype = "f32"
shape = 1000
role = "in"
init = {kind = "normal"}
[[buffer]]
name = "y"
dtype = "f32"
shape = 1000
role = "inout"
init = {kind = "normal"}
[[arg]]
dtype = "f32"
value = 0.5
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = 1000
[[step]]
kernel = "saxpy"
grid = 4
workgroup = 256
)toml";

std::string replace(const std::string& id, const std::string& text) {
  return R"([{"first": ")" + id + R"(", "last": ")" + id + R"(", "text": ")" + text + R"("}])";
}
std::string insert(const std::string& id, const std::string& text) {
  return R"([{"before": ")" + id + R"(", "text": ")" + text + R"("}])";
}

CaseReport verified(const std::string& launch, const Bytes& k0, const Bytes& candidate,
                    const PrepareOptions& options = {}) {
  const auto original = subject(k0);
  CaseReport last;
  for (const Case& c : cases_of(launch, original)) {
    const auto report = verify_case(c, original, subject(candidate), options);
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    if (!report) return {};
    last = *report;
    if (last.outcome != Outcome::Equivalent) break;
  }
  return last;
}

class VerifySaxpy : public ::testing::Test {
 protected:
  Bytes with(const std::string& changes) const { return edited(k0_, "saxpy", changes); }
  std::string id(const std::string& start) const { return find(k0_, "saxpy", start); }
  CaseReport report(const std::string& changes, const PrepareOptions& options = {}) const {
    return verified(saxpy, k0_, with(changes), options);
  }
  Bytes k0_ = sample_bytes("saxpy");
};

TEST_F(VerifySaxpy, K0IsEquivalentToItself) {
  const CaseReport r = verified(saxpy, k0_, k0_);
  EXPECT_EQ(r.outcome, Outcome::Equivalent) << r.text;
  EXPECT_THAT(r.notes, IsEmpty());
  ASSERT_EQ(r.buffers.size(), 2U);
  EXPECT_EQ(r.buffers[1].comparison.elements, 1000U);
  EXPECT_EQ(r.k0_instructions, r.candidate_instructions);
  EXPECT_THAT(r.sample, IsEmpty());
}

TEST_F(VerifySaxpy, RewritesAreAccepted) {
  // Moved, added without effect, another rounding of the same product and sum.
  for (const std::string& change :
       {insert("10", "v_mov_b32_e32 v1, 0"), insert(id("v_fmac_f32"), "s_nop 3\\nv_mov_b32_e32 v3, 7"),
        replace(id("v_fmac_f32"), "v_mul_f32_e32 v4, s2, v4\\nv_add_f32_e32 v5, v5, v4")}) {
    const CaseReport r = report(change);
    EXPECT_EQ(r.outcome, Outcome::Equivalent) << change << ": " << r.text;
  }
}

TEST_F(VerifySaxpy, WrongArithmeticDiverges) {
  for (const char* text : {"v_sub_f32_e32 v5, v5, v4", "v_mul_f32_e32 v5, s2, v4", "v_mov_b32_e32 v5, 0",
                           "v_add_f32_e32 v5, v5, v4"}) {
    const CaseReport r = report(replace(id("v_fmac_f32"), text));
    EXPECT_EQ(r.outcome, Outcome::Divergent) << text;
    EXPECT_EQ(r.buffer, "y");
    EXPECT_THAT(r.text, AllOf(HasSubstr("divergent: buffer 'y': first at 0: "), HasSubstr("candidate"),
                              HasSubstr("cosine"), HasSubstr("max difference")));
    EXPECT_FALSE(r.buffers[1].comparison.scaled);
  }
}

TEST_F(VerifySaxpy, AStoreLeftOutDiverges) {
  EXPECT_EQ(report(replace(id("global_store_dword"), "")).outcome, Outcome::Divergent);
}

TEST_F(VerifySaxpy, UpdatesTooSmallToSeeMustBeStored) {
  const std::string tiny = replaced(saxpy, "value = 0.5", "value = 1e-6");
  const Bytes without = with(replace(id("global_store_dword"), ""));
  const CaseReport r = verified(tiny, k0_, without);
  EXPECT_EQ(r.outcome, Outcome::Divergent);
  EXPECT_GT(r.buffers[1].comparison.unwritten, 0U);
  EXPECT_EQ(r.buffers[1].comparison.beyond, 0U);
  EXPECT_EQ(verified(tiny, k0_, k0_).outcome, Outcome::Equivalent);
}

TEST_F(VerifySaxpy, WritesToInputsDiverge) {
  const CaseReport r = report(insert(id("global_store_dword"), "global_store_dword v[2:3], v5, off"));
  EXPECT_EQ(r.outcome, Outcome::Divergent) << r.text;
  EXPECT_EQ(r.buffer, "x");
}

TEST_F(VerifySaxpy, WritesBesideABufferAreDamage) {
  const CaseReport r =
      report(insert(id("global_store_dword"), "global_store_dword v[0:1], v5, off offset:1024"));
  EXPECT_EQ(r.outcome, Outcome::GuardDamaged) << r.text;
  EXPECT_THAT(r.text, HasSubstr("guard behind y"));
}

TEST_F(VerifySaxpy, AccessesFarOutsideAreFaults) {
  const CaseReport r = report(insert(id("global_store_dword"), "v_mov_b32_e32 v1, 0"));
  EXPECT_EQ(r.outcome, Outcome::Fault) << r.text;
}

TEST_F(VerifySaxpy, EndlessLoopsHang) {
  const CaseReport r = report(insert(id("v_fmac_f32"), "again:\\ns_branch again"));
  EXPECT_EQ(r.outcome, Outcome::Hang) << r.text;
}

TEST_F(VerifySaxpy, WritesBetweenRowsAreDamage) {
  const std::string rows = replaced(replaced(saxpy, "shape = 1000\nrole = \"inout\"",
                                             "shape = [40, 20]\nstrides = [25, 1]\nrole = \"inout\""),
                                    "value = 1000", "value = 20");
  const CaseReport r = verified(
      rows, k0_, with(insert(id("global_store_dword"), "global_store_dword v[0:1], v5, off offset:80")));
  EXPECT_EQ(r.outcome, Outcome::GuardDamaged) << r.text;
  EXPECT_THAT(r.text, HasSubstr("buffer 'y': byte 80, between its rows"));
}

TEST_F(VerifySaxpy, RulePaperCanBeTheGate) {
  // Every output a ten-thousandth too large: within a thousandth of the elements, and of one another.
  const Bytes scaled = with(insert(id("global_store_dword"), "v_mul_f32_e32 v5, 0x3f800347, v5"));
  EXPECT_EQ(verified(saxpy, k0_, scaled).outcome, Outcome::Equivalent);
  const std::string large =
      replaced(replaced(saxpy, "init = {kind = \"normal\"}", "init = {kind = \"normal\", deviation = 1000}"),
               "init = {kind = \"normal\"}", "init = {kind = \"normal\", deviation = 1000}");
  EXPECT_EQ(verified(large, k0_, scaled).outcome, Outcome::Equivalent);
  EXPECT_EQ(verified(large, k0_, scaled, {.rule = Rule::Paper}).outcome, Outcome::Divergent);
}

TEST_F(VerifySaxpy, SampledWorkgroupsAreTheSameForBoth) {
  const CaseReport r = report(replace(id("v_fmac_f32"), "v_sub_f32_e32 v5, v5, v4"), {.sample = 2});
  EXPECT_EQ(r.outcome, Outcome::Divergent);
  const CaseReport same = verified(saxpy, k0_, k0_, {.sample = 2});
  EXPECT_EQ(same.outcome, Outcome::Equivalent) << same.text;
  EXPECT_THAT(same.sample, ::testing::ElementsAre(0, 3)); // the corners
  EXPECT_EQ(same.workgroups, 4U);
  EXPECT_EQ(same.k0_instructions, same.candidate_instructions);
}

TEST_F(VerifySaxpy, StaticCheckFindsWhatRunningDoesNot) {
  const auto k0 = subject(k0_);
  const auto same = compare_statically(*k0, *k0);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->outcome, Outcome::Equivalent);
  const Bytes without_wait = with(replace(id("s_waitcnt vmcnt(0)"), ""));
  const auto verdict = compare_statically(*k0, *subject(without_wait));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->outcome, Outcome::Hazard);
  ASSERT_FALSE(verdict->findings.empty());
  EXPECT_THAT(verdict->findings.front(), HasSubstr("saxpy: "));
  const auto other = compare_statically(*k0, *subject(sample_bytes("reduce")));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->outcome, Outcome::AbiInvalid);
  EXPECT_FALSE(compare_statically(*k0, *subject(sample_bytes("saxpy", "gfx90a"))));
}

TEST_F(VerifySaxpy, WhatK0DoesWrongIsSaidOfK0) {
  const auto original = subject(k0_);
  const std::string short_y =
      replaced(saxpy, "shape = 1000\nrole = \"inout\"", "shape = 999\nrole = \"inout\"");
  const auto cases = cases_of(short_y, original);
  ASSERT_EQ(cases.size(), 1U);
  const auto report = verify_case(cases.front(), original, original, {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, AllOf(HasSubstr("K0 itself: guard_damaged"), HasSubstr("y")));
}

TEST(Verify, EveryLaunchIsACase) {
  const Bytes k0 = sample_bytes("saxpy");
  const std::string twice =
      saxpy +
      "[[step]]\nmemset = \"y\"\nvalue = 0\n[[step]]\nkernel = \"saxpy\"\ngrid = 4\nworkgroup = 256\n";
  const auto original = subject(k0);
  const auto cases = cases_of(twice, original);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[1].name, "launch 2");
  // y is zero before the second: a candidate that only stores the product differs in the first alone.
  const Bytes product =
      edited(k0, "saxpy", replace(find(k0, "saxpy", "v_fmac_f32"), "v_mul_f32_e32 v5, s2, v4"));
  EXPECT_EQ(verify_case(cases[0], original, subject(product), {})->outcome, Outcome::Divergent);
  EXPECT_EQ(verify_case(cases[1], original, subject(product), {})->outcome, Outcome::Equivalent);
}

// Tickets: who draws which depends on the order of waves.
const std::string histogram = R"toml([[buffer]]
name = "in"
dtype = "u8"
shape = 5000
role = "in"
init = "random_bits"
[[buffer]]
name = "bins"
dtype = "u32"
shape = 256
role = "inout"
init = "zeros"
[[arg]]
buffer = "in"
[[arg]]
buffer = "bins"
[[arg]]
dtype = "u32"
value = 5000
[[step]]
kernel = "histogram_global"
grid = 20
workgroup = 256
)toml";

TEST(Verify, SamplesOfKernelsWithAtomicsAreRefused) {
  const Bytes k0 = sample_bytes("atomics");
  const auto original = subject(k0);
  EXPECT_TRUE(uses_global_atomics(original->program(), "histogram_global"));
  EXPECT_FALSE(uses_global_atomics(subject(sample_bytes("saxpy"))->program(), "saxpy"));
  const auto cases = cases_of(histogram, original);
  EXPECT_EQ(verify_case(cases.front(), original, original, {})->outcome, Outcome::Equivalent);
  const auto sampled = verify_case(cases.front(), original, original, {.sample = 4});
  ASSERT_FALSE(sampled);
  EXPECT_EQ(sampled.error().kind, ErrorKind::Unsupported);
}

TEST(Verify, IntegerOutputsAreComparedToTheBit) {
  const Bytes k0 = sample_bytes("atomics");
  const std::string id = find(k0, "histogram_global", "global_atomic_add");
  const CaseReport r = verified(histogram, k0, edited(k0, "histogram_global", replace(id, "")));
  EXPECT_EQ(r.outcome, Outcome::Divergent);
  EXPECT_EQ(r.buffer, "bins");
}

// Every wave draws a ticket and stores it: the order of waves shows.
Bytes with_tickets() {
  const Bytes plain = sample_bytes("saxpy");
  const std::string store = find(plain, "saxpy", "global_store_dword");
  const std::string ticket = "v_mov_b32_e32 v4, 1.0\\n"
                             "v_mov_b32_e32 v2, s6\\nv_mov_b32_e32 v3, s7\\n"
                             "s_waitcnt vmcnt(0)\\n"
                             "global_load_dword v5, v[2:3], off offset:3996\\n"
                             "s_waitcnt vmcnt(0)\\n"
                             "v_add_f32_e32 v5, v5, v4\\n"
                             "global_store_dword v[2:3], v5, off offset:3996\\n"
                             "s_waitcnt vmcnt(0)";
  return edited(plain, "saxpy", insert(store, ticket));
}

TEST(Verify, WhatK0DoesNotAlwaysLeaveIsReportedAndTolerated) {
  const auto original = subject(with_tickets());
  const std::string one_group = replaced(saxpy, "grid = 4", "grid = 1");
  const auto cases = cases_of(one_group, original);
  const auto report = verify_case(cases.front(), original, original, {.schedules = 8});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outcome, Outcome::Equivalent) << report->text;
  EXPECT_THAT(report->notes, ::testing::ElementsAre(HasSubstr("K0 does not always leave the same")));
  EXPECT_GT(report->buffers[1].nondeterministic, 0U);
}

// Nobody may count on what the last wave left in a register or in LDS.
TEST_F(VerifySaxpy, WhatComesFromUnwrittenRegistersIsNoise) {
  const Bytes k0 = with(insert(id("global_store_dword"), "v_mov_b32_e32 v5, v9"));
  const CaseReport own = verified(saxpy, k0, k0);
  EXPECT_THAT(own.notes, ::testing::ElementsAre(HasSubstr("1000 elements of buffer 'y'")));
  EXPECT_EQ(report(insert(id("global_store_dword"), "v_mov_b32_e32 v5, v9")).outcome, Outcome::Divergent);
  EXPECT_EQ(report(insert(id("global_store_dword"), "v_add_u32_e32 v5, s40, v5")).outcome,
            Outcome::Divergent);
}

TEST(Verify, WhatComesFromUnwrittenLdsIsNoise) {
  const Bytes k0 = sample_bytes("saxpy");
  const std::string read = "v_mov_b32_e32 v6, 0\\nds_read_b32 v7, v6 offset:64\\ns_waitcnt lgkmcnt(0)\\n"
                           "v_cmp_eq_u32_e32 vcc, 0, v7\\nv_cndmask_b32_e32 v5, 0, v5, vcc";
  const auto object =
      edited(k0, "saxpy", insert(find(k0, "saxpy", "global_store_dword"), read), R"({"lds_bytes": 1024})");
  EXPECT_EQ(verified(saxpy, k0, object).outcome, Outcome::Divergent);
}

TEST(VerifyCases, StopAtTheFirstThatFailsOnAnyNumberOfThreads) {
  const Bytes k0 = sample_bytes("saxpy");
  const auto original = subject(k0);
  const auto wrong =
      subject(edited(k0, "saxpy", replace(find(k0, "saxpy", "v_fmac_f32"), "v_mul_f32_e32 v5, s2, v4")));
  PreparedCases cases; // y is zeros in the first four
  for (unsigned i = 0; i < 8; ++i) {
    const std::string y = i < 4 ? "init = \"zeros\"\n[[arg]]" : "init = {kind = \"normal\"}\n[[arg]]";
    const std::string text = replaced(saxpy, "init = {kind = \"normal\"}\n[[arg]]", y);
    const auto prepared = PreparedCase::make(cases_of(text, original, i).front(), original, {.schedules = 1});
    ASSERT_TRUE(prepared) << prepared.error().message;
    cases.push_back(*prepared);
  }
  for (const unsigned threads : {1U, 2U, 7U}) {
    const auto reports = verify_cases(cases, wrong, {.threads = threads});
    ASSERT_TRUE(reports) << reports.error().message;
    ASSERT_EQ(reports->size(), 5U);
    EXPECT_EQ(reports->at(3).outcome, Outcome::Equivalent);
    EXPECT_EQ(reports->back().outcome, Outcome::Divergent);
    EXPECT_EQ(verify_cases(cases, original, {.threads = threads})->size(), 8U);
  }
}

// On a GPU the page behind a buffer may not be there.
TEST_F(VerifySaxpy, ReadsBeyondABufferAreFaultsUnlessK0DoesThemToo) {
  const std::string next = "global_load_dword v9, v[2:3], off offset:4\\ns_waitcnt vmcnt(0)";
  const Bytes further = with(insert(id("global_store_dword"), next));
  const CaseReport r = verified(saxpy, k0_, further);
  EXPECT_EQ(r.outcome, Outcome::Fault);
  EXPECT_THAT(r.text, HasSubstr("memory behind buffer 'x' was read, which K0 does not do"));
  EXPECT_EQ(verified(saxpy, further, further).outcome, Outcome::Equivalent);
}

// What nobody would launch says nothing where K0 itself cannot make up its mind; on what somebody gave, a
// candidate has to stay within what K0 leaves in many orders.
TEST(VerifyCases, MadeUpCasesCountOnlyWhereK0AgreesWithItself) {
  const Bytes tickets = with_tickets();
  const auto original = subject(tickets);
  const auto further = subject(
      edited(tickets, "saxpy",
             insert(find(tickets, "saxpy", "global_store_dword", 1), "v_mul_f32_e32 v5, 0x42c80000, v5")));
  Case c = cases_of(replaced(saxpy, "grid = 4", "grid = 1"), original).front();
  for (const bool made_up : {false, true}) {
    c.made_up = made_up;
    const auto prepared = PreparedCase::make(c, original, {.schedules = 1});
    ASSERT_TRUE(prepared) << prepared.error().message;
    const auto same = verify_cases({*prepared}, original), other = verify_cases({*prepared}, further);
    ASSERT_TRUE(same && other);
    EXPECT_EQ(same->back().outcome, Outcome::Equivalent) << same->back().text;
    EXPECT_EQ(same->back().says_nothing, made_up);
    EXPECT_EQ(other->back().outcome, made_up ? Outcome::Equivalent : Outcome::Divergent);
  }
}

// The last bits of sums by float atomics depend on the order; that is no excuse for another sum.
TEST(VerifyCases, LastBitsOfAtomicsExcuseNothingElse) {
  const Bytes k0 = sample_bytes("atomics");
  const auto original = subject(k0);
  const auto clamped =
      subject(edited(k0, "float_bins",
                     insert(find(k0, "float_bins", "global_atomic_add_f32"), "v_min_f32_e32 v0, 4.0, v0")));
  const std::string launch = R"toml([[buffer]]
name = "in"
dtype = "f32"
shape = 5000
role = "in"
init = {kind = "uniform", low = 0, high = 10}
[[buffer]]
name = "f32"
dtype = "f32"
shape = 64
role = "inout"
init = "zeros"
[[buffer]]
name = "f64"
dtype = "f64"
shape = 64
role = "inout"
init = "zeros"
[[buffer]]
name = "f16"
dtype = "f16"
shape = 128
role = "inout"
init = "zeros"
[[arg]]
buffer = "in"
[[arg]]
buffer = "f32"
[[arg]]
buffer = "f64"
[[arg]]
buffer = "f16"
[[arg]]
dtype = "u32"
value = 5000
[[step]]
kernel = "float_bins"
grid = 40
workgroup = 128
)toml";
  Case c = cases_of(launch, original).front();
  c.made_up = true;
  const auto prepared = PreparedCase::make(c, original, {.schedules = 1});
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(verify_cases({*prepared}, original)->back().outcome, Outcome::Equivalent);
  const auto report = verify_cases({*prepared}, clamped)->back();
  EXPECT_EQ(report.outcome, Outcome::Divergent) << report.text;
}

// y[slot++] = x[i] for odd x[i]: in whichever order waves come. y[0] counts.
std::shared_ptr<const Subject> compaction(const std::string& more) {
  emulator::KernelOptions options;
  options.kernarg_bytes = 20;
  auto made = Subject::open(emulator::assemble_kernel(
      more + "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\ns_lshl_b32 s9, s2, 8\n"
             "v_add_u32_e32 v1, s9, v0\ns_waitcnt lgkmcnt(0)\nv_cmp_gt_u32_e32 vcc, s8, v1\n"
             "s_and_b64 exec, exec, vcc\ns_cbranch_execz done\nv_lshlrev_b32_e32 v2, 2, v1\n"
             "global_load_dword v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\nv_and_b32_e32 v4, 1, v3\n"
             "v_cmp_eq_u32_e32 vcc, 1, v4\ns_and_b64 exec, exec, vcc\ns_cbranch_execz done\n"
             "v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 1\nglobal_atomic_add v6, v4, v5, s[6:7] sc0\n"
             "s_waitcnt vmcnt(0)\nv_lshlrev_b32_e32 v6, 2, v6\nglobal_store_dword v6, v3, s[6:7] offset:4\n"
             "done:\ns_endpgm\n",
      options));
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

constexpr const char* compaction_launch = R"toml([[buffer]]
name = "x"
dtype = "u32"
shape = 2000
role = "in"
init = {kind = "integers", low = 0, high = 1000000}
[[buffer]]
name = "y"
dtype = "u32"
shape = 2001
role = "inout"
init = "zeros"
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = 2000
[[step]]
grid = 8
workgroup = 256
)toml";

TEST(VerifyCases, ElementsInAnyOrderWhereK0sAre) {
  const auto k0 = compaction("");
  const Case c = cases_of(compaction_launch, k0).front();
  const auto prepared = PreparedCase::make(c, k0, {.schedules = 2});
  ASSERT_TRUE(prepared) << prepared.error().message;
  const auto outcome = [&](const std::string& more, uint64_t seed) {
    VerifyOptions options;
    options.seed = seed;
    return verify_cases({*prepared}, compaction(more), options)->back().outcome;
  };
  for (uint64_t seed = 0; seed < 6; ++seed) {
    EXPECT_EQ(outcome("", seed), Outcome::Equivalent) << seed;
    EXPECT_EQ(outcome("s_nop 0\ns_nop 0\ns_nop 0\n", seed), Outcome::Equivalent) << seed;
    EXPECT_EQ(outcome("s_cmp_eq_u32 s2, 7\ns_cbranch_scc1 done\n", seed), Outcome::Divergent) << seed;
  }
}

// Nothing that runs one wave at a time shows that a fence is missing.
TEST(CompareStatically, AtomicsAndFencesMustStay) {
  const Bytes k0 = sample_bytes("atomics");
  const std::string id = find(k0, "last_group_sums", "buffer_wbl2");
  const auto verdict =
      compare_statically(*subject(k0), *subject(edited(k0, "last_group_sums", replace(id, ""))));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::Hazard);
  EXPECT_THAT(verdict->findings, ::testing::Contains(HasSubstr("buffer_wbl2")));
}

TEST(CompareStatically, FencesKeepTheirScopeAndWaits) {
  const Bytes k0 = sample_bytes("atomics");
  const auto findings = [&](const Bytes& candidate) {
    const auto verdict = compare_statically(*subject(k0), *subject(candidate));
    return verdict ? verdict->findings : std::vector{verdict.error().message};
  };
  EXPECT_TRUE(findings(k0).empty());
  const std::string id = find(k0, "last_group_sums", "buffer_wbl2");
  EXPECT_THAT(findings(edited(k0, "last_group_sums", replace(id, "buffer_wbl2 sc0"))),
              ::testing::Contains(HasSubstr("0 buffer_wbl2 sc1 where K0 has 1")));
  EXPECT_THAT(findings(edited(k0, "last_group_sums", insert(id, "s_sendmsg sendmsg(MSG_INTERRUPT)"))),
              ::testing::Contains(HasSubstr("s_sendmsg: 1 where K0 has 0")));
}

TEST(WorkgroupSample, HasCornersAndNoRepeats) {
  const auto sample = sample_workgroups({100, 7, 3}, 40, 1);
  EXPECT_EQ(sample.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(sample));
  EXPECT_EQ(std::ranges::adjacent_find(sample), sample.end());
  for (const uint64_t corner : {0U, 99U, 600U, 699U, 1400U, 1499U, 2000U, 2099U})
    EXPECT_TRUE(std::ranges::binary_search(sample, corner)) << corner;
  EXPECT_EQ(sample, sample_workgroups({100, 7, 3}, 40, 1));
  EXPECT_NE(sample, sample_workgroups({100, 7, 3}, 40, 2));
  EXPECT_EQ(sample_workgroups({3, 1, 1}, 40, 1).size(), 3U);
}

} // namespace
} // namespace asmevo::oracle::testing
