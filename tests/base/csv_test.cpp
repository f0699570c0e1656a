#include "base/csv.h"

#include <gmock/gmock.h>

#include <array>

namespace asmevo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<std::vector<std::string>>> rows_of(std::string_view text) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(TextSource("x.csv", text)));
  std::vector<std::vector<std::string>> rows;
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) return rows;
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t c = 0; c < csv.header().size(); ++c) row.push_back(csv.field(c));
  }
}

std::string error_of(std::string_view text) {
  const auto rows = rows_of(text);
  return rows ? "none" : rows.error().message;
}

TEST(CsvReader, QuotesCommasAndLineEnds) {
  const auto rows = rows_of("\xef\xbb\xbf\"A\",b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n,\"\"\n3,4");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_THAT(*rows,
              ElementsAre(ElementsAre("1", "x, \"y\"\nz"), ElementsAre("", ""), ElementsAre("3", "4")));
}

TEST(CsvReader, ColumnsWhateverTheirCase) {
  const auto csv = CsvReader::open(TextSource("x.csv", "CodeObj,VADDR\n"));
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->column("codeobj"), 0U);
  EXPECT_EQ(csv->column("Vaddr"), 1U);
  EXPECT_FALSE(csv->column("Vadd"));
  EXPECT_THAT(csv->needed("Stall").error().message, HasSubstr("x.csv:1: no column 'Stall'"));
}

TEST(CsvReader, WhatDoesNotHoldIsNamedWithItsLine) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("\r\n\n"), HasSubstr("empty"));
  EXPECT_THAT(error_of("a,b\n1,2\n1\n"), HasSubstr("x.csv:3: 1 fields where the header has 2"));
  EXPECT_THAT(error_of("a,b\n\"1\n\",2\n1,2,3\n"), HasSubstr("x.csv:4: 3 fields"));
  EXPECT_THAT(error_of("a,b\n1,\"2"), HasSubstr("x.csv:2: a quoted field is not closed"));
  EXPECT_THAT(error_of("a,b\n1,\"2\"3\n"), HasSubstr("x.csv:2: text behind a closing quote"));
  EXPECT_THAT(error_of("a,b\n1,2\"3\"\n"), HasSubstr("x.csv:2: a quote inside"));
  EXPECT_THAT(error_of(std::string_view("a,b\n1,\0\n", 8)), HasSubstr("zero byte"));
}

TEST(CsvReader, SizesAreBounded) {
  EXPECT_THAT(error_of(std::string((1 << 20) + 1, 'x')), HasSubstr("a field of over"));
  EXPECT_THAT(error_of(std::string(5000, ',')), HasSubstr("over 4096 fields"));
}

TEST(CsvReader, NumbersThatAreNone) {
  const auto of = [](std::string_view value) {
    std::string text = "n\n" + std::string(value) + "\n";
    auto csv = CsvReader::open(TextSource("x.csv", text));
    EXPECT_TRUE(csv->next().value());
    return fmt::format("{} {} {}", csv->id(0).has_value(), csv->count(0).has_value(),
                       csv->amount(0).has_value());
  };
  EXPECT_EQ(of("12"), "true true true");
  EXPECT_EQ(of("12.000000"), "false true true");
  EXPECT_EQ(of("1.5"), "false false true");
  EXPECT_EQ(of("18446744073709551615"), "true false true");
  EXPECT_EQ(of("1e300"), "false false true");
  for (const std::string_view bad : {"-1", "nan", "inf", "1e999", "0x10", "", " 1", "1 ", "+1", "x"})
    EXPECT_EQ(of(bad.empty() ? "\"\"" : bad), "false false false") << bad;
}

// --- tables of known columns

constexpr std::array<std::string_view, 2> needed = {"a", "b"};
constexpr std::array<std::string_view, 1> extra = {"more"};

std::string table_error(std::string_view text) {
  const auto rows = parse_csv(text, "t.csv", {needed, extra});
  return rows ? "" : rows.error().message;
}

TEST(ParseCsv, ReadsQuotesCommentsAndLineEnds) {
  const auto rows =
      parse_csv("# said \"first\r\na,b\r\n1,\r\n\n#,\n\"x, \"\"y\"\"\",z", "t.csv", {needed, {}});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_THAT((*rows)[0].fields, ElementsAre("1", ""));
  EXPECT_THAT((*rows)[1].fields, ElementsAre("x, \"y\"", "z"));
  EXPECT_EQ((*rows)[1].line, 6U);
}

TEST(ParseCsv, FieldsComeInTheOrderAskedFor) {
  const auto rows = parse_csv("more,b,a\n1,2,3\n", "t.csv", {needed, extra});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_THAT(rows->front().fields, ElementsAre("3", "2", "1"));
  EXPECT_THAT(parse_csv("b,a\n2,3\n", "t.csv", {needed, extra})->front().fields, ElementsAre("3", "2", ""));
}

TEST(ParseCsv, NamesTheColumnThatIsWrong) {
  EXPECT_EQ(table_error(""), "t.csv: the file is empty");
  EXPECT_EQ(table_error("# nothing\n"), "t.csv: the file is empty");
  EXPECT_EQ(table_error("\na,mroe,b\n"), "t.csv:2: unknown column 'mroe'; did you mean 'more'?");
  EXPECT_EQ(table_error("a,colour,b\n"), "t.csv:1: unknown column 'colour'; there are 'a', 'b', 'more'");
  EXPECT_EQ(table_error("a,b,a\n"), "t.csv:1: column 'a' stands twice");
  EXPECT_EQ(table_error("more,b\n"), "t.csv:1: no column 'a'");
  EXPECT_EQ(table_error("A,b\n"), "t.csv:1: unknown column 'A'; did you mean 'a'?");
  EXPECT_EQ(table_error("a,b\n1\n"), "t.csv:2: 1 fields where the header has 2");
}

TEST(ParseCsv, NumbersAreFiniteAndWhole) {
  EXPECT_EQ(*csv_number("-2.5e3", "p", "c"), -2500);
  for (const char* bad : {"", " 1", "1 ", "1x", "nan", "inf", "0x10"})
    EXPECT_FALSE(csv_number(bad, "p", "c")) << bad;
  EXPECT_EQ(csv_number("x", "t.csv:3", "low").error().message, "t.csv:3: low: 'x' is not a number");
}

} // namespace
} // namespace asmevo
