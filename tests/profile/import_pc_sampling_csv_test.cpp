#include "profile/import_fixture.h"

namespace asmevo::profile {
namespace {

using ::testing::HasSubstr;
using timing::Stall;

constexpr std::string_view host_trap_header = "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\","
                                              "\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\"\n";
constexpr std::string_view stochastic_header =
    "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\","
    "\"Correlation_Id\","
    "\"Wave_Issued_Instruction\",\"Instruction_Type\",\"Stall_Reason\",\"Wave_Count\"\n";

std::string host_trap(int dispatch, std::string_view text, std::string_view comment = "") {
  return fmt::format("3464444413017201,65535,{},\"{}\",\"{}\",1\n", dispatch, text, comment);
}
std::string stochastic(int dispatch, std::string_view text, bool issued, std::string_view reason) {
  return fmt::format(
      "3464444413017201,65535,{},\"{}\",\"\",1,{},\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU\","
      "\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_{}\",4\n",
      dispatch, text, issued ? 1 : 0, reason);
}
std::string trace(std::initializer_list<std::pair<int, std::string_view>> kernels) {
  std::string out = "\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\"\n";
  for (const auto& [dispatch, name] : kernels)
    out += fmt::format("\"KERNEL_DISPATCH\",\"Agent 1\",{},5,\"{}\"\n", dispatch, name);
  return out;
}

// Instructions of the kernel by how often it has their text.
size_t unique_text(size_t from = 0) {
  const KernelListing& l = reduce().listing;
  for (size_t n = from; n < l.instructions.size(); ++n)
    if (std::ranges::count(l.instructions, l.instructions[n].text, &ListedInstruction::text) == 1) return n;
  return l.instructions.size();
}

TEST(PcSamplingCsv, TextsThatTheKernelHasOnceArePlaced) {
  const Kernel& k = reduce();
  const size_t wait = k.find("s_waitcnt vmcnt(0)"), add = wait + 1; // both unique
  const Folder folder;
  folder.write("out_kernel_trace.csv", trace({{1, "reduce_lds"}, {2, "histogram"}, {4, "reduce_lds"}}));
  const auto file = folder.write(
      "out_pc_sampling_stochastic.csv",
      std::string(stochastic_header) + stochastic(1, k.texts[wait], false, "WAITCNT") +
          stochastic(4, k.texts[wait], false, "WAITCNT") + stochastic(2, k.texts[wait], false, "WAITCNT") +
          stochastic(1, k.texts[add], true, "OTHER_WAIT") +
          stochastic(1, "s_waitcnt lgkmcnt(0)", false, "WAITCNT") + stochastic(1, "", false, "WAITCNT"));
  const ImportedProfile p = imported(file);
  EXPECT_EQ(p.bound, BoundBy::Text);
  EXPECT_EQ(p.profile.origin, Origin::Stochastic);
  EXPECT_EQ(p.dispatches, 2U);
  EXPECT_EQ(p.files.size(), 2U);
  EXPECT_EQ(stalled(time_at(p, k.address(wait)), Stall::Waitcnt), 2);
  EXPECT_EQ(time_at(p, k.address(add)).busy, 1);
  EXPECT_EQ(p.profile.unplaced, 2);
  EXPECT_THAT(all_notes(p), HasSubstr("3 of 5 samples placed"));
  EXPECT_THAT(all_notes(p), HasSubstr("1 sample of instructions whose text the kernel has several times"));
  EXPECT_THAT(all_notes(p), HasSubstr("1 sample of instructions that the kernel does not have"));
  EXPECT_EQ(imported(file, k, 4).profile.total(), 1);
  EXPECT_THAT(refusal(file, k, 2), HasSubstr("no samples of dispatch 2"));
}

TEST(PcSamplingCsv, HostTrapSamplesGoBack) {
  const Kernel& k = reduce();
  const size_t wait = k.find("s_waitcnt vmcnt(0)");
  const Folder folder;
  std::string text(host_trap_header);
  for (int i = 0; i < 7; ++i) text += host_trap(1, k.texts[wait + 1]);
  const ImportedProfile p = imported(folder.write("7_pc_sampling_host_trap.csv", text));
  EXPECT_EQ(p.profile.origin, Origin::HostTrap);
  EXPECT_EQ(time_at(p, k.address(wait)).unexplained, 7);
  EXPECT_THAT(all_notes(p), HasSubstr("7 of 7 samples were moved back"));
  EXPECT_THAT(all_notes(p), HasSubstr("no kernel trace beside it"));
}

// An instruction whose text the kernel has several times, but only once next to `near`, which has its own.
struct Neighbours {
  size_t near = 0, repeated = 0;
};
Neighbours neighbours() {
  const Kernel& k = reduce();
  for (size_t before = unique_text(), near = unique_text(before + 1);;) {
    const size_t after = unique_text(near + 1);
    if (after == k.size()) return {};
    for (size_t n = near + 1; n < after; ++n) {
      size_t same = 0;
      for (size_t i = before; i <= after; ++i) same += k.texts[i] == k.texts[n] ? 1 : 0;
      if (same == 1) return {near, n};
    }
    before = near;
    near = after;
  }
}

TEST(PcSamplingCsv, SourceLinesTellTextsApart) {
  const Kernel& k = reduce();
  const Neighbours found = neighbours();
  std::string text(host_trap_header);
  for (size_t n = 0; n < k.size(); ++n)
    if (unique_text(n) == n) text += host_trap(1, k.texts[n], n == found.near ? "a.cpp:10" : "a.cpp:20");
  for (const std::string_view line : {"a.cpp:10", "b.cpp:1"})
    text += host_trap(1, k.texts[found.repeated], line);
  const Folder folder;
  const ImportedProfile p = imported(folder.write("pc_sampling_host_trap.csv", text));
  EXPECT_THAT(all_notes(p), HasSubstr("\n1 sample of them by their source line"));
  EXPECT_EQ(p.profile.unplaced, 1);
  const size_t at = before_skid(k.listing, found.repeated);
  EXPECT_GE(time_at(p, k.address(at)).unexplained, 1);
}

TEST(PcSamplingCsv, DispatchesOfOtherKernelsByTheirTexts) {
  const Kernel& k = reduce();
  const size_t wait = k.find("s_waitcnt vmcnt(0)");
  const Folder folder;
  std::string text(host_trap_header);
  text += host_trap(1, k.texts[wait]);
  for (int i = 0; i < 9; ++i)
    text += host_trap(2, "v_dot4_i32_i8 v1, v2, v3, v4") + host_trap(2, k.texts[wait]);
  EXPECT_EQ(imported(folder.write("pc_sampling_host_trap.csv", text)).profile.total(), 1);
}

TEST(PcSamplingCsv, JsonBesideItIsANote) {
  const Kernel& k = reduce();
  const Folder folder;
  folder.write("7_results.json", "{}");
  const auto file =
      folder.write("7_pc_sampling_host_trap.csv",
                   std::string(host_trap_header) + host_trap(1, k.texts[k.find("s_waitcnt vmcnt(0)")]));
  EXPECT_THAT(all_notes(imported(file)), HasSubstr("7_results.json beside it has the samples' addresses"));
}

TEST(PcSamplingCsv, BrokenFiles) {
  const Folder folder;
  const auto say = [&](std::string_view text) {
    return refusal(folder.write("pc_sampling_stochastic.csv", text));
  };
  const std::string good = stochastic(1, reduce().texts[0], true, "NONE");
  EXPECT_THAT(say(""), HasSubstr("the file is empty"));
  EXPECT_THAT(say(stochastic_header), HasSubstr("nothing but a header: no sample was taken"));
  EXPECT_THAT(say(std::string(stochastic_header) + good + "1,2,3\n"), HasSubstr(":3: 3 fields"));
  EXPECT_THAT(say(std::string(stochastic_header) + good.substr(0, 40)), HasSubstr(":2:"));
  EXPECT_THAT(say(std::string(stochastic_header) + "1,1,-1,\"x\",\"\",1,1,\"\",\"\",1\n"),
              HasSubstr(":2: Dispatch_Id is '-1', not a whole number"));
  EXPECT_THAT(say(std::string(stochastic_header) + "1,1,1,\"x\",\"\",1,2,\"\",\"\",1\n"),
              HasSubstr(":2: Wave_Issued_Instruction is 2"));
  EXPECT_THAT(
      say(std::string(stochastic_header) + stochastic(1, "v_dot4_i32_i8 v1, v2, v3, v4", true, "NONE")),
      HasSubstr("no dispatch of reduce_lds in it, by the texts of its instructions"));
  EXPECT_THAT(say("Sample_Timestamp,Instruction\n"), HasSubstr("no column 'Dispatch_Id'"));
}

TEST(PcSamplingCsv, AnotherTargetBesideIt) {
  const Folder folder;
  folder.write("9_agent_info.csv",
               "\"Node_Id\",\"Agent_Type\",\"Name\"\n0,\"CPU\",\"AMD\"\n1,\"GPU\",\"gfx950\"\n");
  const auto file = folder.write("9_pc_sampling_host_trap.csv",
                                 std::string(host_trap_header) + host_trap(1, reduce().texts[0]));
  EXPECT_THAT(refusal(file), HasSubstr("recorded on gfx950, the object is for gfx942"));
}

} // namespace
} // namespace asmevo::profile
