// The gfx90a kernels of Debian's rocRAND library, as they are in it, against the generators as published:
// Philox4x32-10 (Salmon et al. 2011, with its known-answer vectors), XORWOW (Marsaglia 2003) and MRG32k3a
// (L'Ecuyer 1999), which are written down here once more. Engine states are laid out as the library's headers
// lay them out.
#include "codeobject/container.h"
#include "device/kernel_runner.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace asmevo::test {
namespace {

constexpr const char* library = "/usr/lib/x86_64-linux-gnu/librocrand.so.1";

class Rocrand : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(library))
      GTEST_SKIP() << library << " is not installed (package librocrand1)";
    const auto container = codeobject::Container::open(library);
    ASSERT_TRUE(container) << container.error().message;
    const auto object = container->find("gfx90a:xnack-");
    ASSERT_TRUE(object) << object.error().message;
    auto bytes = (*object)->read();
    ASSERT_TRUE(bytes) << bytes.error().message;
    device::EmulatorOptions options;
    options.threads = 2;
    options.seed = 3;
    runner_ = KernelRunner::load(std::move(*bytes), std::move(options));
    ASSERT_NE(runner_, nullptr);
  }

  /// The one kernel whose mangled name has both parts.
  std::string kernel(std::string_view first, std::string_view second) const {
    std::string found;
    for (const auto& k : runner_->object().kernels())
      if (k.name.find(first) != std::string::npos && k.name.find(second) != std::string::npos) {
        EXPECT_EQ(found, "") << "also " << k.name;
        found = k.name;
      }
    EXPECT_NE(found, "") << first << ", " << second;
    return found;
  }

  std::unique_ptr<KernelRunner> runner_;
};

// What the kernels take for a distribution without parameters.
struct NoParameters {
  uint8_t unused = 0;
};

// --- Philox

using Four = std::array<uint32_t, 4>;

Four philox(Four counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xd2511f53} * counter[0], second = uint64_t{0xcd9e8d57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

void advance(Four& counter) {
  for (uint32_t& word : counter)
    if (++word != 0) return;
}

struct alignas(16) PhiloxEngine {
  Four counter, result;
  std::array<uint32_t, 2> key;
  uint32_t substate = 0, unused = 0;
};
PhiloxEngine philox_engine(const Four& counter, const std::array<uint32_t, 2>& key) {
  return {counter, philox(counter, key), key};
}

struct KnownAnswer {
  Four counter;
  std::array<uint32_t, 2> key;
  Four answer;
};
// Random123's kat_vectors, philox4x32 with 10 rounds.
const KnownAnswer known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST_F(Rocrand, PhiloxKnownAnswers) {
  const std::string generate = kernel("generate_kernelIj20uniform_distributionIjE", "philox4x32_10");
  for (const auto& [counter, key, answer] : known_answers) {
    EXPECT_EQ(philox(counter, key), answer);
    constexpr uint64_t n = 1500; // more than one turn of the 256 work-items, which take four numbers each
    const auto out = runner_->empty<uint32_t>(n);
    ASSERT_TRUE(
        runner_->launch(generate, line(256, 256), philox_engine(counter, key), out, n, NoParameters{}));
    const auto got = runner_->read(out);
    Four at = counter;
    for (size_t i = 0; i < n; i += 4, advance(at)) {
      const Four expected = philox(at, key);
      for (size_t k = 0; k < 4; ++k) ASSERT_EQ(got[i + k], expected[k]) << "number " << i + k;
    }
    EXPECT_TRUE(std::equal(answer.begin(), answer.end(), got.begin()));
  }
}

TEST_F(Rocrand, PhiloxNormalDoubles) {
  const std::string generate = kernel("generate_kernelId19normal_distributionIdE", "philox4x32_10");
  struct {
    double mean = 3, deviation = 0.5;
  } normal;
  constexpr uint64_t n = 600;
  const Four counter = {5, 0, 0, 0};
  const std::array<uint32_t, 2> key = {0xdeadbeef, 0x12345678};
  const auto out = runner_->empty<double>(n);
  ASSERT_TRUE(runner_->launch(generate, line(512, 256), philox_engine(counter, key), out, n, normal));
  const auto got = runner_->read(out);
  Four at = counter;
  for (size_t i = 0; i < n; i += 2, advance(at)) {
    // Box and Muller, with 53 bits of each of two uniform numbers.
    const Four bits = philox(at, key);
    const auto uniform = [&](size_t low) {
      const uint64_t whole = uint64_t{bits[low]} ^ uint64_t { bits[low + 1] } << 21;
      return (static_cast<double>(whole) + 1) * 0x1p-53;
    };
    const double radius = std::sqrt(-2 * std::log(uniform(0))), angle = 2 * std::numbers::pi * uniform(2);
    EXPECT_NEAR(got[i], 3 + 0.5 * radius * std::sin(angle), 1e-13);
    EXPECT_NEAR(got[i + 1], 3 + 0.5 * radius * std::cos(angle), 1e-13);
  }
}

// --- XORWOW

struct XorwowEngine {
  uint32_t weyl;
  std::array<uint32_t, 5> x;
  bool operator==(const XorwowEngine&) const = default;
};

void xorshift(std::array<uint32_t, 5>& x) {
  const uint32_t t = x[0] ^ x[0] >> 2;
  x = {x[1], x[2], x[3], x[4], (x[4] ^ x[4] << 4) ^ (t ^ t << 1)};
}
uint32_t next(XorwowEngine& e) {
  xorshift(e.x);
  e.weyl += 362437;
  return e.x[4] + e.weyl;
}

/// A linear map of the 160 bits of x, by what it makes of each bit alone.
using BitMatrix = std::vector<std::array<uint32_t, 5>>;
std::array<uint32_t, 5> operator*(const BitMatrix& m, const std::array<uint32_t, 5>& x) {
  std::array<uint32_t, 5> sum{};
  for (size_t bit = 0; bit < 160; ++bit)
    if ((x[bit / 32] >> bit % 32 & 1) != 0)
      for (size_t w = 0; w < 5; ++w) sum[w] ^= m[bit][w];
  return sum;
}
/// 2^67 steps at once. The Weyl sequence is where it was after them.
BitMatrix subsequence_jump() {
  BitMatrix m(160);
  for (size_t bit = 0; bit < 160; ++bit) {
    m[bit][bit / 32] = 1U << bit % 32;
    xorshift(m[bit]);
  }
  for (int doubling = 0; doubling < 67; ++doubling) {
    BitMatrix square(160);
    for (size_t bit = 0; bit < 160; ++bit) square[bit] = m * m[bit];
    m = std::move(square);
  }
  return m;
}

TEST_F(Rocrand, XorwowEnginesAndNumbers) {
  constexpr uint32_t engines = 512;
  constexpr uint64_t seed = 0x123456789abcdef0, offset = 5, n = 3 * engines + 100;
  const auto states = runner_->empty<XorwowEngine>(engines);
  ASSERT_TRUE(runner_->launch(kernel("init_engines_kernel", "xorwow"), line(engines, 256), states,
                              uint32_t{0}, seed, offset));

  // Marsaglia's starting values, with the seed mixed in as the library's header does.
  const uint32_t low = 1228688033U * (static_cast<uint32_t>(seed) ^ 0x2c7f967f),
                 high = 2073658381U * (static_cast<uint32_t>(seed >> 32) ^ 0xa03697cb);
  const std::array<uint32_t, 5> start = {123456789U + low, 362436069U ^ low, 521288629U + high,
                                         88675123U ^ high, 5783321U + low};
  std::vector<XorwowEngine> expected(engines);
  const BitMatrix jump = subsequence_jump();
  for (size_t e = 0; e < engines; ++e)
    expected[e] = {6615241U + low + high, e == 0 ? start : jump * expected[e - 1].x};
  for (XorwowEngine& e : expected)
    for (uint64_t k = 0; k < offset; ++k) next(e);
  EXPECT_EQ(runner_->read(states), expected);

  // Engines take turns.
  const auto out = runner_->empty<uint32_t>(n);
  ASSERT_TRUE(runner_->launch(kernel("generate_kernelIj20uniform_distributionIjE", "xorwow"),
                              line(engines, 256), states, uint32_t{0}, out, n, NoParameters{}));
  std::vector<uint32_t> numbers(n);
  for (size_t i = 0; i < n; ++i) numbers[i] = next(expected[i % engines]);
  EXPECT_EQ(runner_->read(out), numbers);
  EXPECT_EQ(runner_->read(states), expected);
}

// --- MRG32k3a

constexpr uint64_t m1 = 4294967087, m2 = 4294944443;
using Three = std::array<uint64_t, 3>;
using ThreeByThree = std::array<Three, 3>;
// The step of each component: s0, s1, s2 becomes s1, s2 and a sum.
constexpr ThreeByThree step1 = {{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}};
constexpr ThreeByThree step2 = {{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}};

Three times(const ThreeByThree& a, const Three& s, uint64_t m) {
  Three result{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) result[i] = (result[i] + a[i][j] * s[j] % m) % m;
  return result;
}
ThreeByThree squared(const ThreeByThree& a, uint64_t m) {
  ThreeByThree result{};
  for (size_t j = 0; j < 3; ++j) {
    const Three column = times(a, {a[0][j], a[1][j], a[2][j]}, m);
    for (size_t i = 0; i < 3; ++i) result[i][j] = column[i];
  }
  return result;
}
/// 2^76 steps, the distance of L'Ecuyer's streams (the library's comments say 2^67, its tables 2^76).
ThreeByThree subsequence_jump(ThreeByThree step, uint64_t m) {
  for (int doubling = 0; doubling < 76; ++doubling) step = squared(step, m);
  return step;
}

struct MrgEngine {
  std::array<uint32_t, 3> g1, g2;
  bool operator==(const MrgEngine&) const = default;
};
struct Mrg {
  Three g1, g2;
  /// Between 1 and m1.
  uint64_t next() {
    g1 = times(step1, g1, m1);
    g2 = times(step2, g2, m2);
    return g1[2] > g2[2] ? g1[2] - g2[2] : g1[2] + m1 - g2[2];
  }
  MrgEngine engine() const {
    MrgEngine e{};
    for (size_t i = 0; i < 3; ++i) {
      e.g1[i] = static_cast<uint32_t>(g1[i]);
      e.g2[i] = static_cast<uint32_t>(g2[i]);
    }
    return e;
  }
};
/// The library spreads the numbers from 1 to m1 over all of 32 bits.
uint32_t spread(uint64_t number) {
  return static_cast<uint32_t>(static_cast<double>(number - 1) * (0x1p32 / static_cast<double>(m1)));
}

TEST_F(Rocrand, Mrg32k3aEnginesAndNumbers) {
  constexpr uint32_t engines = 512;
  constexpr uint64_t seed = 0x2468ace1, offset = 3, n = 2 * engines + 77;
  const auto states = runner_->empty<MrgEngine>(engines);
  ASSERT_TRUE(runner_->launch(kernel("init_engines_kernel", "mrg32k3a"), line(engines, 256), states,
                              uint32_t{0}, seed, offset));

  const uint64_t x = (seed & 0xffffffff) ^ 0x55555555,
                 y = (seed >> 32) ^ 0xaaaaaaaa; // as the library's header does
  Mrg at{{x * seed % m1, y * seed % m1, x * seed % m1}, {y * seed % m2, x * seed % m2, y * seed % m2}};
  const ThreeByThree jump1 = subsequence_jump(step1, m1), jump2 = subsequence_jump(step2, m2);
  std::vector<Mrg> expected(engines);
  std::vector<MrgEngine> expected_states(engines);
  for (size_t e = 0; e < engines; ++e) {
    expected[e] = at;
    for (uint64_t k = 0; k < offset; ++k) expected[e].next();
    expected_states[e] = expected[e].engine();
    at = {times(jump1, at.g1, m1), times(jump2, at.g2, m2)};
  }
  EXPECT_EQ(runner_->read(states), expected_states);

  const auto out = runner_->empty<uint32_t>(n);
  ASSERT_TRUE(runner_->launch(kernel("generate_kernelIj24mrg_uniform_distributionIjE", "mrg32k3a"),
                              line(engines, 256), states, uint32_t{0}, out, n, NoParameters{}));
  const auto got = runner_->read(out);
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(got[i], spread(expected[i % engines].next())) << i;
}

/// L'Ecuyer's own example: all of the state 12345. Its first numbers are printed with RngStreams.
TEST_F(Rocrand, Mrg32k3aOfRngStreams) {
  constexpr uint64_t n = 3;
  const MrgEngine start{{12345, 12345, 12345}, {12345, 12345, 12345}};
  const auto states = runner_->buffer(std::vector<MrgEngine>{start});
  const auto out = runner_->empty<uint32_t>(n);
  ASSERT_TRUE(runner_->launch(kernel("generate_kernelIj24mrg_uniform_distributionIjE", "mrg32k3a"),
                              line(1, 1), states, uint32_t{0}, out, n, NoParameters{}));
  const auto got = runner_->read(out);
  const double published[] = {0.127011122046577, 0.318527565396794, 0.309186015583519};
  for (size_t i = 0; i < n; ++i) EXPECT_NEAR(got[i] * 0x1p-32, published[i], 1e-9);
}

} // namespace
} // namespace asmevo::test
