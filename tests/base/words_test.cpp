#include "base/words.h"

#include <gtest/gtest.h>

#include <array>

namespace asmevo {
namespace {

constexpr std::array<std::string_view, 3> known = {"latency", "bytes", "line"};

TEST(Suggestion, NamesTheNearest) {
  for (const char* word : {"latencyy", "latncy", "Latency", "laetncy"})
    EXPECT_EQ(suggestion(word, known), "; did you mean 'latency'?") << word;
  EXPECT_EQ(suggestion("lines", known), "; did you mean 'line'?");
}

TEST(Suggestion, ListsThemWhereNoneIsNear) {
  for (const std::string& word : {std::string(), std::string("x"), std::string(100'000, 'l')})
    EXPECT_EQ(suggestion(word, known), "; there are 'latency', 'bytes', 'line'");
  EXPECT_EQ(suggestion("x", {}), "");
  const std::array<std::string_view, 20> many = {"one", "two"};
  EXPECT_TRUE(suggestion("something", many).ends_with(", ..."));
}

} // namespace
} // namespace asmevo
