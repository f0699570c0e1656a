// Operations of atomics, in LDS and in memory, against plain arithmetic.
#include "emulator/atomics.h"
#include "memory_snippet.h"

#include <cmath>
#include <functional>
#include <limits>
#include <thread>

namespace asmevo::emulator {
namespace {

constexpr uint32_t words[] = {0, 1, 2, 5, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
constexpr size_t count = std::size(words);

uint32_t old_of(unsigned lane) {
  return words[lane / count];
}
uint32_t data_of(unsigned lane) {
  return words[lane % count];
}
uint64_t wide(uint32_t word) {
  return uint64_t{word} << 32 | word * 3;
}

using Op32 = std::function<uint32_t(uint32_t, uint32_t)>;
using Op64 = std::function<uint64_t(uint64_t, uint64_t)>;

struct IntegerCase {
  const char *lds, *memory;
  Op32 narrow;
  Op64 wide_op;
};

template <class T>
T incremented(T old, T limit) {
  return old >= limit ? 0 : old + 1;
}
template <class T>
T decremented(T old, T limit) {
  return old == 0 || old > limit ? limit : old - 1;
}

const std::vector<IntegerCase>& integer_cases() {
  static const std::vector<IntegerCase> cases = {
      {"add_{}u", "add", std::plus<>(), std::plus<>()},
      {"sub_{}u", "sub", std::minus<>(), std::minus<>()},
      {"and_{}b", "and", std::bit_and<>(), std::bit_and<>()},
      {"or_{}b", "or", std::bit_or<>(), std::bit_or<>()},
      {"xor_{}b", "xor", std::bit_xor<>(), std::bit_xor<>()},
      {"min_{}u", "umin", [](uint32_t a, uint32_t b) { return std::min(a, b); },
       [](uint64_t a, uint64_t b) { return std::min(a, b); }},
      {"max_{}u", "umax", [](uint32_t a, uint32_t b) { return std::max(a, b); },
       [](uint64_t a, uint64_t b) { return std::max(a, b); }},
      {"min_{}i", "smin",
       [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? a : b; },
       [](uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b) ? a : b; }},
      {"max_{}i", "smax",
       [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a) > static_cast<int32_t>(b) ? a : b; },
       [](uint64_t a, uint64_t b) { return static_cast<int64_t>(a) > static_cast<int64_t>(b) ? a : b; }},
      {"inc_{}u", "inc", incremented<uint32_t>, incremented<uint64_t>},
      {"dec_{}u", "dec", decremented<uint32_t>, decremented<uint64_t>},
      {"wrxchg_{}b", "swap", [](uint32_t, uint32_t b) { return b; }, [](uint64_t, uint64_t b) { return b; }},
      {"rsub_{}u", nullptr, [](uint32_t a, uint32_t b) { return b - a; },
       [](uint64_t a, uint64_t b) { return b - a; }},
  };
  return cases;
}

std::string lds_name(const char* pattern, bool returns, unsigned bits) {
  const std::string p = pattern;
  const size_t at = p.find("{}");
  return "ds_" + p.substr(0, at) + (returns ? "rtn_" : "") + p.substr(at + 2) + std::to_string(bits);
}

TEST(Atomics, IntegersInLds) {
  for (const IntegerCase& c : integer_cases()) {
    Snippet s = snippet("gfx942", lds_name(c.lds, true, 32) + " v4, v0, v2\n" + lds_name(c.lds, true, 64) +
                                      " v[6:7], v1, v[8:9] offset:512");
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(0, l) = 4 * l, s.v(1, l) = 8 * l;
      s.v(2, l) = data_of(l);
      s.set_v64(8, l, wide(data_of(l)));
      put_lds(s, 4 * l, old_of(l));
      put_lds(s, 512 + 8 * l, wide(old_of(l)));
    }
    run(s);
    for (unsigned l = 0; l < lanes; ++l) {
      EXPECT_EQ(in_lds<uint32_t>(s, 4 * l), c.narrow(old_of(l), data_of(l))) << c.lds << " lane " << l;
      EXPECT_EQ(in_lds<uint64_t>(s, 512 + 8 * l), c.wide_op(wide(old_of(l)), wide(data_of(l)))) << c.lds;
      EXPECT_EQ(s.v(4, l), old_of(l));
      EXPECT_EQ(s.v64(6, l), wide(old_of(l)));
    }
  }
}

TEST(Atomics, IntegersInMemory) {
  for (const IntegerCase& c : integer_cases()) {
    if (c.memory == nullptr) continue;
    const std::string name = c.memory;
    Snippet s =
        snippet("gfx942", "global_atomic_" + name + " v4, v[0:1], v2, off sc0\n" + //
                              "flat_atomic_" + name + "_x2 v[6:7], v[10:11], v[8:9] sc0\n" +
                              "buffer_atomic_" + name + " v12, v13, s[4:7], 0 offen offset:2048 sc0\n" +
                              "global_atomic_" + name + "_x2 v[10:11], v[8:9], off offset:1024");
    map_zeros(s, 4096);
    Resource{}.put(s, 4);
    set_addresses(s, 0, memory_at, 4);
    set_addresses(s, 10, memory_at + 512, 8);
    for (unsigned l = 0; l < lanes; ++l) {
      s.v(2, l) = s.v(12, l) = data_of(l);
      s.v(13, l) = 4 * l;
      s.set_v64(8, l, wide(data_of(l)));
      for (const uint64_t at : {uint64_t{0}, uint64_t{2048}})
        put_memory(s, memory_at + at + 4 * l, old_of(l));
      for (const uint64_t at : {uint64_t{512}, uint64_t{1536}})
        put_memory(s, memory_at + at + 8 * l, wide(old_of(l)));
    }
    run(s);
    for (unsigned l = 0; l < lanes; ++l) {
      const uint32_t narrow = c.narrow(old_of(l), data_of(l));
      const uint64_t wide_result = c.wide_op(wide(old_of(l)), wide(data_of(l)));
      EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 4 * l), narrow) << name << " lane " << l;
      EXPECT_EQ(in_memory<uint32_t>(s, memory_at + 2048 + 4 * l), narrow) << name;
      EXPECT_EQ(in_memory<uint64_t>(s, memory_at + 512 + 8 * l), wide_result) << name;
      EXPECT_EQ(in_memory<uint64_t>(s, memory_at + 1536 + 8 * l), wide_result) << name;
      EXPECT_EQ(s.v(4, l), old_of(l));
      EXPECT_EQ(s.v(12, l), old_of(l));
      EXPECT_EQ(s.v64(6, l), wide(old_of(l)));
    }
  }
}

TEST(Atomics, LanesAtOneAddressGoInOrder) {
  Snippet s = snippet("gfx942", "ds_add_rtn_u32 v4, v0, v2\nglobal_atomic_add v5, v0, v2, s[2:3] sc0");
  map_zeros(s, 64);
  set_s64(s, 2, memory_at);
  for (unsigned l = 0; l < lanes; ++l) s.v(2, l) = 10;
  s.wave().set_exec(0xffff0000ffff);
  run(s);
  unsigned before = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    if ((s.wave().exec() >> l & 1) == 0) continue;
    EXPECT_EQ(s.v(4, l), before);
    EXPECT_EQ(s.v(5, l), before);
    before += 10;
  }
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at), before);
}

// Memory: data, then comparand. LDS: comparand, then data.
TEST(Atomics, CompareAndSwapOrders) {
  Snippet s = snippet("gfx942", "global_atomic_cmpswap v10, v0, v[2:3], s[2:3] sc0\n"
                                "global_atomic_cmpswap_x2 v[12:13], v0, v[4:7], s[2:3] offset:8 sc0\n"
                                "ds_cmpst_rtn_b32 v14, v0, v2, v3\n"
                                "ds_cmpst_rtn_b64 v[16:17], v0, v[4:5], v[6:7] offset:8\n"
                                "ds_mskor_rtn_b32 v18, v0, v2, v3 offset:64\n"
                                "ds_wrap_rtn_b32 v19, v0, v2, v3 offset:68");
  map_zeros(s, 64);
  set_s64(s, 2, memory_at);
  s.wave().set_exec(1);
  s.v(2, 0) = 30, s.v(3, 0) = 20;
  s.set_v64(4, 0, 300), s.set_v64(6, 0, 200);
  put_memory<uint32_t>(s, memory_at, 20);
  put_memory<uint64_t>(s, memory_at + 8, 200);
  put_lds<uint32_t>(s, 0, 30);
  put_lds<uint64_t>(s, 8, 300);
  put_lds<uint32_t>(s, 64, 0xffffffff);
  put_lds<uint32_t>(s, 68, 29);
  run(s);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at), 30U);
  EXPECT_EQ(in_memory<uint64_t>(s, memory_at + 8), 300U);
  EXPECT_EQ(s.v(10, 0), 20U);
  EXPECT_EQ(s.v64(12, 0), 200U);
  EXPECT_EQ(in_lds<uint32_t>(s, 0), 20U);
  EXPECT_EQ(in_lds<uint64_t>(s, 8), 200U);
  EXPECT_EQ(s.v(14, 0), 30U);
  EXPECT_EQ(s.v64(16, 0), 300U);
  EXPECT_EQ(in_lds<uint32_t>(s, 64), (0xffffffffU & ~30U) | 20U);
  EXPECT_EQ(in_lds<uint32_t>(s, 68), 49U) << "less than the data: the second is added";
  EXPECT_EQ(s.v(19, 0), 29U);
}

TEST(Atomics, ConditionalExchange) {
  Snippet s = snippet("gfx942", "ds_condxchg32_rtn_b64 v[4:5], v0, v[2:3] offset:4");
  s.wave().set_exec(1);
  s.v(0, 0) = 6; // 10, cleared to a multiple of 8
  s.set_v64(2, 0, 0x0000'0005'8000'0007);
  put_lds<uint32_t>(s, 8, 111);
  put_lds<uint32_t>(s, 12, 222);
  run(s);
  EXPECT_EQ(in_lds<uint32_t>(s, 8), 7U);
  EXPECT_EQ(in_lds<uint32_t>(s, 12), 222U);
  EXPECT_EQ(s.v(4, 0), 111U);
  EXPECT_EQ(s.v(5, 0), 222U);
}

// --- floats

constexpr float denormal = 0x1p-130F;

struct FloatPair {
  float old, data;
};
const std::vector<FloatPair>& float_pairs() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  static const std::vector<FloatPair> pairs = {
      {1.5F, 2.25F}, {1, 0x1p-24F},        {1, 0x1.8p-24F}, {-0.0F, 0.0F},
      {0.0F, -0.0F}, {inf, -inf},          {inf, 1},        {nan, 1},
      {1, nan},      {denormal, denormal}, {denormal, 0},   {0x1p-126F, -denormal},
      {3, -7}};
  return pairs;
}

void expect_float(uint32_t got, float want, const char* what, size_t i) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(as_float(got)) && (got & 0x400000) != 0) << what << " " << i;
  else
    EXPECT_EQ(got, float_bits(want)) << what << " " << i;
}

TEST(Atomics, FloatAddsRoundToNearestWhateverModeSays) {
  const auto& pairs = float_pairs();
  Snippet s = snippet("gfx942", "ds_add_f32 v0, v2\nglobal_atomic_add_f32 v0, v2, s[2:3]");
  map_zeros(s, 4096);
  set_s64(s, 2, memory_at);
  s.wave().set_mode(0x3ff); // toward zero, denormals kept
  s.wave().set_exec((uint64_t{1} << pairs.size()) - 1);
  for (unsigned i = 0; i < pairs.size(); ++i) {
    s.v(0, i) = 4 * i;
    s.v(2, i) = float_bits(pairs[i].data);
    put_lds(s, 4 * i, pairs[i].old);
    put_memory(s, memory_at + 4 * i, pairs[i].old);
  }
  run(s);
  for (unsigned i = 0; i < pairs.size(); ++i) {
    const float sum = pairs[i].old + pairs[i].data;
    expect_float(in_lds<uint32_t>(s, 4 * i), sum, "lds", i);
    expect_float(in_memory<uint32_t>(s, memory_at + 4 * i), sum, "memory", i);
  }
}

// Table 53 of the CDNA4 manual, and gfx90a's memory.
TEST(Atomics, DenormalsInFloatAdds) {
  struct Case {
    const char* gpu;
    uint32_t mode;
    float lds, memory;
  };
  constexpr float kept = 0x1p-130F + 0x1p-131F;
  for (const Case& c : {Case{"gfx942", 0x3f0, kept, kept}, Case{"gfx942", 0x3c0, 0, kept},
                        Case{"gfx90a", 0x3f0, kept, 0}, Case{"gfx90a", 0x3c0, 0, 0}}) {
    Snippet s =
        snippet(c.gpu, "ds_add_f32 v0, v2\nglobal_atomic_add_f32 v0, v2, s[2:3]\n"
                       "ds_add_f64 v0, v[4:5] offset:8\nglobal_atomic_add_f64 v0, v[4:5], s[2:3] offset:8");
    map_zeros(s, 64);
    set_s64(s, 2, memory_at);
    s.wave().set_mode(c.mode & ~0xc0U); // 64-bit denormals flushed: no matter
    s.wave().set_exec(1);
    s.v(2, 0) = float_bits(0x1p-131F);
    s.set_v64(4, 0, std::bit_cast<uint64_t>(0x1p-1060));
    put_lds(s, 0, 0x1p-130F);
    put_memory(s, memory_at, 0x1p-130F);
    put_lds(s, 8, 0x1p-1061);
    put_memory(s, memory_at + 8, 0x1p-1061);
    run(s);
    EXPECT_EQ(in_lds<float>(s, 0), c.lds) << c.gpu << std::hex << c.mode;
    EXPECT_EQ(in_memory<float>(s, memory_at), c.memory) << c.gpu << std::hex << c.mode;
    EXPECT_EQ(in_lds<double>(s, 8), 0x1.8p-1060);
    EXPECT_EQ(in_memory<double>(s, memory_at + 8), 0x1.8p-1060);
  }
}

// 9.2.3: -0 < +0, quiet NaNs lose, signalling ones win and are quieted.
TEST(Atomics, MinimumAndMaximum) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double signalling = std::bit_cast<double>(uint64_t{0x7ff4000000000000});
  struct Case {
    double old, data, min, max;
  };
  const Case cases[] = {{1, 2, 1, 2},
                        {2, 1, 1, 2},
                        {-0.0, 0.0, -0.0, 0.0},
                        {0.0, -0.0, -0.0, 0.0},
                        {nan, 1, 1, 1},
                        {1, nan, 1, 1},
                        {nan, nan, nan, nan},
                        {inf, -inf, -inf, inf},
                        {1, signalling, nan, nan},
                        {signalling, 1, nan, nan}};
  for (const Case& c : cases) {
    Snippet s = snippet("gfx942", "ds_min_f64 v0, v[2:3]\nds_max_f64 v0, v[2:3] offset:8\n"
                                  "global_atomic_min_f64 v0, v[2:3], s[2:3]\n"
                                  "global_atomic_max_f64 v0, v[2:3], s[2:3] offset:8");
    map_zeros(s, 64);
    set_s64(s, 2, memory_at);
    s.wave().set_exec(1);
    s.set_v64(2, 0, std::bit_cast<uint64_t>(c.data));
    for (const unsigned at : {0U, 8U}) put_lds(s, at, c.old), put_memory(s, memory_at + at, c.old);
    run(s);
    const auto same = [](uint64_t got, double want) {
      return std::isnan(want) ? (got & 0x7ff8000000000000) == 0x7ff8000000000000
                              : got == std::bit_cast<uint64_t>(want);
    };
    EXPECT_TRUE(same(in_lds<uint64_t>(s, 0), c.min)) << c.old << " " << c.data;
    EXPECT_TRUE(same(in_lds<uint64_t>(s, 8), c.max)) << c.old << " " << c.data;
    EXPECT_TRUE(same(in_memory<uint64_t>(s, memory_at), c.min)) << c.old << " " << c.data;
    EXPECT_TRUE(same(in_memory<uint64_t>(s, memory_at + 8), c.max)) << c.old << " " << c.data;
  }
}

TEST(Atomics, FlushedComparisonsKeepWhatTheySelect) {
  Snippet s =
      snippet("gfx942", "ds_max_f32 v0, v2\nds_min_f32 v0, v3 offset:4\nds_cmpst_f32 v0, v2, v4 offset:8\n"
                        "ds_cmpst_f32 v0, v5, v4 offset:12");
  s.wave().set_mode(0x3c0);
  s.wave().set_exec(1);
  s.v(2, 0) = float_bits(denormal);
  s.v(3, 0) = float_bits(-1);
  s.v(4, 0) = float_bits(denormal);
  s.v(5, 0) = float_bits(4);
  put_lds(s, 0, denormal / 2);
  put_lds(s, 4, denormal);
  put_lds(s, 8, -0.0F);
  put_lds(s, 12, 3.0F);
  run(s);
  EXPECT_EQ(in_lds<float>(s, 0), denormal / 2) << "both count as 0";
  EXPECT_EQ(in_lds<float>(s, 4), -1);
  EXPECT_EQ(in_lds<uint32_t>(s, 8), 0U) << "equal, and what is stored is flushed";
  EXPECT_EQ(in_lds<float>(s, 12), 3);
}

uint16_t half(float value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}

TEST(Atomics, PackedAdds) {
  Snippet s =
      snippet("gfx950", "ds_pk_add_rtn_f16 v4, v0, v2\nds_pk_add_bf16 v0, v3 offset:4\n"
                        "global_atomic_pk_add_f16 v0, v2, s[2:3]\nflat_atomic_pk_add_bf16 v[6:7], v3\n"
                        "buffer_atomic_pk_add_bf16 v3, off, s[4:7], 0 offset:8");
  map_zeros(s, 64);
  set_s64(s, 2, memory_at);
  Resource{}.put(s, 4);
  s.wave().set_exec(1);
  s.set_v64(6, 0, memory_at + 4);
  const uint32_t old16 = half(1) | uint32_t{half(65504)} << 16,
                 data16 = half(0x1p-11F) | uint32_t{half(16)} << 16;
  // 1 + 2^-8 + 2^-9: a tie between bf16 neighbours goes to the even one, up here.
  const uint32_t old_bf = 0x3f81'3f80, data_bf = 0x3b80'3b80; // (1 + 2^-7, 1) + 2^-8
  s.v(2, 0) = data16;
  s.v(3, 0) = data_bf;
  put_lds(s, 0, old16), put_lds(s, 4, old_bf);
  put_memory(s, memory_at, old16), put_memory(s, memory_at + 4, old_bf), put_memory(s, memory_at + 8, old_bf);
  run(s);
  const uint32_t sum16 = half(1) | uint32_t{half(INFINITY)}
                                       << 16; // 1 + half an ulp: even; overflow at the tie
  EXPECT_EQ(in_lds<uint32_t>(s, 0), sum16);
  EXPECT_EQ(s.v(4, 0), old16);
  EXPECT_EQ(in_memory<uint32_t>(s, memory_at), sum16);
  for (const uint32_t sum :
       {in_lds<uint32_t>(s, 4), in_memory<uint32_t>(s, memory_at + 4), in_memory<uint32_t>(s, memory_at + 8)})
    EXPECT_EQ(sum, 0x3f82'3f80U);
}

// f16 sums against long arithmetic: all pairs of some bit patterns.
TEST(Atomics, HalfSumsAreRoundedOnce) {
  for (uint32_t a = 0; a < 0x7c00; a += 97)
    for (uint32_t b = 0; b < 0xfc00; b += 1013) {
      if ((b & 0x7fff) >= 0x7c00) continue;
      const auto x = static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(a)));
      const auto y = static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(b)));
      const auto want = std::bit_cast<uint16_t>(static_cast<_Float16>(x + y)); // exact, then rounded
      EXPECT_EQ(atomic_op::add_halves({}, {a}, {b}).bits & 0xffff, want) << std::hex << a << " " << b;
    }
}

TEST(Atomics, WavesOnManyThreadsLoseNothing) {
  AddressSpace memory;
  ASSERT_TRUE(memory.map({"counters", memory_at, 4096}).has_value());
  constexpr unsigned threads = 4, rounds = 200;
  std::string text;
  for (unsigned i = 0; i < rounds; ++i)
    text += "global_atomic_add v0, v2, s[2:3]\nglobal_atomic_add_f32 v0, v3, s[2:3] offset:1024\n";
  std::vector<std::jthread> pool;
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back([&] {
      Snippet s = snippet("gfx942", text);
      s.wave().memory = &memory;
      set_s64(s, 2, memory_at);
      for (unsigned l = 0; l < lanes; ++l) s.v(0, l) = l % 16 * 4, s.v(2, l) = 1, s.v(3, l) = float_bits(1);
      run(s);
    });
  pool.clear();
  for (unsigned i = 0; i < 16; ++i) {
    uint32_t n = 0;
    float f = 0;
    EXPECT_TRUE(memory.guest_read(memory_at + 4 * i, &n, 4));
    EXPECT_TRUE(memory.guest_read(memory_at + 1024 + 4 * i, &f, 4));
    EXPECT_EQ(n, threads * rounds * 4);
    EXPECT_EQ(f, static_cast<float>(threads * rounds * 4));
  }
}

} // namespace
} // namespace asmevo::emulator
