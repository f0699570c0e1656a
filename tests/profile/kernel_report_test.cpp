// The report: that its JSON keeps its form, and what its text always says.
#include "profile/modelled_kernel.h"

namespace asmevo::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelledKernel;
using ::testing::Not;
using testing::repeated;

std::vector<std::string> keys(const nlohmann::ordered_json& json) {
  std::vector<std::string> list;
  for (const auto& item : json.items()) list.push_back(item.key());
  return list;
}

struct Reported {
  ModelledKernel kernel{
      repeated(20, "global_load_dword v3, v1, s[8:9]\ns_waitcnt vmcnt(0)\nv_add_f32 v4, v4, v3"),
      {.groups = 64}};
  WindowContext context = kernel.context();
  KernelReport report;
  Reported() {
    report.context = &context;
    report.summary = kernel.summary();
    report.loops = kernel.loops();
    report.windows = kernel.windows();
  }
};

TEST(KernelReport, JsonKeepsItsForm) {
  const Reported r;
  const nlohmann::ordered_json json = report_json(r.report);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["source"], "modelled (mi300x)");
  EXPECT_THAT(keys(json),
              ElementsAre("version", "kernel", "source", "unit", "machine_model", "notes", "counters",
                          "unplaced", "object", "share_outside", "summary", "loops", "registers", "windows"));
  EXPECT_THAT(keys(json["summary"]),
              ElementsAre("launches", "seconds", "share_of_plan", "cycles", "clock_mhz", "limiter",
                          "workgroups", "waves_per_workgroup", "waves_per_simd", "used_compute_units",
                          "occupancy", "wave_cycles", "instructions", "mix", "pipes", "dispatch_share",
                          "memory", "misses_in_flight", "scalar_hit_rate", "code_hit_rate", "coalescing",
                          "lds", "roofline"));
  EXPECT_THAT(keys(json["summary"]["memory"][0]), ElementsAre("level", "read_bytes", "written_bytes",
                                                              "peak_bytes_per_second", "share", "hit_rate"));
  EXPECT_THAT(keys(json["object"]), ElementsAre("target", "wave_size", "workgroup_size", "lds_bytes",
                                                "scratch_bytes", "kernarg_bytes", "user_sgprs"));
  EXPECT_EQ(json["share_outside"], 0);
  ASSERT_FALSE(json["loops"].empty());
  EXPECT_THAT(keys(json["loops"][0]),
              ElementsAre("first", "depth", "instructions", "turns", "issue", "chain", "carried", "alone",
                          "with_all_waves", "busiest_pipe", "pipe", "critical"));
  EXPECT_THAT(keys(json["registers"]), ElementsAre("allocated", "most_live", "most_live_at", "waves", "room",
                                                   "next_budget", "to_save", "live"));
  ASSERT_FALSE(json["windows"].empty());
  EXPECT_THAT(keys(json["windows"][0]),
              ElementsAre("first", "last", "kind", "loop_depth", "worst", "share_of_time", "share_to_win",
                          "busiest_pipe", "pipe_share", "stalled", "awaited", "producers", "consumers",
                          "live_in", "live_out", "in_flight_at_entry", "in_flight_at_exit",
                          "most_live_vector_registers", "barriers", "instructions"));
  for (const auto& [reason, share] : json["summary"]["wave_cycles"]["stalled"].items())
    EXPECT_TRUE(timing::stall_named(reason)) << reason;
}

TEST(KernelReport, TextNamesTheModel) {
  const Reported r;
  const std::string text = report_text(r.report, 40);
  EXPECT_THAT(text, HasSubstr("modelled (mi300x)"));
  EXPECT_THAT(text, Not(HasSubstr("measured")));
  EXPECT_THAT(text, HasSubstr("limiter: "));
  EXPECT_THAT(text, HasSubstr("WAITCNT"));
  EXPECT_THAT(text, HasSubstr("window 1: "));
}

// Without the model's summary, as of an imported profile: what is not of the file is said to be.
TEST(KernelReport, WithoutASummary) {
  Reported r;
  r.report.summary.reset();
  r.context.model = "mi300x";
  r.kernel.profile.origin = Origin::Stochastic;
  r.report.loops = r.kernel.loops();
  r.report.windows = r.kernel.windows();
  r.kernel.profile.source = "measured (FILE)";
  r.kernel.profile.notes = {"skid"};
  r.kernel.profile.counters = {{"SQ_WAVES", 12}};
  r.kernel.profile.unplaced = 3;
  EXPECT_THAT(report_text(r.report, 40),
              ::testing::AllOf(HasSubstr("k: measured (FILE), "), HasSubstr("note: skid\n"),
                               HasSubstr("SQ_WAVES"), HasSubstr("3 more at no instruction"),
                               HasSubstr("window 1: ")));
  EXPECT_THAT(report_text(r.report, 40),
              ::testing::AllOf(
                  HasSubstr(" samples, "), Not(HasSubstr("busiest pipe")), HasSubstr(" samples issued, "),
                  Not(HasSubstr(" issues, ")),
                  HasSubstr("cycles a turn of one wave (by the code and machine model mi300x, not measured)"),
                  Not(HasSubstr("with all waves")), HasSubstr("vector registers (by the code, not measured)"),
                  HasSubstr("could be won (estimated, not measured)"),
                  HasSubstr("  read from the code, not from the profile:\n"), HasSubstr("% of its samples")));
  EXPECT_EQ(report_json(r.report)["machine_model"], "mi300x");
  EXPECT_EQ(report_json(r.report)["counters"]["SQ_WAVES"], 12);
  EXPECT_THAT(report_text(r.report, 40), Not(HasSubstr("limiter")));
  EXPECT_FALSE(report_json(r.report).contains("summary"));
}

TEST(KernelReport, OfCountersAlone) {
  Reported r;
  KernelProfile& p = r.kernel.profile;
  p.origin = Origin::Counters, p.source = "measured (FILE)", p.instructions.clear();
  p.counters = {{"TCC_HIT_sum", 3}, {"TCC_MISS_sum", 1}, {"FETCH_SIZE", 2000}};
  r.report.summary.reset();
  r.report.windows.clear();
  r.report.figures = counter_figures(p.counters, 1);
  EXPECT_THAT(report_text(r.report, 40),
              ::testing::AllOf(
                  HasSubstr("k: measured (FILE), of whole dispatches: there is nothing by instruction\n"),
                  HasSubstr("L2 hits                              75.0 %"),
                  HasSubstr("read from memory                     2.05 MB"),
                  HasSubstr("TCC_HIT_sum                          3\n"), Not(HasSubstr("window"))));
  EXPECT_EQ(report_json(r.report)["figures"]["L2 hits"], 0.75);
}

TEST(KernelReport, ListingHasEveryInstruction) {
  const Reported r;
  const std::string text = annotated_listing(r.context);
  const nlohmann::ordered_json json = annotated_listing_json(r.context);
  const program::Function& f = r.kernel.code->function();
  EXPECT_EQ(json["instructions"].size(), f.end - f.begin);
  for (program::Index i = f.begin; i < f.end; ++i)
    EXPECT_THAT(text, HasSubstr("\n" + r.kernel.code->id(i) + ": "));
  double issues = 0;
  for (const auto& line : json["instructions"]) issues += line.value("issues", 0.0);
  EXPECT_NEAR(issues, r.kernel.summary().instructions, 1e-6 * issues);
  EXPECT_THAT(text, HasSubstr("global_load_dword"));
}

} // namespace
} // namespace asmevo::profile
