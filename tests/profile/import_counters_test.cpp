#include "profile/import_fixture.h"

namespace asmevo::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view header =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\","
    "\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
    "\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_"
    "Timestamp\"\n";

std::string row(int dispatch, std::string_view kernel, std::string_view counter, std::string_view value) {
  return fmt::format("1,{},\"Agent 1\",1,15606,15606,1048576,17,\"{}\",64,0,0,8,0,16,\"{}\",{},32,33\n",
                     dispatch, kernel, counter, value);
}

TEST(CounterCsv, SumsOverTheKernelsDispatches) {
  const Folder folder;
  const auto file =
      folder.write("1_counter_collection.csv",
                   std::string(header) + row(1, "reduce_lds", "SQ_WAVES", "16.000000") +
                       row(1, "reduce_lds", "FETCH_SIZE", "2.5") + row(2, "histogram", "SQ_WAVES", "99") +
                       row(3, "reduce_lds.kd", "SQ_WAVES", "4"));
  const ImportedProfile p = imported(file);
  EXPECT_EQ(p.profile.origin, Origin::Counters);
  EXPECT_EQ(p.bound, BoundBy::Nothing);
  EXPECT_THAT(p.profile.counters, ElementsAre(Pair("FETCH_SIZE", 2.5), Pair("SQ_WAVES", 20)));
  EXPECT_TRUE(p.profile.instructions.empty());
  EXPECT_EQ(p.dispatches, 2U);
  EXPECT_THAT(all_notes(p), HasSubstr("sums over 2 dispatches"));
  EXPECT_THAT(imported(file, reduce(), 3).profile.counters, ElementsAre(Pair("SQ_WAVES", 4)));
  EXPECT_THAT(refusal(file, reduce(), 2), HasSubstr("no dispatch 2 of reduce_lds"));
}

TEST(CounterCsv, BrokenFiles) {
  const Folder folder;
  const auto say = [&](const std::string& rows) {
    return refusal(folder.write("1_counter_collection.csv", std::string(header) + rows));
  };
  EXPECT_THAT(say(""), HasSubstr("nothing but a header: no counter was read"));
  EXPECT_THAT(say(row(1, "reduce_lds", "X", "nan")), HasSubstr(":2: Counter_Value is 'nan', not a number"));
  EXPECT_THAT(say(row(1, "reduce_lds", "X", "-3")), HasSubstr(":2: Counter_Value is '-3'"));
  EXPECT_THAT(say(row(1, "reduce_lds", "X", "1e999")), HasSubstr("Counter_Value is '1e999'"));
  EXPECT_THAT(say(row(1, "reduce_lds", "X", "")), HasSubstr("Counter_Value is ''"));
  EXPECT_THAT(say(row(1, "scan", "X", "1")), HasSubstr("no kernel reduce_lds in it; it has scan"));
}

TEST(PmcPerf, AColumnACounter) {
  const Folder folder;
  const auto file =
      folder.write("pmc_perf.csv", "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_"
                                   "Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,wave_size,"
                                   "SQ_WAVES,TCC_HIT[0],Start_Timestamp,End_Timestamp\n"
                                   "0,reduce_lds,2,1024,256,1024,0,16,0,16,64,4,100,1,2\n"
                                   "1,histogram,2,1024,256,1024,0,16,0,16,64,9,9,1,2\n"
                                   "2,reduce_lds,2,1024,256,1024,0,16,0,16,64,4,,1,2\n");
  const ImportedProfile p = imported(file);
  EXPECT_EQ(p.format, ImportFormat::PmcPerfCsv);
  EXPECT_THAT(p.profile.source, HasSubstr("rocprof-compute, counters"));
  EXPECT_THAT(p.profile.counters, ElementsAre(Pair("SQ_WAVES", 8), Pair("TCC_HIT[0]", 100)));
  EXPECT_THAT(all_notes(p), HasSubstr("1 counter without a value"));
  const auto bad =
      folder.write("pmc_perf.csv", "Dispatch_ID,Kernel_Name,Grid_Size,SQ_WAVES\n0,reduce_lds,4,-1\n");
  EXPECT_THAT(refusal(bad), HasSubstr(":2: SQ_WAVES is '-1'"));
}

} // namespace
} // namespace asmevo::profile
