// The comparison against wrong outputs that lenient rules accept, and against what another order of the same
// arithmetic gives, which it must accept.
#include "oracle/buffer_init.h"
#include "oracle/compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace asmevo::oracle {
namespace {

using ::testing::HasSubstr;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ReadBytes bytes_of(const Bytes& bytes) {
  return [&bytes](uint64_t offset, std::span<uint8_t> into) -> Status {
    if (!slice(bytes, offset, into.size())) return bad_input("read beyond the buffer");
    std::memcpy(into.data(), bytes.data() + offset, into.size());
    return {};
  };
}

// Buffers of one type and layout, filled with values.
struct Buffers {
  explicit Buffers(std::string_view type, std::vector<uint64_t> shape, std::vector<uint64_t> strides = {})
      : layout(*Layout::make(*element_type(type), std::move(shape), std::move(strides))) {}

  Bytes filled(const std::vector<double>& values) const {
    Init init;
    init.kind = InitKind::Codes;
    for (const double v : values) init.codes.push_back(encode(layout.type(), v));
    Bytes bytes(layout.bytes());
    fill(init, layout, 0, bytes);
    return bytes;
  }
  Bytes poison() const {
    Bytes bytes(layout.bytes());
    fill(Init{}, layout, 0, bytes);
    return bytes;
  }
  BufferComparison compare(const Bytes& k0, const Bytes& candidate, Rule rule = Rule::Scaled) const {
    const Bytes before = poison();
    Compared what{bytes_of(k0), bytes_of(candidate), bytes_of(before), {}, {}, {}, true, nullptr};
    const auto result = oracle::compare(layout, what, rule);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
  BufferComparison compare(const std::vector<double>& k0, const std::vector<double>& candidate,
                           Rule rule = Rule::Scaled) const {
    return compare(filled(k0), filled(candidate), rule);
  }

  Layout layout;
};

// What a softmax over `columns` gives: all positive, each row's sum 1.
std::vector<double> softmax(size_t rows, size_t columns) {
  std::vector<double> values;
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0;
    std::vector<double> row;
    for (size_t c = 0; c < columns; ++c) {
      row.push_back(std::exp(static_cast<double>(random_bits(r, c) >> 11) * 0x1p-53));
      sum += row.back();
    }
    for (const double v : row) values.push_back(v / sum);
  }
  return values;
}
std::vector<double> uniform(size_t count, double low, double high, uint64_t seed = 1) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(low + (high - low) * static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53);
  return values;
}
std::vector<double> changed(std::vector<double> values, const std::function<double(size_t, double)>& f) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = f(i, values[i]);
  return values;
}

TEST(Compare, EqualBuffersOfEveryTypeAreEqual) {
  for (const ElementType& t : element_types()) {
    SCOPED_TRACE(t.name);
    const Buffers b(t.name, {33, 129});
    const std::vector<double> values = uniform(33 * 129, 0, 3);
    const BufferComparison c = b.compare(values, values);
    EXPECT_TRUE(c.scaled && c.paper);
    EXPECT_EQ(c.elements, 33U * 129U);
    EXPECT_EQ(c.different, 0U);
    EXPECT_EQ(c.cosine, 1);
    EXPECT_FALSE(c.first);
  }
}

TEST(Compare, OneChangedElementIsFoundInEveryType) {
  for (const ElementType& t : element_types())
    for (const std::vector<uint64_t>& strides : {std::vector<uint64_t>{}, {132, 1}, {1, 40}}) {
      SCOPED_TRACE(t.name);
      const Buffers b(t.name, {33, 129}, strides);
      const std::vector<double> values(33 * 129, 1.0);
      const BufferComparison c =
          b.compare(values, changed(values, [](size_t i, double v) { return i == 4001 ? 6.0 : v; }));
      EXPECT_FALSE(c.scaled);
      EXPECT_FALSE(c.paper);
      ASSERT_TRUE(c.first && c.worst);
      EXPECT_EQ(c.first->index, 4001U);
      EXPECT_EQ(c.worst->index, 4001U);
      EXPECT_EQ(decode(t, c.first->k0), 1);
      EXPECT_EQ(c.first->candidate, encode(t, 6));
      EXPECT_EQ(c.different, 1U);
    }
}

TEST(Compare, LongOpaqueElementsAreComparedByTheByte) {
  const Buffers b("opaque24", {50, 3}, {4, 1});
  Bytes one(b.layout.bytes(), 7), two = one;
  EXPECT_TRUE(b.compare(one, two).scaled);
  two[3 * 24] = 8; // padding, which is no element
  EXPECT_TRUE(b.compare(one, two).scaled);
  two[(4 * 17 + 2) * 24 + 23] = 8;
  const BufferComparison c = b.compare(one, two);
  EXPECT_FALSE(c.scaled);
  EXPECT_EQ(c.first->index, 17U * 3 + 2);
}

// --- wrong kernels that a fixed tolerance accepts (kernelbench.md)

TEST(Compare, ZerosAreNoSoftmax) {
  const Buffers b("f32", {2, 393216});
  const std::vector<double> k0 = softmax(2, 393216), zeros(k0.size());
  for (const double v : k0) ASSERT_LE(v, 7e-6); // within 1e-3 of zero, all of them
  for (const Rule rule : {Rule::Scaled, Rule::Paper}) {
    const BufferComparison c = b.compare(k0, zeros, rule);
    EXPECT_FALSE(c.equal(rule));
    EXPECT_TRUE(c.only_one_zero);
    EXPECT_EQ(c.cosine, 0);
  }
}

TEST(Compare, AConstantIsNoSoftmax) {
  const Buffers b("f32", {4, 8192});
  const std::vector<double> k0 = softmax(4, 8192), constant(k0.size(), 1.0 / 8192);
  EXPECT_FALSE(b.compare(k0, constant).scaled);
  EXPECT_FALSE(b.compare(k0, constant).paper) << "the cosine is " << b.compare(k0, constant).cosine;
}

TEST(Compare, SkippedTailsAreFound) {
  // Seven outputs that nobody wrote, or that are zero, of 65,536.
  const Buffers b("f32", {8, 8192});
  const std::vector<double> k0 = softmax(8, 8192);
  for (const double left : {nan, 0.0}) {
    const BufferComparison c =
        b.compare(k0, changed(k0, [&](size_t i, double v) { return i + 7 >= k0.size() ? left : v; }));
    EXPECT_FALSE(c.scaled);
    EXPECT_EQ(c.first->index, k0.size() - 7);
    EXPECT_EQ(c.beyond + c.specials, 7U);
  }
}

TEST(Compare, ScaledOutputsAreFound) {
  const Buffers b("f32", {8, 8192});
  const std::vector<double> k0 = softmax(8, 8192);
  for (const double factor : {1.002, 0.9, 2.0, -1.0}) {
    const BufferComparison c = b.compare(k0, changed(k0, [&](size_t, double v) { return v * factor; }));
    EXPECT_FALSE(c.scaled) << factor;
    if (factor > 0) {
      EXPECT_TRUE(c.paper) << "the fixed bound cannot see " << factor;
    }
  }
}

TEST(Compare, AConstantIsNoLoss) {
  // Cross entropy of 4,096 classes: 8.359 whatever the kernel does, to within a thousandth.
  const Buffers b("f32", {1024});
  const std::vector<double> k0 = uniform(1024, 7.9, 8.9);
  EXPECT_FALSE(b.compare(k0, std::vector<double>(1024, 8.359)).scaled);
  // 0.5 + z / 4 for a sigmoid, summed over 32,768 columns: off by 1 in 16,384, more than rule paper lets
  // pass.
  const Buffers sums("f32", {32});
  const std::vector<double> large = uniform(32, 16000, 16800);
  const auto near = changed(large, [](size_t, double v) { return v + 1.05; });
  EXPECT_FALSE(sums.compare(large, near).paper);
}

TEST(Compare, ACopyIsNoRelu) {
  const Buffers b("f16", {16, 1000});
  const std::vector<double> x = uniform(16000, -1, 1);
  EXPECT_FALSE(b.compare(changed(x, [](size_t, double v) { return std::max(v, 0.0); }), x).scaled);
}

TEST(Compare, RowsAreJudgedByTheirOwnSize) {
  // A row of small numbers beside a row of large ones: zeros there are found, though nothing beside the
  // whole.
  const Buffers b("f32", {2, 5000});
  std::vector<double> k0 = uniform(10000, 1, 2);
  for (size_t i = 5000; i < 10000; ++i) k0[i] *= 1e-8;
  const BufferComparison c = b.compare(k0, changed(k0, [](size_t i, double v) { return i >= 5000 ? 0 : v; }));
  EXPECT_GT(c.cosine, least_cosine);
  EXPECT_FALSE(c.scaled);
  EXPECT_EQ(c.first->index, 5000U);
  EXPECT_TRUE(c.paper);
}

// --- what must be accepted

TEST(Compare, AnotherOrderOfASumIsAccepted) {
  const Buffers b("f32", {64});
  std::vector<double> up, down;
  for (size_t row = 0; row < 64; ++row) {
    const std::vector<double> terms = uniform(8192, -1, 1, row);
    float forwards = 0, backwards = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      forwards += static_cast<float>(terms[i]);
      backwards += static_cast<float>(terms[terms.size() - 1 - i]);
    }
    up.push_back(forwards), down.push_back(backwards);
  }
  const BufferComparison c = b.compare(up, down);
  EXPECT_TRUE(c.scaled && c.paper) << c.describe(b.layout.type());
  EXPECT_GT(c.different, 0U);
  EXPECT_GT(c.max_absolute, 0);
}

TEST(Compare, SmallTypesMayBeTwoUnitsOff) {
  const Buffers b("bf16", {1000});
  const std::vector<double> k0 = uniform(1000, 1, 2);
  for (const double ulps : {1.0, 2.0, 3.0}) {
    // One element: the cosine does not notice, the element is 0.8 % a unit off.
    const double there = decode(b.layout.type(), encode(b.layout.type(), k0[500]));
    const double shift = there > 1.5 ? -ulps / 128 : ulps / 128;
    const auto moved = changed(k0, [&](size_t i, double v) { return i == 500 ? there + shift : v; });
    const BufferComparison c = b.compare(k0, moved);
    EXPECT_EQ(c.scaled, ulps <= 2) << ulps;
    EXPECT_FALSE(c.paper);
    EXPECT_TRUE(c.ulp_exceeds_paper);
    EXPECT_EQ(c.ulps[static_cast<size_t>(ulps)], 1U);
    EXPECT_EQ(c.ulps[0], 999U);
  }
}

TEST(Compare, NanAndInfinityStandWhereK0HasThem) {
  const Buffers b("f32", {6});
  const std::vector<double> k0 = {1, nan, infinity, -infinity, 0, 2};
  EXPECT_TRUE(b.compare(k0, k0).scaled);
  for (const auto& [at, value] : std::vector<std::pair<size_t, double>>{
           {0, nan}, {0, infinity}, {1, 0}, {1, infinity}, {2, -infinity}, {2, 3e38}, {3, nan}, {4, nan}}) {
    const BufferComparison c =
        b.compare(k0, changed(k0, [&](size_t i, double v) { return i == at ? value : v; }));
    EXPECT_FALSE(c.scaled || c.paper) << at << " " << value;
    EXPECT_EQ(c.specials, 1U);
    EXPECT_EQ(c.first->index, at);
  }
  Bytes one = b.filled(k0), other = one;
  other[4] ^= 1; // another NaN
  EXPECT_TRUE(b.compare(one, other).scaled);
}

TEST(Compare, AZeroVectorIsEqualOnlyToAZeroVector) {
  const Buffers b("f64", {3});
  EXPECT_TRUE(b.compare(std::vector<double>{0, 0, 0}, std::vector<double>{0, -0.0, 0}).scaled);
  for (const Rule rule : {Rule::Scaled, Rule::Paper}) {
    const std::vector<double> zeros(3), tiny = {0, 1e-300, 0};
    EXPECT_FALSE(b.compare(zeros, tiny, rule).equal(rule));
    EXPECT_FALSE(b.compare(tiny, zeros, rule).equal(rule));
  }
}

TEST(Compare, HugeDoublesDoNotOverflow) {
  const Buffers b("f64", {2, 3});
  const std::vector<double> k0 = {1e308, -1e308, 1e307, 5e-324, 1e-320, 3e-310};
  const BufferComparison same = b.compare(k0, changed(k0, [](size_t, double v) { return v * (1 + 1e-6); }));
  EXPECT_TRUE(same.scaled) << same.describe(b.layout.type());
  EXPECT_NEAR(same.cosine, 1, 1e-9);
  EXPECT_FALSE(b.compare(k0, changed(k0, [](size_t i, double v) { return i == 0 ? -v : v; })).scaled);
}

// --- written and not written

TEST(Compare, PoisonThatStaysIsNotWritten) {
  const Buffers b("f32", {4});
  const Bytes k0 = b.filled({1, nan, 3, 4}); // its NaN is another than poison
  Bytes candidate = k0;
  std::memset(candidate.data() + 4, 0xff, 4);
  const BufferComparison c = b.compare(k0, candidate);
  EXPECT_FALSE(c.scaled);
  EXPECT_EQ(c.unwritten, 1U);
  EXPECT_THAT(c.describe(b.layout.type()), HasSubstr("not written"));
  EXPECT_EQ(b.compare(candidate, k0).overwritten, 1U);
}

TEST(Compare, InPlaceUpdatesTooSmallToSeeMustBeWritten) {
  const Buffers b("f32", {4});
  const Bytes before = b.filled({1, 2, 3, 4}), k0 = b.filled({1.0001, 2.0001, 3.0001, 4});
  Compared what{bytes_of(k0), bytes_of(before), bytes_of(before), {}, {}, {}, false, nullptr};
  auto c = compare(b.layout, what, Rule::Scaled);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->doubtful, 3U); // by values alone nobody can tell
  what.k0_wrote = [](uint64_t, uint64_t) { return true; };
  what.candidate_wrote = [](uint64_t offset, uint64_t) { return offset >= 8; };
  c = compare(b.layout, what, Rule::Scaled);
  EXPECT_FALSE(c->scaled);
  EXPECT_EQ(c->unwritten, 2U);
  EXPECT_EQ(c->doubtful, 0U);
  what.candidate_wrote = what.k0_wrote; // it wrote the same as was there
  EXPECT_TRUE(compare(b.layout, what, Rule::Scaled)->scaled);
}

// --- K0's own spread

TEST(Compare, OnlyK0sOwnSpreadIsTolerated) {
  for (const char* type : {"f32", "i32"}) {
    const Buffers b(type, {5000});
    const std::vector<double> first(5000, 10.0);
    const auto other = changed(first, [](size_t i, double v) { return i == 4999 ? 13.0 : v; });
    Spread spread;
    const Bytes k0 = b.filled(first), again = b.filled(other);
    EXPECT_EQ(*widen(spread, b.layout, bytes_of(k0), bytes_of(again), {}), 1U);
    const auto with = [&](size_t at, double value) {
      const Bytes candidate =
          b.filled(changed(first, [&](size_t i, double v) { return i == at ? value : v; }));
      const Compared what{bytes_of(k0), bytes_of(candidate), {}, {}, {}, {}, true, &spread};
      return *compare(b.layout, what, Rule::Scaled);
    };
    EXPECT_TRUE(with(4999, 12).scaled);
    EXPECT_EQ(with(4999, 12).in_spread, 1U);
    EXPECT_FALSE(with(4999, 14).scaled);
    EXPECT_FALSE(with(4999, 9).scaled);
    EXPECT_FALSE(with(4998, 12).scaled);
  }
}

TEST(Compare, UntouchedBlocksAreNotRead) {
  const Buffers b("f32", {100, 4096});
  const Bytes k0 = b.filled(std::vector<double>(409600, 1.0));
  uint64_t asked = 0;
  const ReadBytes counted = [&](uint64_t offset, std::span<uint8_t> into) {
    asked += into.size();
    return bytes_of(k0)(offset, into);
  };
  Compared what{counted, bytes_of(k0), {}, {}, {}, {}, true, nullptr};
  what.next_touched = [](uint64_t offset) { return offset <= 200'000 ? 200'000 : ~uint64_t{0}; };
  EXPECT_EQ(compare(b.layout, what, Rule::Scaled)->elements, 4096U);
  EXPECT_EQ(asked, 4096U * 4);
}

TEST(Compare, BucketsOfTheHistogram) {
  const std::vector<std::pair<uint64_t, size_t>> expected = {
      {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 3}, {5, 4}, {8, 4}, {9, 5}, {1024, 11}, {1025, 12}, {~0ULL, 12}};
  for (const auto& [ulps, bucket] : expected) EXPECT_EQ(ulp_bucket(ulps), bucket) << ulps;
}

} // namespace
} // namespace asmevo::oracle
