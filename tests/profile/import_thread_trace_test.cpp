#include "profile/import_fixture.h"

#include <nlohmann/json.hpp>

namespace asmevo::profile {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view csv_header = "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n";

struct Line {
  std::string text, source;
  uint64_t address = 0, hits = 0, latency = 0, stall = 0, idle = 0, object = 1;
};

// The kernel as traced with 8 waves: 10 cycles each time, 4 of them stalled, and 3 idle ones.
std::vector<Line> traced(const Kernel& k = reduce(), uint64_t up = 0) {
  std::vector<Line> lines = {
      {"; " + k.listing.kernel.symbol(), k.listing.kernel.symbol(), k.address(0) + up}};
  for (size_t n = 0; n < k.size(); ++n)
    lines.push_back({k.texts[n], "a.cpp:1", k.address(n) + up, 8, 80, 32, 24});
  return lines;
}

std::string csv(const std::vector<Line>& lines) {
  std::string out(csv_header);
  for (const Line& l : lines)
    out += fmt::format("{},{},\"{}\",{},{},{},{},\"{}\"\n", l.object, l.address, l.text, l.hits, l.latency,
                       l.stall, l.idle, l.source);
  return out;
}

std::string json(const std::vector<Line>& lines) {
  nlohmann::json out;
  for (const Line& l : lines)
    out["code"].push_back({l.text, 0, 1, l.source, l.object, l.address, l.hits, l.latency, l.stall, l.idle});
  out["version"] = "3.0.0";
  out["header"] = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle";
  return out.dump();
}

void expect_traced(const ImportedProfile& p) {
  EXPECT_EQ(p.profile.origin, Origin::ThreadTrace);
  EXPECT_EQ(p.profile.instructions.size(), reduce().size());
  const InstructionTime t = time_at(p, reduce().address(5));
  EXPECT_EQ(t.issues, 8);
  EXPECT_EQ(t.busy, 48);
  EXPECT_EQ(t.unexplained, 56);
  EXPECT_EQ(t.total(), 104);
  EXPECT_EQ(p.profile.unplaced, 0);
}

TEST(ThreadTrace, Statistics) {
  const Folder folder;
  const ImportedProfile p = imported(folder.write("stats_ui_output_agent_1_dispatch_3.csv", csv(traced())));
  expect_traced(p);
  EXPECT_EQ(p.format, ImportFormat::ThreadTraceCsv);
  EXPECT_EQ(p.bound, BoundBy::Address);
  EXPECT_THAT(all_notes(p), HasSubstr("gives no reasons"));
}

TEST(ThreadTrace, CodeJson) {
  const Folder folder;
  const ImportedProfile p = imported(folder.write("ui_output_agent_1_dispatch_3/code.json", json(traced())));
  expect_traced(p);
  EXPECT_EQ(p.format, ImportFormat::ThreadTraceJson);
}

TEST(ThreadTrace, TheObjectBesideItBindsByHash) {
  const Folder folder;
  folder.write("host/77_gfx942_code_object_id_1.out", as_text(object_bytes()));
  folder.write("host/77_gfx942_code_object_id_2.out", "another");
  const auto file = folder.write("ui_output_agent_1_dispatch_3/code.json", json(traced()));
  const ImportedProfile p = imported(file);
  EXPECT_EQ(p.bound, BoundBy::Hash);
  EXPECT_EQ(p.files.size(), 2U);
  EXPECT_THAT(all_notes(p), HasSubstr("byte for byte"));
}

TEST(ThreadTrace, TheObjectBesideItTellsTheTarget) {
  const Folder folder;
  folder.write("77_gfx90a_code_object_id_1.out", "another");
  EXPECT_THAT(refusal(folder.write("stats_x.csv", csv(traced()))), HasSubstr("recorded on gfx90a"));
}

TEST(ThreadTrace, OfOneDispatch) {
  const Folder folder;
  const auto file = folder.write("stats_ui_output_agent_1_dispatch_3.csv", csv(traced()));
  expect_traced(imported(file, reduce(), 3));
  EXPECT_THAT(refusal(file, reduce(), 4), HasSubstr("a trace of dispatch 3, not of 4"));
}

TEST(ThreadTrace, AnotherObjectsCopyOfTheKernelIsBoundByText) {
  const Folder folder;
  const ImportedProfile p = imported(folder.write("stats_x.csv", csv(traced(reduce(), 0x1200))));
  expect_traced(p);
  EXPECT_EQ(p.bound, BoundBy::Text);
  EXPECT_THAT(all_notes(p), HasSubstr("0x1200 bytes further up"));
}

TEST(ThreadTrace, OtherKernelsAreLeftOut) {
  std::vector<Line> lines = traced();
  lines.push_back({"; histogram", "histogram", 0x9000});
  lines.push_back({"v_nop", "", 0x9000, 100, 1000, 0, 0});
  lines.push_back({"v_nop", "", 0x100, 100, 1000, 0, 0, 2});
  const Folder folder;
  const ImportedProfile p = imported(folder.write("stats_x.csv", csv(lines)));
  expect_traced(p);
  EXPECT_THAT(all_notes(p), HasSubstr("2 instructions of other kernels left out"));
}

TEST(ThreadTrace, LostRecords) {
  std::vector<Line> lines = traced();
  lines.back().hits = 5;                             // s_endpgm
  lines.push_back({"", "", 0x7f00, 4, 40, 0, 0, 0}); // no code object
  const Folder folder;
  const ImportedProfile p = imported(folder.write("stats_x.csv", csv(lines)));
  EXPECT_EQ(p.profile.unplaced, 40);
  EXPECT_THAT(all_notes(p), HasSubstr("records are lost: 8 waves begin in the trace, 5 end"));
  EXPECT_THAT(all_notes(p), HasSubstr("4 instructions that the decoder gave no code object"));
}

TEST(ThreadTrace, AFewTextsThatReadOtherwise) {
  std::vector<Line> lines = traced();
  lines[4].text = "v_other v1, v2";
  const Folder folder;
  const ImportedProfile p = imported(folder.write("stats_x.csv", csv(lines)));
  EXPECT_EQ(p.bound, BoundBy::Address);
  EXPECT_THAT(all_notes(p),
              HasSubstr("1 instruction reads otherwise in the file than in the object; the first, at"));
}

TEST(ThreadTrace, FilesOfAnotherObjectOrKernel) {
  const Folder folder;
  std::vector<Line> lines = traced();
  for (Line& l : lines)
    if (!l.text.starts_with(";")) l.text = "v_other v1, v2";
  EXPECT_THAT(refusal(folder.write("stats_x.csv", csv(lines))),
              HasSubstr(fmt::format("recorded with another object: 0 of {} instructions", reduce().size())));
  lines = traced();
  lines[0].text = "; other";
  lines[0].source = "other(int)";
  EXPECT_THAT(refusal(folder.write("stats_x.csv", csv(lines))),
              HasSubstr("no kernel reduce_lds in it; it has other"));
}

TEST(ThreadTrace, BrokenStatistics) {
  const Folder folder;
  const auto say = [&](std::string_view rows) {
    return refusal(folder.write("stats_x.csv", std::string(csv_header) + std::string(rows)));
  };
  EXPECT_THAT(say(""), HasSubstr("nothing but a header: the trace decoder found no instructions"));
  EXPECT_THAT(say("1,256,\"s_nop 0\",-1,0,0,0,\"\"\n"), HasSubstr(":2: Hitcount is '-1', not a count"));
  EXPECT_THAT(say("1,256,\"s_nop 0\",1,nan,0,0,\"\"\n"), HasSubstr(":2: Latency is 'nan', not a count"));
  EXPECT_THAT(say("1,256,\"s_nop 0\",1,1,99999999999999999999,0,\"\"\n"), HasSubstr("Stall is '9999"));
  EXPECT_THAT(say("1,0x100,\"s_nop 0\",1,1,0,0,\"\"\n"), HasSubstr("Vaddr is '0x100', not a whole number"));
  EXPECT_THAT(say("1,256,\"s_nop 0\",1,1\n"), HasSubstr(":2: 5 fields where the header has 8"));
  EXPECT_THAT(say("1,256,\"s_nop 0"), HasSubstr("a quoted field is not closed"));
  EXPECT_THAT(say("1,256,\"s_nop 0\",0,0,0,0,\"\"\n"), HasSubstr("no instruction was hit"));
}

TEST(ThreadTrace, BrokenCodeJson) {
  const Folder folder;
  const auto say = [&](std::string_view text) {
    return refusal(folder.write("ui_output_1/code.json", text));
  };
  EXPECT_THAT(say(R"({"code":null,"header":"","version":"3.0.0"})"),
              HasSubstr("\"code\" is null: the trace decoder found no instructions"));
  EXPECT_THAT(say(R"({"code":[],"version":"3.0.0"})"), HasSubstr("no rows in \"code\""));
  EXPECT_THAT(say(R"({"version":"3.0.0"})"), HasSubstr("no rows in \"code\""));
  EXPECT_THAT(say(R"({"code":[["s_nop 0",0,1,"",1,256,-1,0,0,0]]})"),
              HasSubstr("code[0]: Hit is -1, not a whole number"));
  EXPECT_THAT(say(R"({"code":[["s_nop 0",0,1,"",1,256,1,1,0,"x"]]})"),
              HasSubstr("code[0]: Idle is \"x\", not a whole number"));
  EXPECT_THAT(say(R"({"code":[["s_nop 0",0,1,"",1,256,1,18446744073709551615,0,0]]})"),
              HasSubstr("is no count"));
  EXPECT_THAT(say(R"({"code":[["s_nop 0",0,1]]})"), HasSubstr("code[0]: not a row of 10 fields"));
  EXPECT_THAT(say(R"({"code":[5]})"), HasSubstr("code[0]: not a row of 10 fields"));
  EXPECT_THAT(say(R"({"code":[["s_nop 0",0,1,"",1,256,1,NaN,0,0]]})"), HasSubstr("not valid JSON"));
  EXPECT_THAT(say(R"({"code":[["s_nop 0",0,1,"",1)"), HasSubstr("the file is cut off"));
  EXPECT_THAT(say(R"({"code":[],"header":"Vaddr, ISA"})"),
              HasSubstr("header: 'Vaddr, ISA', where 'ISA, _, "));
}

} // namespace
} // namespace asmevo::profile
