#include "profile/csv.h"

#include <gmock/gmock.h>

namespace asmevo::profile {
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

TEST(Csv, QuotesCommasAndLineEnds) {
  const auto rows = rows_of("\xef\xbb\xbf\"A\",b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n,\"\"\n3,4");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_THAT(*rows,
              ElementsAre(ElementsAre("1", "x, \"y\"\nz"), ElementsAre("", ""), ElementsAre("3", "4")));
}

TEST(Csv, ColumnsWhateverTheirCase) {
  const auto csv = CsvReader::open(TextSource("x.csv", "CodeObj,VADDR\n"));
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->column("codeobj"), 0U);
  EXPECT_EQ(csv->column("Vaddr"), 1U);
  EXPECT_FALSE(csv->column("Vadd"));
  EXPECT_THAT(csv->needed("Stall").error().message, HasSubstr("x.csv: line 1: no column Stall"));
}

TEST(Csv, WhatDoesNotHoldIsNamedWithItsLine) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("\r\n\n"), HasSubstr("empty"));
  EXPECT_THAT(error_of("a,b\n1,2\n1\n"), HasSubstr("x.csv: line 3: 1 fields where the header has 2"));
  EXPECT_THAT(error_of("a,b\n\"1\n\",2\n1,2,3\n"), HasSubstr("line 4: 3 fields"));
  EXPECT_THAT(error_of("a,b\n1,\"2"), HasSubstr("line 2: a quoted field is not closed"));
  EXPECT_THAT(error_of("a,b\n1,\"2\"3\n"), HasSubstr("line 2: text behind a closing quote"));
  EXPECT_THAT(error_of("a,b\n1,2\"3\"\n"), HasSubstr("line 2: a quote inside"));
  EXPECT_THAT(error_of(std::string_view("a,b\n1,\0\n", 8)), HasSubstr("zero byte"));
}

TEST(Csv, SizesAreBounded) {
  EXPECT_THAT(error_of(std::string((1 << 20) + 1, 'x')), HasSubstr("a field of over"));
  EXPECT_THAT(error_of(std::string(5000, ',')), HasSubstr("over 4096 fields"));
}

TEST(Csv, NumbersThatAreNone) {
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

} // namespace
} // namespace asmevo::profile
