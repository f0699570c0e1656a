#include "profile/pc_sampling_file.h"

namespace asmevo::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using timing::Stall;

TEST(PcSamplingJson, StochasticSamplesByAddressAndReason) {
  const Kernel& k = reduce();
  const size_t wait = k.find("s_waitcnt vmcnt(0)"), add = wait + 1;
  PcSamplingFile file(true);
  file.add({wait, "WAITCNT"}, 5).add({add, "ALU_DEPENDENCY"}, 2).add({add, ""}, 3).add({add, "", 3});
  file.add({add, "", 2}, 50); // another kernel's dispatch
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(p.format, ImportFormat::PcSamplingJson);
  EXPECT_EQ(p.bound, BoundBy::Address);
  EXPECT_EQ(p.profile.origin, Origin::Stochastic);
  EXPECT_EQ(p.profile.kernel, kernel_name);
  EXPECT_THAT(p.profile.source, HasSubstr("measured (rocprofv3, stochastic PC sampling: "));
  EXPECT_EQ(p.dispatches, 2U);
  ASSERT_EQ(p.profile.instructions.size(), 2U);
  EXPECT_EQ(stalled(time_at(p, k.address(wait)), Stall::Waitcnt), 5);
  EXPECT_EQ(stalled(time_at(p, k.address(add)), Stall::AluDependency), 2);
  EXPECT_EQ(time_at(p, k.address(add)).busy, 4);
  EXPECT_EQ(time_at(p, k.address(add)).issues, 4);
  EXPECT_EQ(p.profile.unplaced, 0);
  EXPECT_THAT(all_notes(p),
              HasSubstr("bound by address: 2 of 2 sampled instructions read as in the object, and the "
                        "kernel's symbols are where it has them"));
}

TEST(PcSamplingJson, OneDispatch) {
  PcSamplingFile file(true);
  file.add({0, ""}, 3).add({0, "", 3}, 4).add({0, "", 2}, 5);
  const Folder folder;
  const auto path = file.write(folder);
  EXPECT_EQ(imported(path, reduce(), 3).profile.total(), 4);
  EXPECT_THAT(refusal(path, reduce(), 2), HasSubstr("no dispatch 2 of reduce_lds; it has 1, 3"));
}

TEST(PcSamplingJson, HostTrapSamplesGoBackToTheWait) {
  const Kernel& k = reduce();
  const size_t wait = k.find("s_waitcnt vmcnt(0)");
  PcSamplingFile file(false);
  file.add({wait, ""}, 1).add({wait + 1, ""}, 10).add({wait + 2, ""}, 4).add({wait + 3, ""}, 2);
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(p.profile.origin, Origin::HostTrap);
  EXPECT_EQ(time_at(p, k.address(wait)).unexplained, 15);
  EXPECT_EQ(time_at(p, k.address(wait)).issues, 0);
  EXPECT_EQ(time_at(p, k.address(wait + 3)).unexplained, 2);
  EXPECT_THAT(all_notes(p), HasSubstr("14 of 17 samples were moved back"));
}

TEST(PcSamplingJson, AnObjectWithTheKernelElsewhereIsBoundByText) {
  PcSamplingFile file(true);
  file.moved = 0x340;
  file.tool["code_objects"][1]["memory_size"] = 99999;
  for (size_t n = 0; n < 40; ++n) file.add({n, ""});
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(p.bound, BoundBy::Text);
  EXPECT_EQ(p.profile.total(), 40);
  EXPECT_EQ(time_at(p, reduce().address(0)).busy, 1);
  EXPECT_THAT(all_notes(p),
              HasSubstr("bound by instruction text: the file's code object has the kernel 0x340 bytes "
                        "further up; 40 of 40"));
}

TEST(PcSamplingJson, OffsetsCountFromWhereTheObjectWasLoaded) {
  PcSamplingFile file(true);
  file.moved = -0x1000;
  file.tool["code_objects"][1]["load_base"] = file.load_base + 0x1000;
  for (size_t n = 0; n < 10; ++n) file.add({n, ""});
  const Folder folder;
  EXPECT_EQ(imported(file.write(folder)).bound, BoundBy::Address);
}

TEST(PcSamplingJson, RecordsWithoutAPlaceAreCounted) {
  PcSamplingFile file(true);
  file.add({0, ""}, 6);
  auto lost = file.samples()[0];
  lost["inst_index"] = -1;
  lost["record"]["pc"] = {{"code_object_id", 0}, {"code_object_offset", 0x7f1234567890}};
  file.samples().push_back(lost);
  file.samples().push_back(lost);
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(p.profile.unplaced, 2);
  EXPECT_THAT(all_notes(p), HasSubstr("2 samples in no instruction of the kernel"));
  EXPECT_THAT(all_notes(p), HasSubstr("2 of them at addresses that the profiler did not know"));
}

TEST(PcSamplingJson, DispatchesWithoutSamplesAreANote) {
  PcSamplingFile file(true);
  for (uint64_t d = 10; d < 20; ++d) file.add_dispatch(d, 7);
  file.add({0, ""}, 6);
  const Folder folder;
  EXPECT_THAT(all_notes(imported(file.write(folder))),
              HasSubstr("records may be lost: only 1 of 12 dispatches have samples"));
}

TEST(PcSamplingJson, UnknownReasonsAreUnexplained) {
  PcSamplingFile file(true);
  file.add({0, "COFFEE_BREAK"}, 3).add({0, "WAITCNT"});
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(time_at(p, reduce().address(0)).unexplained, 3);
  EXPECT_THAT(all_notes(p),
              HasSubstr("3 samples of all the file's with the unknown stall reason "
                        "'ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_COFFEE_BREAK'"));
}

TEST(PcSamplingJson, WithoutAKernelTraceAddressesDecide) {
  PcSamplingFile file(true);
  file.tool["buffer_records"]["kernel_dispatch"] = nlohmann::ordered_json::array();
  file.add({0, ""}, 4);
  auto other = file.samples()[0];
  other["record"]["pc"]["code_object_offset"] = 0x9000;
  file.samples().push_back(other);
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(p.profile.total(), 4);
  EXPECT_EQ(p.profile.unplaced, 0);
  EXPECT_THAT(all_notes(p), HasSubstr("without a kernel trace"));
}

TEST(PcSamplingJson, ANameThatIsCutShort) {
  PcSamplingFile file(true);
  file.tool["kernel_symbols"][0]["kernel_name"] = "";
  file.add({0, ""}, 4);
  const Folder folder;
  EXPECT_EQ(imported(file.write(folder)).profile.total(), 4);
}

TEST(PcSamplingJson, AFileOfAnotherObject) {
  PcSamplingFile file(true);
  file.tool["strings"]["pc_sample_instructions"] = std::vector<std::string>(reduce().size(), "v_nop");
  for (size_t n = 0; n < 20; ++n) file.add({n, ""});
  const Folder folder;
  EXPECT_THAT(
      refusal(file.write(folder)),
      HasSubstr(
          "recorded with another object: 0 of 20 sampled instructions of reduce_lds read as in this one"));
}

TEST(PcSamplingJson, WhereSymbolsAndSizeAgreeHalfOfTheTextsAreEnough) {
  PcSamplingFile file(true);
  for (size_t n = 0; n < 10; ++n) file.add({n, ""});
  for (size_t n = 0; n < 4; ++n) file.tool["strings"]["pc_sample_instructions"][n] = "v_nop";
  const Folder folder;
  const ImportedProfile p = imported(file.write(folder));
  EXPECT_EQ(p.bound, BoundBy::Address);
  EXPECT_THAT(all_notes(p), HasSubstr("4 instructions read otherwise"));
  file.tool["code_objects"][1]["memory_size"] = 5;
  EXPECT_THAT(refusal(file.write(folder)), HasSubstr("6 of 10 sampled instructions"));
}

TEST(PcSamplingJson, AnotherTarget) {
  PcSamplingFile file(true);
  file.tool["agents"][1]["name"] = "gfx90a";
  file.add({0, ""});
  const Folder folder;
  EXPECT_THAT(refusal(file.write(folder)), HasSubstr("recorded on gfx90a, the object is for gfx942"));
}

TEST(PcSamplingJson, AKernelThatIsNotInIt) {
  PcSamplingFile file(true);
  file.add({0, ""});
  const Folder folder;
  const Kernel other("reduce.gfx942.co", "reduce_wave");
  EXPECT_THAT(refusal(file.write(folder), other),
              HasSubstr("no kernel reduce_wave in it; it has histogram, reduce_lds"));
}

TEST(PcSamplingJson, NoSamples) {
  const Folder folder;
  EXPECT_THAT(refusal(PcSamplingFile(true).write(folder)), HasSubstr("no PC samples in it"));
  PcSamplingFile others(true);
  others.add({0, "", 2}, 5);
  EXPECT_THAT(refusal(others.write(folder)),
              HasSubstr("no sample of reduce_lds in it (5 samples of other kernels)"));
}

// A good file with one thing changed.
std::string broken(const std::function<void(PcSamplingFile&)>& change) {
  PcSamplingFile file(true);
  file.add({0, "WAITCNT"}).add({1, ""});
  change(file);
  const Folder folder;
  return refusal(file.write(folder));
}

TEST(PcSamplingJson, WrongTypesAreNamed) {
  EXPECT_THAT(broken([](auto& f) { f.samples()[1]["record"]["pc"]["code_object_offset"] = -4; }),
              HasSubstr("pc_sample_stochastic[1]: record.pc.code_object_offset is -4, not a whole number"));
  EXPECT_THAT(broken([](auto& f) { f.samples()[0]["record"].erase("dispatch_id"); }),
              HasSubstr("pc_sample_stochastic[0]: no record.dispatch_id"));
  EXPECT_THAT(broken([](auto& f) { f.samples()[0]["record"]["wave_issued"] = 7; }),
              HasSubstr("wave_issued is 7, not 0 or 1"));
  EXPECT_THAT(broken([](auto& f) { f.samples()[0]["inst_index"] = "x"; }),
              HasSubstr("inst_index is not a whole number"));
  EXPECT_THAT(broken([](auto& f) { f.samples()[0] = 5; }), HasSubstr("no record.pc.code_object_id"));
  EXPECT_THAT(broken([](auto& f) { f.samples()[0]["record"]["dispatch_id"] = 1e300; }),
              HasSubstr("dispatch_id is 1e+300, not a whole number"));
  EXPECT_THAT(broken([](auto& f) { f.tool["strings"]["pc_sample_instructions"][0] = 5; }),
              HasSubstr("pc_sample_instructions[0]: not a text"));
  EXPECT_THAT(broken([](auto& f) { f.tool["code_objects"][1]["load_delta"] = "x"; }),
              HasSubstr("load_delta is not a whole number"));
  EXPECT_THAT(broken([](auto& f) { f.tool["kernel_symbols"] = 5; }), HasSubstr("is not a list"));
  EXPECT_THAT(broken([](auto& f) { f.tool["buffer_records"]["pc_sample_host_trap"] = f.samples(); }),
              HasSubstr("both host-trap and stochastic"));
}

TEST(PcSamplingJson, CutOffAnywhereIsOneLine) {
  PcSamplingFile file(true);
  file.add({0, "WAITCNT"}, 2);
  const std::string text = file.text();
  const Folder folder;
  for (size_t n = 1; n + 1 < text.size(); n += 97)
    EXPECT_THAT(refusal(folder.write("cut_results.json", text.substr(0, n))), Not(HasSubstr("no samples")));
  EXPECT_THAT(refusal(folder.write("cut_results.json", text.substr(0, text.size() - 6))),
              HasSubstr("cut off"));
  EXPECT_THAT(refusal(folder.write("empty_results.json", "")), HasSubstr("the file is empty"));
}

} // namespace
} // namespace asmevo::profile
