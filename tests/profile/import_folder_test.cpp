// What a folder has, and files that are no profiles.
#include "profile/pc_sampling_file.h"

namespace asmevo::profile {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view counters =
    "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,reduce_lds,SQ_WAVES,4\n";

TEST(Folder, PrefersAddressesAndAddsCounters) {
  const Folder folder;
  PcSamplingFile file(true);
  file.add({0, ""}, 3);
  file.write(folder, "host/1_results.json");
  folder.write("host/1_pc_sampling_stochastic.csv", "Sample_Timestamp,Instruction\n");
  folder.write("host/2_counter_collection.csv", counters);
  folder.write("host/1_kernel_trace.csv", "Kind,Dispatch_Id,Kernel_Name\n");
  folder.write("host/notes.txt", "x");
  const ImportedProfile p = imported(folder.path());
  EXPECT_EQ(p.format, ImportFormat::PcSamplingJson);
  EXPECT_EQ(p.profile.total(), 3);
  EXPECT_EQ(p.profile.counters.at("SQ_WAVES"), 4);
  EXPECT_EQ(p.files.size(), 2U);
  EXPECT_THAT(all_notes(p), HasSubstr("counters from"));
}

TEST(Folder, TheOneFileThatHasTheKernel) {
  const Folder folder;
  PcSamplingFile good(true), other(true);
  good.add({0, ""}, 3);
  other.add({0, "", 2}, 5);
  other.write(folder, "1_results.json");
  good.write(folder, "2_results.json");
  EXPECT_EQ(imported(folder.path()).profile.total(), 3);
  good.write(folder, "3_results.json");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("have reduce_lds: name one of them"));
}

TEST(Folder, OnlyBrokenFiles) {
  const Folder folder;
  EXPECT_THAT(refusal(folder.path()), HasSubstr("no profile in it"));
  folder.write("ui_output_1/code.json", "{\"code\":null}");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("\"code\" is null"));
  folder.write("stats_1.csv", "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("none of 2 files can be imported; the first"));
}

TEST(File, ThatIsNoProfile) {
  const Folder folder;
  EXPECT_THAT(refusal(folder.path() / "nowhere"), HasSubstr("no such file"));
  EXPECT_THAT(refusal(folder.write("a.csv", "x,y\n1,2\n")), HasSubstr("no profile that is known"));
  EXPECT_THAT(refusal(folder.write("a.json", "{\"traceEvents\":[]}")), HasSubstr("no profile that is known"));
  EXPECT_THAT(refusal(folder.write("a.json", "{")), HasSubstr("it begins like JSON"));
  EXPECT_THAT(refusal(folder.write("a.json", "{nope")), HasSubstr("it begins like JSON"));
  EXPECT_THAT(refusal(folder.write("a.txt", "  \n \n")), HasSubstr("nothing but white space"));
  EXPECT_THAT(refusal(folder.write("k.csv", "Kind,Dispatch_Id,Kernel_Name\n")), HasSubstr("a kernel trace"));
  EXPECT_THAT(refusal(folder.write("a.bin", std::string_view("\x7f"
                                                             "ELF\0\0\0",
                                                             7))),
              HasSubstr("zero byte"));
}

TEST(File, WhateverItsNameAndCase) {
  const Folder folder;
  const auto file =
      folder.write("x", "DISPATCH_ID,KERNEL_NAME,counter_name,COUNTER_VALUE\r\n1,reduce_lds,A,2\r\n");
  EXPECT_EQ(imported(file).profile.counters.at("A"), 2);
}

TEST(File, AKernelThatTheObjectLacks) {
  const Folder folder;
  const auto result = import_profile(folder.write("x", counters), *reduce().subject, {"nobody", {}});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("the object has no kernel named nobody"));
  EXPECT_TRUE(import_profile(folder.write("x", counters), *reduce().subject, {std::string(kernel_name), {}}));
}

} // namespace
} // namespace asmevo::profile
