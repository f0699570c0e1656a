// The small pieces: bytes, hashes, random streams, errors, parallel loops, progress.
#include "base/bytes.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/result.h"
#include "base/static_vector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <numeric>
#include <set>

namespace asmevo {
namespace {

TEST(Bytes, LoadsInsideOnly) {
  const Bytes b = {1, 2, 3, 4, 5};
  EXPECT_EQ(load<uint32_t>(b, 0), 0x04030201U);
  EXPECT_EQ(load<uint32_t>(b, 1), 0x05040302U);
  EXPECT_FALSE(load<uint32_t>(b, 2));
  EXPECT_FALSE(load<uint8_t>(b, 5));
  EXPECT_FALSE(load<uint32_t>(b, std::numeric_limits<uint64_t>::max()));
  EXPECT_FALSE(load<uint32_t>(b, std::numeric_limits<uint64_t>::max() - 2));
  EXPECT_FALSE(load<uint64_t>({}, 0));
}

TEST(Bytes, SlicesAgainstOverflow) {
  const Bytes b(10);
  constexpr uint64_t max = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(slice(b, 3, 7)->size(), 7U);
  EXPECT_EQ(slice(b, 10, 0)->size(), 0U);
  EXPECT_FALSE(slice(b, 11, 0));
  EXPECT_FALSE(slice(b, 3, 8));
  EXPECT_FALSE(slice(b, 3, max));
  EXPECT_FALSE(slice(b, max, 2));
  EXPECT_FALSE(slice(b, max, max));
}

TEST(Bytes, AppendStoreAlign) {
  Bytes b;
  append(b, uint32_t{0x11223344});
  append(b, as_bytes("xy"));
  EXPECT_EQ(b, (Bytes{0x44, 0x33, 0x22, 0x11, 'x', 'y'}));
  store(std::span(b), 2, uint16_t{0xaabb});
  EXPECT_EQ(load<uint32_t>(b, 0), 0xaabb3344U);
  EXPECT_EQ(align_up(0, 256), 0U);
  EXPECT_EQ(align_up(1, 256), 256U);
  EXPECT_EQ(align_up(256, 256), 256U);
  EXPECT_EQ(align_up(7, 0), 7U);
  EXPECT_EQ(align_up(7, 12), 12U);
}

// Values of the reference implementation (xxhsum -H2 and -H3).
TEST(Hash, IsXxh3) {
  EXPECT_EQ(content_hash({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(content_hash(as_bytes("abc")), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(hash64(as_bytes("abc")), 0x78af5f94892f3950U);
  EXPECT_NE(hash64(as_bytes("abc"), 1), hash64(as_bytes("abc")));
  EXPECT_EQ(content_hash(as_bytes(std::string(1000, 'a'))).size(), 32U);
}

// splitmix64 with seed 1234567, as published with the algorithm.
TEST(Random, IsSplitmix64) {
  RandomStream random(1234567);
  for (const uint64_t expected : {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                  4593380528125082431U, 16408922859458223821U})
    EXPECT_EQ(random.next(), expected);
}

TEST(Random, BelowIsUniform) {
  RandomStream random(3);
  std::array<int, 10> counts{};
  for (int k = 0; k < 100000; ++k) ++counts[random.below(10)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400); // 4 sigma
  EXPECT_EQ(random.below(1), 0U);
  for (int k = 0; k < 1000; ++k)
    EXPECT_LT(random.below(std::numeric_limits<uint64_t>::max()), std::numeric_limits<uint64_t>::max());
}

TEST(Result, ErrorsCarryContextAndExitCode) {
  const Error error = bad_input("byte {:#x}", 16).error();
  EXPECT_EQ(error.message, "byte 0x10");
  EXPECT_EQ(error.in("file.co").message, "file.co: byte 0x10");
  EXPECT_EQ(error.in("file.co").exit_code(), 2);
  EXPECT_EQ(unsupported("x").error().exit_code(), 2);
  EXPECT_EQ(environment_error("x").error().exit_code(), 3);
  EXPECT_EQ(internal_error("x").error().exit_code(), 3);
}

Result<int> half(int value) {
  if (value % 2 != 0) return bad_input("{} is odd", value);
  return value / 2;
}
Result<int> quarter(int value) {
  ASMEVO_TRY(const int h, half(value));
  ASMEVO_TRY(const int q, half(h));
  return q;
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(5).error().message, "5 is odd");
}

TEST(StaticVector, KeepsItsCapacity) {
  StaticVector<int, 3> v;
  EXPECT_TRUE(v.empty());
  for (int k = 1; k <= 3; ++k) v.push_back(k);
  EXPECT_TRUE(v.full());
  EXPECT_EQ(v.size(), 3U);
  EXPECT_EQ(v.back(), 3);
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 6);
#ifdef NDEBUG
  v.push_back(4); // with assertions on this stops the program
  EXPECT_EQ(v.size(), 3U);
  EXPECT_EQ(v.back(), 3);
#endif
}

TEST(Parallel, VisitsEachIndexOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 7U})
    for (const size_t count : {0U, 1U, 5U, 1000U}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<unsigned> most{0};
      parallel_for(count, threads, [&](size_t index, unsigned worker) {
        ++visits[index];
        unsigned seen = most;
        while (worker > seen && !most.compare_exchange_weak(seen, worker)) {
        }
      });
      for (const auto& v : visits) EXPECT_EQ(v, 1);
      EXPECT_LT(most, threads == 0 ? default_threads() : threads);
    }
  EXPECT_GE(default_threads(), 1U);
}

// Workers are told apart: state of one's own needs no lock.
TEST(Parallel, WorkersDoNotShareANumber) {
  std::vector<size_t> sums(4);
  parallel_for(10000, 4, [&](size_t index, unsigned worker) { sums[worker] += index; });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), size_t{0}), 9999U * 10000U / 2);
}

TEST(Progress, ShortWorkSaysNothing) {
  testing::internal::CaptureStderr();
  {
    Progress progress("work", 1000);
    parallel_for(1000, 2, [&](size_t, unsigned) { progress.step(); });
    Progress nothing("none", 0);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Printable, NothingMovesTheCursor) {
  EXPECT_EQ(printable("a\nb\r\x1b[2J\x7f"), "a\\x0ab\\x0d\\x1b[2J\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  // U+009B, which some terminals take for ESC [; its neighbours are letters.
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xc2\xa0\xc3\x9b\xc2"), "\xc2\xa0\xc3\x9b\xc2");
}

TEST(Printable, LongTextIsCut) {
  const std::string text(100, 'x');
  EXPECT_EQ(printable(text), std::string(80, 'x') + "...");
  EXPECT_EQ(printable(text.substr(0, 80)), text.substr(0, 80));
  EXPECT_EQ(printable(text, whole_text), text);
  EXPECT_EQ(printable("ab\xe2\x82\xac", 4), "ab...") << "not within a character";
  EXPECT_EQ(printable("\x80\x80\x80", 1), "...");
  EXPECT_EQ(printable("", 0), "");
}

TEST(Printable, ErrorsAreOneLine) {
  const Error error = one_line({ErrorKind::Unsupported, "a\nb" + std::string(2000, 'x')});
  EXPECT_EQ(error.kind, ErrorKind::Unsupported);
  EXPECT_EQ(error.message.substr(0, 7), "a\\x0abx");
  EXPECT_LT(error.message.size(), 1100U);
}

} // namespace
} // namespace asmevo
