// Samples whose work-items have nothing to do with each other: arithmetic of all types, memory accesses of
// all widths.
#include "device/kernel_runner.h"
#include "reference/elementwise.h"
#include "reference/integers.h"

#include <algorithm>
#include <limits>

namespace asmevo::test {
namespace {

class Elementwise : public SampleTest {};
ON_ALL_TARGETS(Elementwise);

constexpr uint32_t workgroup = 96; // a full wave and half of one

/// Codes of a format: ordinary values, whole numbers, neighbours of 1, and every kind of special one.
template <class Code>
std::vector<Code> float_codes(const reference::NumberFormat& format, size_t count, uint64_t seed,
                              double largest) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> pick(-1, 1);
  const uint64_t infinity = format.exponent_mask(), one = reference::encode(format, 1);
  const uint64_t specials[] = {0,
                               format.sign_bit(),
                               1,
                               format.sign_bit() | 3,
                               uint64_t{1} << format.mantissa_bits,
                               infinity,
                               format.sign_bit() | infinity,
                               infinity | (infinity >> 1 & ~infinity) |
                                   uint64_t{1} << (format.mantissa_bits - 1),
                               infinity - 1,
                               one,
                               one + 1,
                               one - 1};
  std::vector<Code> codes(count);
  for (size_t i = 0; i < count; ++i) {
    double value = pick(random) * largest;
    if (i % 4 == 1) value = std::round(value);
    if (i % 4 == 2) value = pick(random);
    codes[i] = static_cast<Code>(reference::encode(format, value));
    if (i % 4 == 3 && random() % 2 == 0)
      codes[i] = static_cast<Code>(specials[random() % std::size(specials)]);
  }
  return codes;
}

template <class Code, class Rows>
void compare_rows(const reference::NumberFormat& format, const std::vector<Code>& got, size_t n,
                  const Rows& rows) {
  for (size_t i = 0; i < n; ++i) {
    const std::vector<reference::Expected> expected = rows(i);
    ASSERT_EQ(expected.size() * n, got.size());
    for (size_t r = 0; r < expected.size(); ++r) {
      const double value = reference::decode(format, got[r * n + i]);
      EXPECT_TRUE(reference::close_enough(format, expected[r], value))
          << expected[r].name << " of element " << i << ": " << value << " instead of " << expected[r].value;
    }
  }
}

template <class Code>
void check_arithmetic(KernelRunner& runner, Results& results, const char* kernel,
                      const reference::NumberFormat& format) {
  constexpr size_t n = 301;
  // Some operands are multiples of each other, so that divisions come out even.
  const auto x = float_codes<Code>(format, n, 1, 1000);
  auto y = float_codes<Code>(format, n, 2, 30);
  for (size_t i = 0; i < n; i += 17) y[i] = x[i];
  const size_t rows = reference::arithmetic(format, 1, 1).size();
  const auto out = runner.empty<Code>(rows * n);
  if (!runner.launch(kernel, line(n + 50, workgroup), runner.buffer(x), runner.buffer(y), out, uint32_t{n}))
    return;
  const auto got = runner.read(out);
  compare_rows(format, got, n, [&](size_t i) {
    return reference::arithmetic(format, reference::decode(format, x[i]), reference::decode(format, y[i]));
  });
  results.add(got);
}

TEST_P(Elementwise, ArithmeticF32) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    check_arithmetic<uint32_t>(runner, results, "arithmetic_f32", reference::f32);
  });
}
TEST_P(Elementwise, ArithmeticF16) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    check_arithmetic<uint16_t>(runner, results, "arithmetic_f16", reference::f16);
  });
}
TEST_P(Elementwise, ArithmeticBf16) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    check_arithmetic<uint16_t>(runner, results, "arithmetic_bf16", reference::bf16);
  });
}
TEST_P(Elementwise, ArithmeticF64) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    check_arithmetic<uint64_t>(runner, results, "arithmetic_f64", reference::f64);
  });
}

template <class Code>
void check_functions(KernelRunner& runner, Results& results, const char* kernel,
                     const reference::NumberFormat& format) {
  constexpr size_t n = 333;
  auto x = float_codes<Code>(format, n, 3, 40);
  std::erase_if(x, [&](Code c) {
    const double value = std::abs(reference::decode(format, c));
    return value > 100 && !std::isinf(value);
  });
  const auto count = static_cast<uint32_t>(x.size());
  const auto out = runner.empty<Code>(reference::functions(format, 1).size() * count);
  if (!runner.launch(kernel, line(n, workgroup), runner.buffer(x), out, count)) return;
  const auto got = runner.read(out);
  compare_rows(format, got, count,
               [&](size_t i) { return reference::functions(format, reference::decode(format, x[i])); });
  results.add(got);
}

TEST_P(Elementwise, FunctionsF32) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    check_functions<uint32_t>(runner, results, "functions_f32", reference::f32);
  });
}
TEST_P(Elementwise, FunctionsF16) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    check_functions<uint16_t>(runner, results, "functions_f16", reference::f16);
  });
}

TEST_P(Elementwise, Conversions) {
  run_everywhere("elementwise", [](KernelRunner& runner, Results& results) {
    constexpr size_t n = 217;
    const auto codes = float_codes<uint64_t>(reference::f64, n, 4, 1e9);
    std::vector<double> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = std::bit_cast<double>(codes[i]) * (i % 3 == 0 ? 1 : 1e-5);
    const auto out = runner.empty<double>(6 * n);
    if (!runner.launch("convert", line(n, workgroup), runner.buffer(x), out, uint32_t{n})) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      const double single = reference::rounded(reference::f32, x[i]);
      const double whole = std::abs(x[i]) < 0x1p62 ? std::trunc(x[i]) : 0;
      const double expected[] = {
          single, reference::rounded(reference::f16, single), reference::rounded(reference::bf16, single),
          whole,  reference::rounded(reference::f32, whole),  std::abs(whole)};
      for (size_t r = 0; r < 6; ++r) {
        if (r >= 3 && !(std::abs(x[i]) < 0x1p62)) continue;
        if (std::isnan(expected[r]))
          EXPECT_TRUE(std::isnan(got[r * n + i])) << "row " << r << " of " << x[i];
        else
          EXPECT_EQ(got[r * n + i], expected[r]) << "row " << r << " of " << x[i];
      }
    }
    results.add(got);
  });
}

template <class T>
void check_integers(KernelRunner& runner, Results& results, const char* kernel) {
  constexpr size_t n = 230;
  auto x = random_bits<T>(n, 5), y = random_bits<T>(n, 6);
  const T corners[] = {0,
                       1,
                       T(-1),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max(),
                       7,
                       T(-7),
                       T(1) << (sizeof(T) * 4)};
  for (size_t i = 0; i < 64; ++i) {
    x[i] = corners[i / 8];
    y[i] = corners[i % 8];
  }
  for (size_t i = 64; i < n; i += 2) y[i] = static_cast<T>(y[i] >> (i % (sizeof(T) * 8)));
  const size_t rows = reference::integer_rows<T>(1, 1).size();
  const auto out = runner.empty<T>(rows * n);
  if (!runner.launch(kernel, line(n + 20, workgroup), runner.buffer(x), runner.buffer(y), out, uint32_t{n}))
    return;
  const auto got = runner.read(out);
  for (size_t i = 0; i < n; ++i) {
    const auto expected = reference::integer_rows(x[i], y[i]);
    for (size_t r = 0; r < rows; ++r)
      EXPECT_EQ(got[r * n + i], expected[r]) << kernel << " row " << r << " of " << x[i] << ", " << y[i];
  }
  results.add(got);
}

TEST_P(Elementwise, Integers32) {
  run_everywhere("integers", [](KernelRunner& runner, Results& results) {
    check_integers<int32_t>(runner, results, "arithmetic_i32");
    check_integers<uint32_t>(runner, results, "arithmetic_u32");
  });
}
TEST_P(Elementwise, Integers64) {
  run_everywhere("integers", [](KernelRunner& runner, Results& results) {
    check_integers<int64_t>(runner, results, "arithmetic_i64");
    check_integers<uint64_t>(runner, results, "arithmetic_u64");
  });
}

TEST_P(Elementwise, Integers16) {
  run_everywhere("integers", [](KernelRunner& runner, Results& results) {
    constexpr size_t n = 150;
    const auto x = random_bits<int16_t>(n, 7), y = random_bits<int16_t>(n, 8);
    const auto out = runner.empty<int16_t>(5 * n);
    if (!runner.launch("arithmetic_i16", line(n, 64), runner.buffer(x), runner.buffer(y), out, uint32_t{n}))
      return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(got[i], static_cast<int16_t>(x[i] + y[i]));
      EXPECT_EQ(got[n + i], static_cast<int16_t>(x[i] * y[i]));
      EXPECT_EQ(got[2 * n + i], std::clamp(x[i] + y[i], -32768, 32767));
      EXPECT_EQ(got[3 * n + i], std::max(x[i], y[i]));
      EXPECT_EQ(got[4 * n + i], x[i] >> (y[i] & 15));
    }
    results.add(got);
  });
}

TEST_P(Elementwise, DotProducts) {
  run_everywhere("integers", [](KernelRunner& runner, Results& results) {
    constexpr size_t n = 70;
    const auto x = random_bits<uint32_t>(n, 9), y = random_bits<uint32_t>(n, 10);
    const auto out = runner.empty<uint32_t>(6 * n);
    if (!runner.launch("dots", line(n, 64), runner.buffer(x), runner.buffer(y), out, uint32_t{n})) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      int64_t signed_sum = 11, pairs = -3;
      uint32_t sum = 11, differences = 5;
      for (unsigned b = 0; b < 4; ++b) {
        const auto p = static_cast<uint8_t>(x[i] >> 8 * b), q = static_cast<uint8_t>(y[i] >> 8 * b);
        signed_sum += static_cast<int8_t>(p) * static_cast<int8_t>(q);
        sum += uint32_t{p} * q;
        differences += p > q ? p - q : q - p;
      }
      for (unsigned h = 0; h < 2; ++h)
        pairs += static_cast<int16_t>(x[i] >> 16 * h) * static_cast<int16_t>(y[i] >> 16 * h);
      // Bytes 7 to 4 are those of x, 3 to 0 those of y; 12 and above stand for a constant 0.
      const uint32_t permuted = (x[i] >> 24) << 24 | (x[i] >> 8 & 0xff) << 16 | (y[i] >> 16 & 0xff);
      EXPECT_EQ(got[i], static_cast<uint32_t>(signed_sum));
      EXPECT_EQ(got[n + i], sum);
      EXPECT_EQ(got[2 * n + i], static_cast<uint32_t>(pairs));
      EXPECT_EQ(got[3 * n + i], permuted);
      EXPECT_EQ(got[4 * n + i], x[i] << 8 | y[i] >> 24);
      EXPECT_EQ(got[5 * n + i], differences);
    }
    results.add(got);
  });
}

TEST_P(Elementwise, Saxpy) {
  run_everywhere("saxpy", [](KernelRunner& runner, Results& results) {
    for (const uint32_t n : {1u, 64u, 333u}) {
      const auto x = random_reals<float>(n, 11), y = random_reals<float>(n, 12);
      const auto in_out = runner.buffer(y);
      if (!runner.launch("saxpy", line(n, workgroup), 1.5f, runner.buffer(x), in_out, n)) return;
      const auto got = runner.read(in_out);
      for (size_t i = 0; i < n; ++i) EXPECT_NEAR(got[i], 1.5 * x[i] + y[i], 2e-7);
      results.add(got);

      const auto x64 = random_reals<double>(n, 13), y64 = random_reals<double>(n, 14);
      const auto in_out64 = runner.buffer(y64);
      if (!runner.launch("saxpy_strided", line(70, 35), -0.7, runner.buffer(x64), in_out64, n, uint32_t{70}))
        return;
      const auto got64 = runner.read(in_out64);
      for (size_t i = 0; i < n; ++i) EXPECT_NEAR(got64[i], -0.7 * x64[i] + y64[i], 1e-15);
      results.add(got64);
    }
  });
}

TEST_P(Elementwise, VectorsWithTails) {
  run_everywhere("vector_access", [](KernelRunner& runner, Results& results) {
    for (const uint32_t n : {3u, 256u, 771u}) {
      const auto x = random_reals<float>(n, 15);
      const auto out = runner.empty<float>(n);
      if (!runner.launch("scale_f32x4", line((n + 3) / 4, 64), runner.buffer(x), out, 3.0f, n)) return;
      const auto got = runner.read(out);
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(got[i], x[i] * 3.0f);
      results.add(got);

      std::vector<uint16_t> a(n), b(n);
      const auto reals = random_reals<double>(2 * n, 16);
      for (size_t i = 0; i < n; ++i) {
        a[i] = static_cast<uint16_t>(reference::encode(reference::f16, reals[i]));
        b[i] = static_cast<uint16_t>(reference::encode(reference::f16, reals[n + i]));
      }
      const auto sums = runner.empty<uint16_t>(n), packed = runner.empty<uint16_t>(2 * n);
      if (!runner.launch("add_f16x8", line((n + 7) / 8, 64), runner.buffer(a), runner.buffer(b), sums, n))
        return;
      if (!runner.launch("pack_halves", line(n, 128), runner.buffer(a), runner.buffer(b), packed, n)) return;
      const auto got_sums = runner.read(sums), got_packed = runner.read(packed);
      auto half = [](uint16_t code) { return reference::decode(reference::f16, code); };
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(half(got_sums[i]), reference::rounded(reference::f16, half(a[i]) + half(b[i])));
        EXPECT_EQ(half(got_packed[2 * i]),
                  reference::rounded(reference::f16, half(b[i]) * half(a[n - 1 - i])));
        EXPECT_EQ(half(got_packed[2 * i + 1]),
                  reference::rounded(reference::f16, half(a[i]) * half(b[n - 1 - i])));
      }
      results.add(got_sums);
      results.add(got_packed);
    }
  });
}

TEST_P(Elementwise, RowsOfAnyLength) {
  run_everywhere("vector_access", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t rows = 70;
    for (const uint32_t columns : {1u, 4u, 13u}) {
      const auto x = random_integers<float>(rows * columns, -1000, 1000, columns);
      const auto out = runner.empty<float>(rows);
      if (!runner.launch("row_sums", line(rows, 64), runner.buffer(x), out, columns)) return;
      const auto got = runner.read(out);
      for (size_t r = 0; r < rows; ++r) {
        float sum = 0;
        for (size_t c = 0; c < columns; ++c) sum += x[r * columns + c];
        EXPECT_EQ(got[r], sum);
      }
      results.add(got);
    }
  });
}

TEST_P(Elementwise, BytesAndStructs) {
  run_everywhere("vector_access", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t pairs = 145;
    const auto x = random_bits<uint8_t>(2 * pairs, 17);
    const auto even = runner.empty<int16_t>(pairs);
    const auto odd = runner.empty<uint16_t>(pairs);
    const auto sum = runner.empty<int8_t>(pairs);
    if (!runner.launch("split_bytes", line(pairs, 64), runner.buffer(x), even, odd, sum, pairs)) return;
    const auto got_even = runner.read(even);
    const auto got_odd = runner.read(odd);
    const auto got_sum = runner.read(sum);
    for (size_t i = 0; i < pairs; ++i) {
      EXPECT_EQ(got_even[i], static_cast<int8_t>(x[2 * i]));
      EXPECT_EQ(got_odd[i], x[2 * i + 1]);
      EXPECT_EQ(got_sum[i], static_cast<int8_t>(x[2 * i] + x[2 * i + 1]));
    }
    results.add(got_even);
    results.add(got_odd);
    results.add(got_sum);

    struct Step {
      float x, y, z;
      double seconds;
      int16_t count;
    };
    const auto bodies = random_reals<float>(3 * 77, 18);
    const auto in_out = runner.buffer(bodies);
    if (!runner.launch("move_bodies", line(77, 64), in_out, Step{1, -2, 0.5, 0.25, 3}, uint32_t{77})) return;
    const auto moved = runner.read(in_out);
    const double velocity[] = {1, -2, 0.5};
    for (size_t i = 0; i < moved.size(); ++i) EXPECT_NEAR(moved[i], bodies[i] + velocity[i % 3] * 0.75, 1e-6);
    results.add(moved);
  });
}

} // namespace
} // namespace asmevo::test
