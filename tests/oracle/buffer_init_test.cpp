// Layouts against loops over their dimensions, and first contents: the same whichever way a buffer is cut
// into pages, and with the statistics they promise.
#include "oracle/buffer_init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace asmevo::oracle {
namespace {

Layout layout(std::string_view type, std::vector<uint64_t> shape, std::vector<uint64_t> strides = {}) {
  auto made = Layout::make(*element_type(type), std::move(shape), std::move(strides));
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

Bytes whole(const Init& init, const Layout& l) {
  Bytes bytes(l.bytes());
  fill(init, l, 0, bytes);
  return bytes;
}

Init init_of(InitKind kind, double first = 0, double second = 0, uint64_t seed = 1) {
  Init i;
  i.kind = kind;
  i.first = first;
  i.second = second;
  i.whole_first = static_cast<int64_t>(first);
  i.whole_second = static_cast<int64_t>(second);
  i.seed = seed;
  return i;
}

std::vector<double> values(const Init& init, const Layout& l) {
  std::vector<double> list;
  for (uint64_t i = 0; i < l.count(); ++i) list.push_back(decode(l.type(), init_code(init, l, i)));
  return list;
}

TEST(Layout, PlacesAndIndicesAreInverse) {
  for (const Layout& l :
       {layout("f32", {3, 4, 5}), layout("f32", {3, 4, 5}, {40, 8, 1}), layout("f32", {3, 4}, {1, 3}),
        layout("f32", {4, 3}, {1, 10}), layout("f32", {}), layout("f32", {1, 7}, {0, 2})}) {
    std::set<uint64_t> places;
    for (uint64_t i = 0; i < l.count(); ++i) {
      const uint64_t place = l.place_of(i);
      EXPECT_LT(place, l.places());
      EXPECT_TRUE(places.insert(place).second);
      EXPECT_EQ(l.index_at(place), i);
    }
    for (uint64_t place = 0; place < l.places() + 3; ++place)
      EXPECT_EQ(l.index_at(place).has_value(), places.contains(place));
  }
}

TEST(Layout, PlaceByHand) {
  const Layout l = layout("f32", {3, 4, 5}, {40, 8, 1});
  EXPECT_EQ(l.place_of(1 * 20 + 2 * 5 + 3), 40U + 2 * 8 + 3);
  EXPECT_EQ(l.places(), 2 * 40 + 3 * 8 + 4 + 1U);
  EXPECT_FALSE(l.dense());
  EXPECT_TRUE(layout("f32", {3, 4}, {4, 1}).dense());
  EXPECT_EQ(layout("fp4_e2m1", {5}).bytes(), 3U);
  EXPECT_EQ(layout("fp6_e2m3", {4}).bytes(), 3U);
  EXPECT_EQ(layout("f32", {0, 4}).bytes(), 0U);
  EXPECT_EQ(layout("f32", {2, 8}, {0, 1}).places(), 8U); // rows that are the same row
}

TEST(Layout, Refuses) {
  const auto refused = [](std::vector<uint64_t> shape, std::vector<uint64_t> strides) {
    return !Layout::make(*element_type("f32"), std::move(shape), std::move(strides));
  };
  EXPECT_TRUE(refused({4, 4}, {3, 1}));
  EXPECT_TRUE(refused({4, 4}, {4}));
  EXPECT_TRUE(refused({2, 2, 2, 2, 2, 2, 2, 2, 2}, {}));
  EXPECT_TRUE(refused({uint64_t{1} << 40}, {}));
  EXPECT_TRUE(refused({uint64_t{1} << 62, 8}, {}));
  EXPECT_TRUE(refused({3, 3}, {uint64_t{1} << 63, 1}));
}

// The heart of lazy filling: any cut gives the same bytes, in any order.
TEST(BufferInit, PagesDoNotDependOnOneAnother) {
  for (const auto& [type, shape, strides] :
       std::vector<std::tuple<const char*, std::vector<uint64_t>, std::vector<uint64_t>>>{
           {"f32", {100, 90}, {}},
           {"f16", {30, 90}, {100, 1}},
           {"i4", {9001}, {}},
           {"fp6_e3m2", {3000}, {}},
           {"opaque12", {700}, {}},
           {"u64", {40, 50}, {1, 41}}}) {
    SCOPED_TRACE(type);
    const Layout l = layout(type, shape, strides);
    for (const InitKind kind : {InitKind::RandomBits, InitKind::Poison, InitKind::Sequence,
                                InitKind::Permutation, InitKind::OneHot}) {
      const Init init = init_of(kind, 1, 1);
      const Bytes all = whole(init, l);
      Bytes pieces(all.size());
      const size_t cut = 1021; // elements straddle it
      for (size_t at = (all.size() - 1) / cut * cut;; at -= cut) {
        fill(init, l, at, std::span(pieces).subspan(at, std::min(cut, all.size() - at)));
        if (at == 0) break;
      }
      EXPECT_EQ(pieces, all);
    }
  }
}

TEST(BufferInit, PaddingIsPoisonAndRowsDoNotFeelIt) {
  const Init init = init_of(InitKind::Uniform, -1, 1);
  const Bytes dense = whole(init, layout("f32", {3, 5})), padded = whole(init, layout("f32", {3, 5}, {8, 1}));
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_TRUE(std::equal(dense.begin() + static_cast<ptrdiff_t>(row * 20),
                           dense.begin() + static_cast<ptrdiff_t>(row * 20 + 20),
                           padded.begin() + static_cast<ptrdiff_t>(row * 32)));
    for (size_t at = row * 32 + 20; row < 2 && at < row * 32 + 32; ++at) EXPECT_EQ(padded[at], canary_byte);
  }
}

TEST(BufferInit, Statistics) {
  const Layout l = layout("f64", {100'000});
  const auto moments = [](const std::vector<double>& v) {
    double mean = 0, square = 0;
    for (const double x : v) mean += x / static_cast<double>(v.size());
    for (const double x : v) square += (x - mean) * (x - mean) / static_cast<double>(v.size());
    return std::pair(mean, std::sqrt(square));
  };
  const auto uniform = values(init_of(InitKind::Uniform, 2, 4), l);
  EXPECT_GE(*std::ranges::min_element(uniform), 2);
  EXPECT_LT(*std::ranges::max_element(uniform), 4);
  EXPECT_NEAR(moments(uniform).first, 3, 0.01);
  EXPECT_NEAR(moments(uniform).second, 2 / std::sqrt(12), 0.01);
  const auto normal = values(init_of(InitKind::Normal, 10, 3), l);
  EXPECT_NEAR(moments(normal).first, 10, 0.05);
  EXPECT_NEAR(moments(normal).second, 3, 0.05);
  const auto beyond =
      std::ranges::count_if(normal, [](double x) { return std::fabs(x - 10) > 6; }); // 2 deviations
  EXPECT_NEAR(static_cast<double>(beyond) / 100'000, 0.0455, 0.005);
}

TEST(BufferInit, IntegersFillTheirRange) {
  const auto drawn = values(init_of(InitKind::Integers, -3, 3), layout("i8", {5000}));
  std::set<double> seen(drawn.begin(), drawn.end());
  EXPECT_EQ(seen, (std::set<double>{-3, -2, -1, 0, 1, 2, 3}));
  Init all = init_of(InitKind::Integers);
  all.whole_first = std::numeric_limits<int64_t>::min();
  all.whole_second = std::numeric_limits<int64_t>::max();
  EXPECT_NE(init_code(all, layout("i64", {2}), 0), init_code(all, layout("i64", {2}), 1));
}

TEST(BufferInit, PermutationsAreComplete) {
  const Layout l = layout("i32", {20, 37});
  const auto v = values(init_of(InitKind::Permutation), l);
  std::set<std::vector<double>> rows;
  for (size_t row = 0; row < 20; ++row) {
    std::vector<double> one(v.begin() + static_cast<ptrdiff_t>(row * 37),
                            v.begin() + static_cast<ptrdiff_t>(row * 37 + 37));
    rows.insert(one);
    std::ranges::sort(one);
    for (size_t i = 0; i < 37; ++i) EXPECT_EQ(one[i], static_cast<double>(i));
  }
  EXPECT_EQ(rows.size(), 20U);
}

TEST(BufferInit, OneHotHasOneInEachRow) {
  const auto v = values(init_of(InitKind::OneHot, 5), layout("f16", {50, 9}));
  for (size_t row = 0; row < 50; ++row) {
    const auto begin = v.begin() + static_cast<ptrdiff_t>(row * 9);
    EXPECT_EQ(std::count(begin, begin + 9, 5.0), 1);
    EXPECT_EQ(std::count(begin, begin + 9, 0.0), 8);
  }
}

TEST(BufferInit, SequencesByHand) {
  Init i = init_of(InitKind::Sequence, 10, -3);
  i.third = 4;
  EXPECT_EQ(values(i, layout("i32", {6})), (std::vector<double>{10, 7, 4, 1, 10, 7}));
  i.third = 0;
  i.first = 0.5;
  i.second = 0.25;
  EXPECT_EQ(values(i, layout("f32", {3})), (std::vector<double>{0.5, 0.75, 1}));
}

TEST(BufferInit, SeedsDiffer) {
  const Layout l = layout("f32", {64});
  EXPECT_NE(whole(init_of(InitKind::Uniform, 0, 1, 1), l), whole(init_of(InitKind::Uniform, 0, 1, 2), l));
  // Known values: the same on every machine.
  EXPECT_EQ(random_bits(0, 0), 0xe220a8397b1dcdafU); // splitmix64's first output for seed 0
}

} // namespace
} // namespace asmevo::oracle
