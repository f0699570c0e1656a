#include "base/csv.h"

#include <gtest/gtest.h>

#include <array>

namespace asmevo {
namespace {

constexpr std::array<std::string_view, 2> heading = {"a", "b"};

std::string error_of(std::string_view text) {
  const auto rows = parse_csv(text, "t.csv", heading);
  return rows ? "" : rows.error().message;
}

TEST(Csv, ReadsQuotesCommentsAndLineEnds) {
  const auto rows = parse_csv("# said first\r\na,b\r\n1,\r\n\n\"x, \"\"y\"\"\",z", "t.csv", heading);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].fields, (std::vector<std::string>{"1", ""}));
  EXPECT_EQ((*rows)[1].fields, (std::vector<std::string>{"x, \"y\"", "z"}));
  EXPECT_EQ((*rows)[1].line, 5U);
}

TEST(Csv, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error_of(""), "t.csv: empty; the heading 'a,b' is missing");
  EXPECT_EQ(error_of("a,c\n"), "t.csv:1: the heading is not 'a,b'");
  EXPECT_EQ(error_of("a,b\n1\n"), "t.csv:2: 1 fields, not 2");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"), "t.csv:2: 3 fields, not 2");
  EXPECT_EQ(error_of("a,b\n1,\"2\n"), "t.csv:2: a quote does not end, or text follows it");
  EXPECT_EQ(error_of("a,b\n\"1\"x,2\n"), "t.csv:2: a quote does not end, or text follows it");
}

TEST(Csv, NumbersAreFiniteAndWhole) {
  EXPECT_EQ(*csv_number("-2.5e3", "p", "c"), -2500);
  for (const char* bad : {"", " 1", "1 ", "1x", "nan", "inf", "0x10"})
    EXPECT_FALSE(csv_number(bad, "p", "c")) << bad;
  EXPECT_EQ(csv_number("x", "t.csv:3", "low").error().message, "t.csv:3: low: 'x' is not a number");
}

} // namespace
} // namespace asmevo
