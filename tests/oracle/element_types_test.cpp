// Element types against published values of the formats, the host's own conversions, and one another.
#include "oracle/element_types.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace asmevo::oracle {
namespace {

ElementType type(std::string_view name) {
  return *element_type(name);
}
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ElementTypes, KnownNames) {
  for (const ElementType& t : element_types()) {
    const auto found = element_type(t.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(name_of(*found), t.name);
  }
  EXPECT_EQ(type("opaque24").bits, 192U);
  EXPECT_EQ(name_of(type("opaque24")), "opaque24");
  for (const char* bad : {"", "float", "f8", "fp8", "opaque0", "opaque5000", "opaquex", "f32 "})
    EXPECT_FALSE(element_type(bad)) << bad;
}

// Largest, smallest normal and smallest number of each format: OCP 8-bit Floating Point Specification 1.0,
// tables 1 and 2; OCP Microscaling Formats 1.0, section 5.3; for FNUZ the bias is one more and the code of -0
// is NaN.
TEST(ElementTypes, LimitsOfSmallFloats) {
  struct Limits {
    const char* name;
    uint64_t largest, smallest;
    double largest_value, smallest_value;
  };
  for (const Limits& l : {Limits{"fp8_e4m3", 0x7e, 1, 448, 0x1p-9},
                          {"fp8_e5m2", 0x7b, 1, 57344, 0x1p-16},
                          {"fp8_e4m3fnuz", 0x7f, 1, 240, 0x1p-10},
                          {"fp8_e5m2fnuz", 0x7f, 1, 57344, 0x1p-17},
                          {"fp6_e2m3", 0x1f, 1, 7.5, 0.125},
                          {"fp6_e3m2", 0x1f, 1, 28, 0.0625},
                          {"fp4_e2m1", 7, 1, 6, 0.5},
                          {"e8m0", 254, 0, 0x1p127, 0x1p-127},
                          {"f16", 0x7bff, 1, 65504, 0x1p-24},
                          {"bf16", 0x7f7f, 1, 0x1.fep127, 0x1p-133}}) {
    SCOPED_TRACE(l.name);
    const ElementType t = type(l.name);
    EXPECT_EQ(decode(t, l.largest), l.largest_value);
    EXPECT_EQ(decode(t, l.smallest), l.smallest_value);
    EXPECT_EQ(encode(t, 1e300), l.largest);
    EXPECT_EQ(encode(t, l.smallest_value), l.smallest);
  }
}

TEST(ElementTypes, Specials) {
  for (const char* name : {"f64", "f32", "f16", "bf16", "fp8_e5m2"}) {
    EXPECT_EQ(decode(type(name), encode(type(name), infinity)), infinity) << name;
    EXPECT_EQ(decode(type(name), encode(type(name), -infinity)), -infinity) << name;
  }
  for (const char* name :
       {"f64", "f32", "f16", "bf16", "fp8_e5m2", "fp8_e4m3", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "e8m0"})
    EXPECT_TRUE(std::isnan(decode(type(name), encode(type(name), std::nan(""))))) << name;
  EXPECT_EQ(encode(type("fp8_e4m3fnuz"), -0.0), 0U);
  EXPECT_EQ(encode(type("fp8_e4m3"), -0.0), 0x80U);
  EXPECT_EQ(encode(type("fp8_e4m3fnuz"), std::nan("")), 0x80U);
  EXPECT_EQ(encode(type("fp8_e4m3"), std::nan("")), 0x7fU);
}

// Every code comes back, and what lies between two neighbours goes to the nearer one, ties to the even code.
TEST(ElementTypes, RoundsToNearestEven) {
  for (const char* name : {"f16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp6_e2m3",
                           "fp6_e3m2", "fp4_e2m1"}) {
    SCOPED_TRACE(name);
    const ElementType t = type(name);
    for (uint64_t code = 0; code < (uint64_t{1} << (t.bits - 1)); ++code) {
      const double value = decode(t, code), next = decode(t, code + 1);
      if (!std::isfinite(value)) continue;
      ASSERT_EQ(encode(t, value), code);
      if (code + 1 == uint64_t{1} << (t.bits - 1) || !std::isfinite(next)) break;
      ASSERT_LT(value, next);
      const double middle = (value + next) / 2;
      ASSERT_EQ(encode(t, middle), code % 2 == 0 ? code : code + 1);
      ASSERT_EQ(encode(t, std::nextafter(middle, 0)), code);
      ASSERT_EQ(encode(t, std::nextafter(middle, infinity)), code + 1);
      if (code != 0) {
        ASSERT_EQ(encode(t, -value), code | uint64_t{1} << (t.bits - 1));
      }
    }
  }
}

TEST(ElementTypes, FloatIsTheHosts) {
  for (const double value : {0.1, 1e-45, 1e-46, 3.4028234e38, -2.5, 16777217.0})
    EXPECT_EQ(encode(type("f32"), value), std::bit_cast<uint32_t>(static_cast<float>(value)));
}

TEST(ElementTypes, Integers) {
  EXPECT_EQ(*encode_integer(type("i4"), -8), 8U);
  EXPECT_FALSE(encode_integer(type("i4"), 8));
  EXPECT_EQ(decode_integer(type("i4"), 0xf), -1);
  EXPECT_EQ(*encode_integer(type("u4"), 15), 15U);
  EXPECT_FALSE(encode_integer(type("u4"), -1));
  EXPECT_EQ(*encode_integer(type("i64"), std::numeric_limits<int64_t>::min()), uint64_t{1} << 63);
  EXPECT_EQ(*encode_integer(type("u64"), std::numeric_limits<int64_t>::max()), ~uint64_t{0} >> 1);
  EXPECT_EQ(encode(type("i8"), 1000), 127U);
  EXPECT_EQ(encode(type("i8"), -1000), 0x80U);
  EXPECT_EQ(encode(type("u8"), -5), 0U);
  EXPECT_EQ(encode(type("u64"), 1e30), ~uint64_t{0});
  EXPECT_EQ(encode(type("i64"), -1e30), uint64_t{1} << 63);
}

TEST(ElementTypes, Shown) {
  EXPECT_EQ(show(type("f32"), std::bit_cast<uint32_t>(0.1f)), "0.1");
  EXPECT_EQ(show(type("i8"), 0xff), "-1");
  EXPECT_EQ(show(type("u32"), 0xffffffff), "4294967295");
  EXPECT_EQ(show(type("ptr"), 0x7000), "0x7000");
  EXPECT_EQ(show(type("f16"), 0x3c00), "1");
}

} // namespace
} // namespace asmevo::oracle
