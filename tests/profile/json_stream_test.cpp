#include "profile/json_stream.h"

#include <gmock/gmock.h>

namespace asmevo::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Seen {
  std::vector<std::string> values;
  std::string error = "none";
};

Seen read(std::string_view text, const std::string& path, const std::string& if_null = {}) {
  Seen seen;
  TextSource source("x.json", text);
  const JsonPart part = {path,
                         [&](const Json& j) -> Status {
                           if (j == "stop") return bad_input("it says stop");
                           seen.values.push_back(j.dump());
                           return {};
                         },
                         if_null};
  if (const Status status = read_json(source, std::span(&part, 1)); !status)
    seen.error = status.error().message;
  return seen;
}

TEST(JsonStream, GivesOnlyWhatIsAskedFor) {
  const Seen seen = read(
      R"({"a":[{"b":{"c":[1,{"d":[2,[3]]}],"x":[9]}},{"c":[8]},{"b":{"c":["e"]}}],"c":[7]})", "a[].b.c[]");
  EXPECT_EQ(seen.error, "none");
  EXPECT_THAT(seen.values, ElementsAre("1", R"({"d":[2,[3]]})", "\"e\""));
}

TEST(JsonStream, WholeValues) {
  EXPECT_THAT(read(R"({"version":"3","code":[]})", "version").values, ElementsAre("\"3\""));
  EXPECT_THAT(read(R"([[1,2],[3]])", "[]").values, ElementsAre("[1,2]", "[3]"));
}

TEST(JsonStream, NullWhereAListShouldBe) {
  EXPECT_EQ(read(R"({"code":null})", "code[]").error, "none");
  EXPECT_EQ(read(R"({"code":null})", "code[]", "nothing was traced").error,
            "x.json: \"code\" is null: nothing was traced");
  EXPECT_EQ(read(R"({"code":5})", "code[]").error, "x.json: \"code\" is not a list");
}

TEST(JsonStream, ErrorsNameTheRecord) {
  EXPECT_EQ(read(R"({"a":[1,2,"stop"]})", "a[]").error, "x.json: a[2]: it says stop");
}

TEST(JsonStream, BrokenFiles) {
  EXPECT_THAT(read(R"({"a":[1,2)", "a[]").error, HasSubstr("the file is cut off"));
  EXPECT_THAT(read(R"({"a":["x)", "a[]").error, HasSubstr("x.json: not valid JSON: parse error at line 1"));
  EXPECT_THAT(read("", "a[]").error, HasSubstr("cut off"));
  EXPECT_THAT(read("{\"a\":\n[1 2]}", "a[]").error, HasSubstr("line 2"));
  EXPECT_THAT(read("{} x", "a[]").error, HasSubstr("not valid JSON"));
  EXPECT_THAT(read(R"({"a":[NaN]})", "a[]").error, HasSubstr("not valid JSON"));
  EXPECT_THAT(read(R"({"a":[1e999]})", "a[]").error, HasSubstr("not valid JSON"));
}

TEST(JsonStream, SizesAreBounded) {
  EXPECT_THAT(read(std::string(100, '['), "a[]").error, HasSubstr("nested deeper than 64"));
  EXPECT_THAT(read("[\"" + std::string(2 << 20, 'x') + "\"]", "[]").error,
              HasSubstr("a string or number of over"));
  EXPECT_THAT(read("[" + std::string(2 << 20, '1') + "]", "a[]").error,
              HasSubstr("a string or number of over"));
  std::string wide = "[[0";
  for (int i = 0; i < 20000; ++i) wide += ",0";
  EXPECT_THAT(read(wide + "]]", "[]").error, HasSubstr("a record is too large"));
  EXPECT_EQ(read(wide + "]]", "a[]").error, "none");
}

TEST(JsonStream, Members) {
  const Json j = Json::parse(R"({"a":{"b":7,"c":true,"d":-1,"e":"x"}})");
  EXPECT_EQ(whole_number(j, "a.b").value(), 7U);
  EXPECT_EQ(whole_number(j, "a.c").value(), 1U);
  EXPECT_EQ(whole_number(j, "a.d").error().message, "a.d is -1, not a whole number");
  EXPECT_EQ(whole_number(j, "a.x").error().message, "no a.x");
  EXPECT_EQ(whole_number(j, "a.b.c").error().message, "no a.b.c");
  EXPECT_EQ(text_at(j, "a.e"), "x");
  EXPECT_EQ(text_at(j, "a.b"), "");
}

} // namespace
} // namespace asmevo::profile
