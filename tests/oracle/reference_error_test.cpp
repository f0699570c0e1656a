// Errors against a reference: what another order of the same arithmetic gives is accepted, and wrong kernels
// that a fixed tolerance lets pass are not.
#include "oracle/buffer_init.h"
#include "oracle/reference_error.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

namespace asmevo::oracle {
namespace {

using Numbers = std::vector<double>;
using ::testing::HasSubstr;

const ElementType f32 = *element_type("f32"), f16 = *element_type("f16"), i32 = *element_type("i32");

std::vector<uint64_t> codes(const ElementType& type, const Numbers& values) {
  std::vector<uint64_t> list;
  for (const double v : values) list.push_back(encode(type, v));
  return list;
}

ReferenceComparison compared(const ElementType& type, const Numbers& k0, const Numbers& candidate,
                             const Numbers& reference, size_t row) {
  ReferenceError error(type);
  const auto own = codes(type, k0), other = codes(type, candidate);
  for (size_t at = 0; at < reference.size(); at += row) {
    const size_t n = std::min(row, reference.size() - at);
    error.add_row(std::span(own).subspan(at, n), std::span(other).subspan(at, n),
                  std::span(reference).subspan(at, n));
  }
  return error.result();
}

double uniform(uint64_t seed, uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

/// Rows of a softmax, which are sums of exponentials in double, and what an f32 kernel makes of them with an
/// error of up to `ulps` units in each.
constexpr size_t rows = 3, columns = 4096;
Numbers softmax() {
  Numbers y(rows * columns);
  for (size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (size_t i = row * columns; i < (row + 1) * columns; ++i) sum += y[i] = std::exp(uniform(1, i));
    for (size_t i = row * columns; i < (row + 1) * columns; ++i) y[i] /= sum;
  }
  return y;
}
Numbers off_by(Numbers values, double ulps, uint64_t seed) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] += (2 * uniform(seed, i) - 1) * ulps * 2 * half_ulp(f32, values[i]);
  return values;
}

ReferenceComparison against_softmax(const std::function<void(Numbers&)>& change) {
  const Numbers reference = softmax(), k0 = off_by(reference, 4, 2);
  Numbers candidate = off_by(reference, 4, 3);
  change(candidate);
  return compared(f32, k0, candidate, reference, columns);
}

TEST(ReferenceError, AcceptsAnErrorOfTheSameSize) {
  const ReferenceComparison same = against_softmax([](Numbers&) {});
  EXPECT_TRUE(same.accepted()) << same.describe();
  EXPECT_EQ(same.elements, rows * columns);
  EXPECT_EQ(same.specials, 0U);
  EXPECT_GT(same.candidate.max_relative, 2e-7);
  EXPECT_LT(same.candidate.max_relative, 5e-7);
  EXPECT_LT(same.candidate.rms_relative, same.candidate.max_relative);
}

TEST(ReferenceError, RejectsWrongKernelsThatFixedTolerancesAccept) {
  const double rms = 1.0 / columns;
  const std::vector<std::pair<const char*, std::function<void(Numbers&)>>> wrong = {
      {"zeros", [](Numbers& y) { std::fill(y.begin(), y.end(), 0.0); }},
      {"a constant", [&](Numbers& y) { std::fill(y.begin(), y.end(), rms); }},
      {"scaled by 1.001",
       [](Numbers& y) {
         for (double& v : y) v *= 1.001;
       }},
      {"scaled by 1.00001",
       [](Numbers& y) {
         for (double& v : y) v *= 1.00001;
       }},
      {"the tail left out", [](Numbers& y) { std::fill(y.end() - 3, y.end(), 0.0); }},
      {"the tail not written", [](Numbers& y) { y.back() = std::numeric_limits<double>::quiet_NaN(); }},
      {"rows exchanged",
       [](Numbers& y) { std::swap_ranges(y.begin(), y.begin() + columns, y.begin() + columns); }},
      {"shifted by an element", [](Numbers& y) { std::rotate(y.begin(), y.begin() + 1, y.end()); }},
      {"half precision within",
       [](Numbers& y) {
         for (double& v : y) v = decode(f16, encode(f16, v));
       }},
  };
  for (const auto& [what, change] : wrong) EXPECT_FALSE(against_softmax(change).accepted()) << what;
}

TEST(ReferenceError, RejectsASigmoidThatIsNearlyLinear) {
  // 0.5 + z / 4 is within 1e-4 of a sum of thousands of sigmoids.
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  Numbers reference(64), linear(64);
  for (size_t row = 0; row < reference.size(); ++row)
    for (size_t i = 0; i < 4096; ++i) {
      const double z = 2 * uniform(7, row * 4096 + i) - 1;
      reference[row] += sigmoid(z);
      linear[row] += 0.5 + z / 4;
    }
  for (size_t row = 0; row < reference.size(); ++row) ASSERT_NEAR(linear[row] / reference[row], 1, 1e-3);
  EXPECT_FALSE(compared(f32, off_by(reference, 4, 2), linear, reference, 1).accepted());
}

TEST(ReferenceError, AllowsTwiceK0AndNoMore) {
  const Numbers reference(100, 1.0);
  Numbers k0 = reference, twice = reference, thrice = reference;
  for (size_t i = 0; i < reference.size(); ++i) {
    k0[i] += 0x1p-18;
    twice[i] -= 0x1p-17;
    thrice[i] -= 0x1p-17 + 0x1p-22;
  }
  EXPECT_TRUE(compared(f32, k0, twice, reference, 100).accepted());
  EXPECT_FALSE(compared(f32, k0, thrice, reference, 100).accepted());
}

TEST(ReferenceError, LooksAtAllElementsNotOnlyAtTheWorst) {
  // K0 is far off in one place; that does not allow a candidate to be so everywhere.
  const Numbers reference(1000, 1.0);
  Numbers k0 = off_by(reference, 1, 2), candidate = reference;
  k0[17] += 0x1p-12;
  for (double& v : candidate) v += 0x1p-12;
  const ReferenceComparison result = compared(f32, k0, candidate, reference, 1000);
  EXPECT_LE(result.max_excess, most_times_k0 * result.k0.max_relative);
  EXPECT_FALSE(result.accepted());
}

TEST(ReferenceError, AnExactK0LeavesHalfAUnit) {
  const Numbers exact{1, 2, 3, 4};
  EXPECT_TRUE(compared(f32, exact, exact, exact, 4).accepted());
  // What lies between two numbers of the type may go either way.
  const Numbers between{1 + 0x1p-11};
  EXPECT_TRUE(compared(f16, {1}, {1 + 0x1p-10}, between, 1).accepted());
  EXPECT_FALSE(compared(f32, exact, {1, 2, 3, 4 + 0x1p-20}, exact, 4).accepted());
  EXPECT_TRUE(compared(i32, exact, exact, exact, 4).accepted());
  EXPECT_FALSE(compared(i32, exact, {1, 2, 3, 5}, exact, 4).accepted());
}

TEST(ReferenceError, MeasuresSmallNumbersByTheirRow) {
  // A difference of large numbers: its own size says nothing about how well it can be computed.
  const Numbers reference{1000, 1e-6, -1000, 1000};
  Numbers k0 = reference, candidate = reference;
  k0[0] += 1e-3;
  candidate[1] += 1e-3;
  const ReferenceComparison result = compared(f32, k0, candidate, reference, 4);
  EXPECT_TRUE(result.accepted()) << result.describe();
  EXPECT_NEAR(result.candidate.max_absolute, 1e-3, 1e-6);
  EXPECT_NEAR(result.candidate.max_relative, 1e-3 / std::sqrt(0.75e6), 1e-9);
  // Beside smaller ones it does.
  EXPECT_FALSE(compared(f32, k0, candidate, reference, 1).accepted());
}

TEST(ReferenceError, SpecialsMustBeWhereK0HasThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const Numbers reference{1, nan, infinity, 70000};
  const Numbers k0{1, nan, infinity, infinity}; // 70000 is too much for f16
  EXPECT_TRUE(compared(f16, k0, k0, reference, 4).accepted());
  for (const Numbers& candidate : {Numbers{nan, nan, infinity, infinity}, Numbers{1, 1, infinity, infinity},
                                   Numbers{1, nan, -infinity, infinity}, Numbers{1, nan, infinity, 65504}}) {
    const ReferenceComparison result = compared(f16, k0, candidate, reference, 4);
    EXPECT_EQ(result.specials, 1U);
    EXPECT_FALSE(result.accepted());
    EXPECT_THAT(result.describe(), HasSubstr("1 elements are finite in one only"));
  }
}

TEST(ReferenceError, ARowOfZerosIsMeasuredAsItIs) {
  const Numbers zeros(8, 0.0);
  EXPECT_TRUE(compared(f32, zeros, zeros, zeros, 8).accepted());
  Numbers one = zeros;
  one[3] = 1e-3;
  const ReferenceComparison result = compared(f32, zeros, one, zeros, 8);
  EXPECT_FALSE(result.accepted());
  EXPECT_EQ(result.worst, 3U);
}

TEST(ReferenceError, HalfUlp) {
  EXPECT_EQ(half_ulp(f32, 1), 0x1p-24);
  EXPECT_EQ(half_ulp(f32, -3), 0x1p-23);
  EXPECT_EQ(half_ulp(f32, 0), 0x1p-150);
  EXPECT_EQ(half_ulp(f16, 0x1p-20), 0x1p-25);
  EXPECT_EQ(half_ulp(i32, 1e6), 0.5);
}

} // namespace
} // namespace asmevo::oracle
