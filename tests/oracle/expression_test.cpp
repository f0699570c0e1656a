// Expressions of launch specs: values by hand, mistakes named, hostile texts refused quickly.
#include "oracle/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asmevo::oracle {
namespace {

using ::testing::HasSubstr;

const Scope scope = {{"n", int64_t{1000}}, {"k", int64_t{7}}, {"scale", 0.5}};

int64_t whole(std::string_view text) {
  const auto value = evaluate(text, scope);
  EXPECT_TRUE(value) << text << ": " << value.error().message;
  if (!value || !std::holds_alternative<int64_t>(*value)) {
    ADD_FAILURE() << text << " is no integer";
    return 0;
  }
  return std::get<int64_t>(*value);
}
double real(std::string_view text) {
  const auto value = evaluate(text, scope);
  EXPECT_TRUE(value) << text;
  if (!value || !std::holds_alternative<double>(*value)) {
    ADD_FAILURE() << text << " is no number with a fraction";
    return 0;
  }
  return std::get<double>(*value);
}
std::string error(std::string_view text) {
  const auto value = evaluate(text, scope);
  if (value) {
    ADD_FAILURE() << text << " is accepted";
    return {};
  }
  EXPECT_EQ(value.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(value.error().message.find('\n'), std::string::npos);
  return value.error().message;
}

TEST(Expression, Integers) {
  EXPECT_EQ(whole("42"), 42);
  EXPECT_EQ(whole("0x10"), 16);
  EXPECT_EQ(whole(" ( n + 255 ) / 256 "), 4);
  EXPECT_EQ(whole("n % k"), 6);
  EXPECT_EQ(whole("2 + 3 * 4 - 1"), 13);
  EXPECT_EQ(whole("10 - 3 - 2"), 5);
  EXPECT_EQ(whole("1 << 4 | 3"), 19);
  EXPECT_EQ(whole("255 & 15 << 2"), 60);
  EXPECT_EQ(whole("-n / k"), -142); // towards zero
  EXPECT_EQ(whole("- -5"), 5);
  EXPECT_EQ(whole("min(n, k, 9)"), 7);
  EXPECT_EQ(whole("max(n, k)"), 1000);
  EXPECT_EQ(whole("ceil_div(n, 3)"), 334);
  EXPECT_EQ(whole("round_up(n, 64)"), 1024);
  EXPECT_EQ(whole("round_up(64, 64)"), 64);
  EXPECT_EQ(whole("int(2.9)"), 2);
  EXPECT_EQ(whole("abs(-3)"), 3);
  EXPECT_EQ(whole("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(Expression, Floats) {
  EXPECT_DOUBLE_EQ(real("1 / sqrt(float(4))"), 0.5);
  EXPECT_DOUBLE_EQ(real("n * scale"), 500);
  EXPECT_DOUBLE_EQ(real("1e-3"), 1e-3);
  EXPECT_DOUBLE_EQ(real("2.5 % 1"), 0.5);
  EXPECT_DOUBLE_EQ(real("1.0e+2 - 1"), 99);
}

TEST(Expression, Mistakes) {
  EXPECT_THAT(error("m + 1"), HasSubstr("'m'"));
  EXPECT_THAT(error("n +"), HasSubstr("missing"));
  EXPECT_THAT(error("(n"), HasSubstr("')'"));
  EXPECT_THAT(error("n n"), HasSubstr("left over"));
  EXPECT_THAT(error("n / (k - 7)"), HasSubstr("zero"));
  EXPECT_THAT(error("n % 0"), HasSubstr("zero"));
  EXPECT_THAT(error("1.0 / 0"), HasSubstr("zero"));
  EXPECT_THAT(error("system(1)"), HasSubstr("system"));
  EXPECT_THAT(error("ceil_div(1)"), HasSubstr("2"));
  EXPECT_THAT(error("ceil_div(1, 0)"), HasSubstr("ceil_div"));
  EXPECT_THAT(error("sqrt(-1)"), HasSubstr("sqrt"));
  EXPECT_THAT(error("1 << 64"), HasSubstr("64"));
  EXPECT_THAT(error("scale << 1"), HasSubstr("fraction"));
  EXPECT_THAT(error(""), HasSubstr("missing"));
  EXPECT_THAT(error("$"), HasSubstr("$"));
  EXPECT_THAT(error("12abc"), HasSubstr("12abc"));
}

TEST(Expression, StaysWithin64Bits) {
  for (const char* text :
       {"9223372036854775807 + 1", "-9223372036854775807 - 2", "4611686018427387904 * 2", "1 << 62 << 1",
        "round_up(9223372036854775807, 2)", "99999999999999999999999", "0xffffffffffffffff", "int(1e300)",
        "1e300 * 1e300", "abs(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) / -1"})
    if (std::string(text) != "99999999999999999999999") // a number, though no integer
      error(text);
  EXPECT_EQ(whole("(-9223372036854775807 - 1) % -1"), 0);
}

TEST(Expression, HostileTextsAreRefused) {
  error(std::string(2000, '1'));
  error(std::string(900, '('));
  error(std::string(900, '-') + "1");
  std::string nested = "n";
  for (int i = 0; i < 60; ++i) nested = "(" + nested + ")";
  EXPECT_THAT(error(nested), HasSubstr("deep"));
}

TEST(Expression, IntegersInRange) {
  EXPECT_EQ(*evaluate_integer("n", scope, 0, 1000), 1000);
  EXPECT_FALSE(evaluate_integer("n", scope, 0, 999));
  EXPECT_FALSE(evaluate_integer("n * 1.0", scope, 0, 5000));
}

TEST(Expression, Names) {
  EXPECT_TRUE(is_name("block_size2"));
  for (const char* text : {"", "2n", "a-b", "a b", "ä"}) EXPECT_FALSE(is_name(text)) << text;
}

} // namespace
} // namespace asmevo::oracle
