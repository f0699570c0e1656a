#include "base/random.h"
#include "program/edit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace asmevo::program {
namespace {

std::string error_of(std::string_view json) {
  const auto edit = Edit::parse(json);
  if (edit) return "no error";
  EXPECT_EQ(edit.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(edit.error().message.find('\n'), std::string::npos) << "one line";
  return edit.error().message;
}

TEST(InstrId, TextRoundTrips) {
  EXPECT_EQ((InstrId{0, 0x1a4}.text()), "1a4");
  EXPECT_EQ((InstrId{7, 2}.text()), "7.2");
  EXPECT_EQ(InstrId::parse("1a4"), (InstrId{0, 0x1a4}));
  EXPECT_EQ(InstrId::parse("7.2"), (InstrId{7, 2}));
  EXPECT_EQ(InstrId::parse("4294967295.4294967295"), (InstrId{~0U, ~0U}));
  for (const char* bad : {"", ".", "7.", ".2", "0.1", "-1", "+1", "0x10", "1.2.3", "g", "100000000", "1 ",
                          " 1", "7.-2", "7.a", "4294967296.0", "1e+3"})
    EXPECT_FALSE(InstrId::parse(bad)) << bad;
}

TEST(Edit, ParsesTheDocumentedForm) {
  const auto edit = Edit::parse(R"({"version":1,"base":3,"kernel":"k","changes":[
      {"first":"1a4","last":"1b0","text":"s_nop 0\n"},{"before":"7.2","text":"x: s_nop 1"},{"first":"10","text":""}],
      "resources":{"lds_bytes":65536,"scratch_bytes":0,"shrink_vgprs":true},"rationale":"why","direction":"where"})");
  ASSERT_TRUE(edit) << edit.error().message;
  EXPECT_EQ(edit->base, 3U);
  EXPECT_EQ(edit->kernel, "k");
  ASSERT_EQ(edit->changes.size(), 3U);
  EXPECT_EQ(edit->changes[0].first, (InstrId{0, 0x1a4}));
  EXPECT_EQ(edit->changes[0].last, (InstrId{0, 0x1b0}));
  EXPECT_EQ(edit->changes[1].before, (InstrId{7, 2}));
  EXPECT_EQ(edit->changes[2].last, edit->changes[2].first);
  EXPECT_EQ(edit->resources, (ResourceRequest{65536, 0, true}));
  EXPECT_EQ(edit->rationale, "why");
  EXPECT_EQ(edit->direction, "where");
}

TEST(Edit, Defaults) {
  const auto edit = Edit::parse(R"({"version":1,"kernel":"k","changes":[]})");
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->base, 0U);
  EXPECT_EQ(edit->resources, ResourceRequest{});
  EXPECT_TRUE(edit->changes.empty());
}

TEST(Edit, ErrorsNameTheKey) {
  struct Case {
    const char* json;
    const char* message;
  };
  constexpr Case cases[] = {
      {"", "edit: not valid JSON"},
      {"{", "edit: not valid JSON"},
      {"[]", "edit: not a JSON object"},
      {"null", "edit: not a JSON object"},
      {"{}", "edit: version must be 1"},
      {R"({"version":2,"kernel":"k","changes":[]})", "edit: version must be 1"},
      {R"({"version":"1"})", "edit: version must be a number from 0 to 4294967295"},
      {R"({"version":1.0})", "edit: version must be a number from 0 to 4294967295"},
      {R"({"version":1,"base":-1})", "edit: base must be a number from 0 to 4294967295"},
      {R"({"version":1,"base":4294967296})", "edit: base must be a number from 0 to 4294967295"},
      {R"({"version":1,"changes":[]})", "edit: kernel is missing"},
      {R"({"version":1,"kernel":"","changes":[]})", "edit: kernel is missing"},
      {R"({"version":1,"kernel":7,"changes":[]})", "edit: kernel must be a string"},
      {R"({"version":1,"kernel":"k"})", "edit: changes must be an array"},
      {R"({"version":1,"kernel":"k","changes":{}})", "edit: changes must be an array"},
      {R"({"version":1,"kernel":"k","changes":[],"extra":1})", "edit: unknown key 'extra'"},
      {R"({"version":1,"kernel":"k","changes":[],"rationale":[]})", "edit: rationale must be a string"},
      {R"({"version":1,"kernel":"k","changes":[],"direction":1})", "edit: direction must be a string"},
      {R"({"version":1,"kernel":"k","changes":[1]})", "edit: changes[0] must be an object"},
      {R"({"version":1,"kernel":"k","changes":[{"before":"0","text":""},{"text":""}]})",
       "edit: changes[1] needs either 'first' (and 'last') or 'before'"},
      {R"({"version":1,"kernel":"k","changes":[{"before":"0","first":"0","text":""}]})",
       "edit: changes[0] needs either 'first' (and 'last') or 'before'"},
      {R"({"version":1,"kernel":"k","changes":[{"last":"0","text":""}]})",
       "edit: changes[0] needs either 'first' (and 'last') or 'before'"},
      {R"({"version":1,"kernel":"k","changes":[{"before":"0"}]})", "edit: changes[0].text is missing"},
      {R"({"version":1,"kernel":"k","changes":[{"before":"0","text":null}]})",
       "edit: changes[0].text must be a string"},
      {R"({"version":1,"kernel":"k","changes":[{"before":"xyz","text":""}]})",
       "edit: changes[0].before: 'xyz' is not an instruction id"},
      {R"({"version":1,"kernel":"k","changes":[{"first":16,"text":""}]})",
       "edit: changes[0].first must be a string"},
      {R"({"version":1,"kernel":"k","changes":[{"first":"0","last":"0.1","text":""}]})",
       "edit: changes[0].last: '0.1' is not an instruction id"},
      {R"({"version":1,"kernel":"k","changes":[{"first":"0","text":"","why":""}]})",
       "edit: unknown key 'changes[0].why'"},
      {R"({"version":1,"kernel":"k","changes":[],"resources":1})", "edit: resources must be an object"},
      {R"({"version":1,"kernel":"k","changes":[],"resources":{"vgprs":1}})",
       "edit: unknown key 'resources.vgprs'"},
      {R"({"version":1,"kernel":"k","changes":[],"resources":{"lds_bytes":-1}})",
       "edit: resources.lds_bytes must be a number from 0 to 4294967295"},
      {R"({"version":1,"kernel":"k","changes":[],"resources":{"scratch_bytes":"1"}})",
       "edit: resources.scratch_bytes must be a number from 0 to 4294967295"},
      {R"({"version":1,"kernel":"k","changes":[],"resources":{"shrink_vgprs":1}})",
       "edit: resources.shrink_vgprs must be true or false"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_of(c.json), c.message) << c.json;
}

TEST(Edit, KeysGivenTwice) {
  constexpr std::pair<const char*, const char*> cases[] = {
      {R"({"version":1,"kernel":"a","kernel":"b","changes":[]})", "edit: kernel is there twice"},
      {R"({"version":1,"version":1,"kernel":"a","changes":[]})", "edit: version is there twice"},
      {R"({"version":1,"kernel":"a","changes":[],"changes":[]})", "edit: changes is there twice"},
      {R"({"version":1,"kernel":"k","changes":[{"before":"0","text":""},{"before":"0","text":"","te\u0078t":""}]})",
       "edit: changes[1].text is there twice"},
      {R"({"version":1,"kernel":"k","changes":[],"resources":{"lds_bytes":1,"lds_bytes":2}})",
       "edit: resources.lds_bytes is there twice"},
      {R"({"version":1,"x":[[1,2],{"y":[0,[],{"z":{"w":1,"w":2}}]}]})", "edit: x[1].y[2].z.w is there twice"},
      {R"({"a\u0000b":1,"a\u0000b":1})", "edit: a\\x00b is there twice"},
  };
  for (const auto& [json, message] : cases) EXPECT_EQ(error_of(json), message) << json;
  // Equal keys of different objects are none.
  EXPECT_TRUE(Edit::parse(R"({"version":1,"kernel":"k","changes":[{"before":"0","text":""},)"
                          R"({"before":"4","text":""}],"resources":{},"rationale":"kernel"})"));
}

TEST(Edit, HostileSizes) {
  EXPECT_EQ(error_of(std::string(100000, '[')), "edit: nested too deeply");
  EXPECT_EQ(error_of("{\"version\":" + std::string(20, '[') + std::string(20, ']') + "}"),
            "edit: nested too deeply");
  const std::string half(40000, 'x');
  EXPECT_EQ(error_of(R"({"version":1,"kernel":"k","changes":[{"before":"0","text":")" + half +
                     R"("},{"before":"0","text":")" + half + "\"}]}"),
            "edit: more than 65536 bytes of text");
  EXPECT_EQ(error_of(std::string(2000000, ' ')), "edit: more than 1048576 bytes");
  EXPECT_EQ(error_of("{\"version\":1,\"kernel\":\"\xff\xfe\",\"changes\":[]}"), "edit: not valid JSON");
  EXPECT_EQ(error_of(std::string("{\"version\":1\0}", 14)), "edit: not valid JSON");
}

TEST(Edit, MessagesStayOnOneLine) {
  EXPECT_EQ(error_of("{\"version\":1,\"a\\nb\":1}"), "edit: unknown key 'a\\x0ab'");
  EXPECT_EQ(error_of(R"({"version":1,"kernel":"k","changes":[{"before":"\u0000\r","text":""}]})"),
            "edit: changes[0].before: '\\x00\\x0d' is not an instruction id");
  EXPECT_LT(error_of("{\"" + std::string(1000, 'x') + "\":1}").size(), 120U);
}

TEST(Edit, QuotesInStringsDoNotCountAsNesting) {
  EXPECT_TRUE(Edit::parse(R"({"version":1,"kernel":"[[[[[[[[[[[[[[[[[[[[\"[[","changes":[]})"));
}

TEST(Edit, JsonRoundTrips) {
  RandomStream random(5);
  for (int round = 0; round < 200; ++round) {
    const auto text = [&] {
      std::string s;
      for (uint64_t n = random.below(30); n > 0; --n) {
        static constexpr std::string_view pieces[] = {"s_nop 0",  "\n", "\"", "\\",  "\t",
                                                      "\xc3\xa4", "{",  "a",  "\x01"};
        s += pieces[random.below(std::size(pieces))];
      }
      return s;
    };
    const auto id = [&] {
      return InstrId{static_cast<uint32_t>(random.below(3)), static_cast<uint32_t>(random.below(1U << 20))};
    };
    Edit edit;
    edit.base = static_cast<uint32_t>(random.below(9));
    edit.kernel = "k" + text();
    for (uint64_t n = random.below(4); n > 0; --n) {
      Change& c = edit.changes.emplace_back();
      c.text = text();
      if (random.below(2) != 0)
        c.before = id();
      else
        c.first = id(), c.last = id();
    }
    if (random.below(2) != 0) edit.resources.lds_bytes = static_cast<uint32_t>(random.next());
    if (random.below(2) != 0) edit.resources.scratch_bytes = 0;
    edit.resources.shrink_vgprs = random.below(2) != 0;
    edit.rationale = text();
    edit.direction = text();
    const auto again = Edit::parse(edit.json());
    ASSERT_TRUE(again) << edit.json() << ": " << again.error().message;
    EXPECT_EQ(again->json(), edit.json());
    EXPECT_EQ(again->base, edit.base);
    EXPECT_EQ(again->kernel, edit.kernel);
    EXPECT_EQ(again->resources, edit.resources);
    EXPECT_EQ(again->rationale, edit.rationale);
    ASSERT_EQ(again->changes.size(), edit.changes.size());
    for (size_t k = 0; k < edit.changes.size(); ++k) {
      EXPECT_EQ(again->changes[k].text, edit.changes[k].text);
      EXPECT_EQ(again->changes[k].first, edit.changes[k].first);
      EXPECT_EQ(again->changes[k].last, edit.changes[k].last);
      EXPECT_EQ(again->changes[k].before, edit.changes[k].before);
    }
  }
}

} // namespace
} // namespace asmevo::program
