#include "base/toml.h"

#include <gmock/gmock.h>

namespace asmevo {
namespace {

using ::testing::HasSubstr;

std::string many(std::string_view part, size_t count) {
  std::string text;
  for (size_t n = 0; n < count; ++n) text += part;
  return text;
}

std::string refusal(const std::string& text) {
  const auto table = parse_toml(text, "f.toml");
  return table ? "" : table.error().message;
}

// Tables within tables without a bracket: as many as it takes to run out of stack.
TEST(Toml, KeysOfTooManyPartsAreRefused) {
  for (const std::string& key : {many("a.", 200'000) + "a", many("a . ", 200'000) + "\"a\"",
                                 many("\"b\".", 200'000) + "a", many("'b\"'.", 200'000) + "a"}) {
    EXPECT_THAT(refusal("x = 1\n" + key + " = 1\n"), HasSubstr("f.toml:2: a key of more than"));
    EXPECT_THAT(refusal("# it's\n[" + key + "]\n"), HasSubstr("f.toml:2: a key of more than"));
    EXPECT_THAT(refusal("x = {" + key + " = 1}\n"), HasSubstr("f.toml:1: a key of more than"));
  }
}

TEST(Toml, ManyDotsThatAreNoParts) {
  EXPECT_EQ(refusal("x = [" + many("1.5, ", 1000) + "]\n"), "");
  EXPECT_EQ(refusal("x = \"" + many("a.", 1000) + "\"\n"), "");
  EXPECT_EQ(refusal("x = \"\"\"\n\"quoted\" " + many("a.", 1000) + "\"\"\"\n"), "");
  EXPECT_EQ(refusal("# it's " + many("a.", 1000) + "\nx = 1 # " + many("a.", 1000) + "\n"), "");
  EXPECT_EQ(refusal(many("x.", 100) + "y = 1\n"), "");
}

} // namespace
} // namespace asmevo
