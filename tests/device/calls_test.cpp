// Calls, stacks, private memory, data in the code object.
#include "device/kernel_runner.h"

#include <algorithm>
#include <array>

namespace asmevo::test {
namespace {

class Calls : public SampleTest {};
class Scratch : public SampleTest {};
class Globals : public SampleTest {};
ON_ALL_TARGETS(Calls);
ON_ALL_TARGETS(Scratch);
ON_ALL_TARGETS(Globals);

constexpr size_t n = 64 + 41; // work-items: the second wave is not full

TEST_P(Calls, StructsThroughTheStack) {
  run_everywhere("calls", [](KernelRunner& runner, Results& results) {
    using Matrix = std::array<float, 16>;
    const auto flat = random_reals<float>(n * 16, 1);
    std::vector<Matrix> in(n);
    for (size_t i = 0; i < n; ++i)
      std::copy_n(flat.begin() + static_cast<ptrdiff_t>(i) * 16, 16, in[i].begin());
    const auto out = runner.empty<Matrix>(n);
    if (!runner.launch("cube", line(n + 9, 64), runner.buffer(in), out, uint32_t{n})) return;
    const auto got = runner.read(out);
    auto product = [](const std::array<double, 16>& a, const std::array<double, 16>& b) {
      std::array<double, 16> c{};
      for (size_t i = 0; i < 16; ++i)
        for (size_t k = 0; k < 4; ++k) c[i] += a[i / 4 * 4 + k] * b[k * 4 + i % 4];
      return c;
    };
    for (size_t m = 0; m < n; ++m) {
      std::array<double, 16> x{};
      std::ranges::copy(in[m], x.begin());
      const auto expected = product(x, product(x, x));
      for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(got[m][i], expected[i], 1e-5);
    }
    results.add(got);
  });
}

double many(double a, int b, double c, int64_t d, float e, int16_t f, double g, double h, int i, double j,
            double k, double l, double m, double nn, double o, int64_t p, double q, double r, char s,
            double t) {
  return a - b + c * static_cast<double>(d) - static_cast<double>(e) + f * g + h - i * j + k * l - m * nn +
         o - static_cast<double>(p) + q * r - s + t;
}

TEST_P(Calls, ArgumentsBeyondTheRegisters) {
  run_everywhere("calls", [](KernelRunner& runner, Results& results) {
    const auto in = random_reals<double>(n, 2);
    const auto out = runner.empty<double>(n);
    if (!runner.launch("many_arguments", line(n, 64), runner.buffer(in), out)) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      const double x = in[i],
                   first = many(x, 2, 3, 4, 5, 6, x, 8, 9, 10, x, 12, 13, x, 15, 16, 17, x, 19, 20);
      EXPECT_NEAR(got[i], many(first, 1, x, 2, 3, 4, 5, x, 6, 7, 8, 9, x, 10, 11, 12, x, 13, 14, 15) + first,
                  1e-11);
    }
    results.add(got);
  });
}

TEST_P(Calls, VirtualFunctions) {
  run_everywhere("calls", [](KernelRunner& runner, Results& results) {
    const auto sizes = random_reals<float>(n, 3);
    const auto out = runner.empty<float>(n);
    if (!runner.launch("shapes", line(n, 64), runner.buffer(sizes), out)) return;
    const auto got = runner.read(out);
    constexpr double pi = 3.14159265358979;
    for (size_t i = 0; i < n; ++i) {
      const double s = sizes[i], area = i % 64 % 3 == 0 ? pi * s * s : s * s,
                   around = i % 64 % 3 == 0 ? 2 * pi * s : 4 * s;
      EXPECT_NEAR(got[i], area + 1000 * around, 2e-3);
    }
    results.add(got);
  });
}

int32_t operation(uint32_t which, int32_t a, int32_t b) {
  const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
  switch (which) {
  case 0: return static_cast<int32_t>(x + y);
  case 1: return static_cast<int32_t>(x - y);
  case 2: return static_cast<int32_t>(x * y);
  default:
    return static_cast<int32_t>(static_cast<uint32_t>(operation(x % 3, a, b)) +
                                static_cast<uint32_t>(operation(y % 3, b, a)));
  }
}

TEST_P(Calls, PointersThatDiffer) {
  run_everywhere("calls", [](KernelRunner& runner, Results& results) {
    constexpr int rounds = 5;
    const auto in = random_integers<int32_t>(n, 0, 1000, 4);
    const auto out = runner.empty<int32_t>(n);
    if (!runner.launch("indirect", line(n, 64), runner.buffer(in), out, rounds)) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      int32_t value = in[i];
      uint32_t sum = 0;
      for (int k = 0; k < rounds; ++k) {
        const int32_t result = operation(static_cast<uint32_t>(value + k) % 4, value, k + 3);
        sum = sum * 3 + static_cast<uint32_t>(result);
        value = result % 1001;
      }
      EXPECT_EQ(got[i], static_cast<int32_t>(sum + static_cast<uint32_t>(value)));
    }
    results.add(got);
  });
}

TEST_P(Calls, StackOfAnySize) {
  run_everywhere("calls", [](KernelRunner& runner, Results& results) {
    for (const uint32_t length : {1u, 13u}) {
      auto in = random_integers<int32_t>(n * length, -1000, 1000, 5);
      const auto out = runner.empty<int32_t>(n * length);
      if (!runner.launch("sort_rows", line(n, 64), runner.buffer(in), out, length)) return;
      for (size_t i = 0; i < n; ++i)
        std::sort(in.begin() + static_cast<ptrdiff_t>(i * length),
                  in.begin() + static_cast<ptrdiff_t>((i + 1) * length));
      EXPECT_EQ(runner.read(out), in);
      results.add(runner.read(out));
    }
  });
}

TEST_P(Calls, MutualRecursion) {
  run_everywhere("calls", [](KernelRunner& runner, Results& results) {
    const auto in = random_integers<int32_t>(n, 0, 12, 6);
    const auto out = runner.empty<int32_t>(n);
    if (!runner.launch("mutual", line(n, 64), runner.buffer(in), out)) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      // Even steps, the first included, add 1 to the one counter; odd steps 2 to the other.
      const int even = in[i] / 2 + 1, odd = (in[i] + 1) / 2;
      EXPECT_EQ(got[i], even * 100 + 2 * odd);
    }
    results.add(got);
  });
}

TEST_P(Calls, DeviceFunctions) {
  run_everywhere("device_function", [](KernelRunner& runner, Results& results) {
    auto polynomial = [](double x, int degree) {
      double value = 0;
      for (int i = 0; i <= degree; ++i) value = value * x + i;
      return value;
    };
    const auto x = random_reals<float>(n, 7);
    const auto once = runner.buffer(x), twice = runner.buffer(x);
    if (!runner.launch("evaluate", line(n, 64), once, 5) ||
        !runner.launch("evaluate_twice", line(n, 64), twice, 2))
      return;
    const auto got = runner.read(once), got_twice = runner.read(twice);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(got[i], polynomial(x[i], 5), 1e-5);
      EXPECT_NEAR(got_twice[i], polynomial(polynomial(x[i], 2), 3), 1e-4);
    }
    results.add(got);

    const auto numbers = random_integers<uint32_t>(n, 1, 60, 8);
    const auto steps = runner.buffer(numbers);
    if (!runner.launch("collatz_steps", line(n, 64), steps)) return;
    const auto got_steps = runner.read(steps);
    for (size_t i = 0; i < n; ++i) {
      uint32_t count = 0;
      for (uint32_t v = numbers[i]; v > 1; ++count) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
      EXPECT_EQ(got_steps[i], count);
    }
    results.add(got_steps);

    for (uint32_t which = 0; which < 3; ++which) {
      const auto values = random_integers<int32_t>(n, -1000, 1000, 9);
      const auto in_out = runner.buffer(values);
      if (!runner.launch("apply", line(n, 64), in_out, which)) return;
      const auto applied = runner.read(in_out);
      for (size_t i = 0; i < n; ++i)
        EXPECT_EQ(applied[i], which == 0 ? 2 * values[i] : which == 1 ? values[i] * values[i] : -values[i]);
    }
  });
}

TEST_P(Scratch, OwnHistograms) {
  run_everywhere("scratch", [](KernelRunner& runner, Results& results) {
    const auto in = random_bits<uint8_t>(n * 61, 10);
    const auto out = runner.empty<uint32_t>(n * 9);
    if (!runner.launch("own_histogram", line(n, 64), runner.buffer(in), out)) return;
    std::vector<uint32_t> expected(n * 9);
    for (size_t i = 0; i < in.size(); ++i) ++expected[i / 61 * 9 + in[i] % 9];
    EXPECT_EQ(runner.read(out), expected);
    results.add(runner.read(out));
  });
}

template <class T>
void check_walk(KernelRunner& runner, Results& results, const char* kernel) {
  constexpr uint32_t step = 7;
  const auto in = random_bits<T>(n, 11);
  const auto out = runner.empty<T>(n);
  if (!runner.launch(kernel, line(n, 64), runner.buffer(in), out, uint32_t{n}, step)) return;
  const auto got = runner.read(out);
  for (size_t i = 0; i < n; ++i) {
    std::array<T, 23> own{};
    for (size_t k = 0; k < 23; ++k) own[k * step % 23] = in[(i + k) % n];
    T sum = 0;
    for (size_t k = 0; k < 23; ++k) sum = static_cast<T>(sum * 3 + own[22 - k]);
    EXPECT_EQ(got[i], sum) << kernel;
  }
  results.add(got);
}

TEST_P(Scratch, ElementsOfEverySize) {
  run_everywhere("scratch", [](KernelRunner& runner, Results& results) {
    check_walk<uint8_t>(runner, results, "walk_u8");
    check_walk<int16_t>(runner, results, "walk_i16");
    check_walk<uint32_t>(runner, results, "walk_u32");
    check_walk<uint64_t>(runner, results, "walk_u64");

    using Quad = std::array<uint32_t, 4>;
    const auto flat = random_bits<uint32_t>(n * 4, 12);
    std::vector<Quad> in(n);
    for (size_t i = 0; i < n; ++i)
      std::copy_n(flat.begin() + static_cast<ptrdiff_t>(i) * 4, 4, in[i].begin());
    const auto out = runner.empty<Quad>(n);
    if (!runner.launch("walk_quads", line(n, 64), runner.buffer(in), out, uint32_t{n}, uint32_t{3})) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < n; ++i) {
      std::array<Quad, 7> own{};
      for (size_t k = 0; k < 7; ++k) own[k * 3 % 7] = in[(i + k) % n];
      Quad sum{};
      for (size_t k = 0; k < 7; ++k)
        for (size_t d = 0; d < 4; ++d) sum[d] = sum[d] * 5 + own[6 - k][(d + k) % 4];
      EXPECT_EQ(got[i], sum);
    }
    results.add(got);
  });
}

TEST_P(Scratch, PointersToAnyMemory) {
  run_everywhere("scratch", [](KernelRunner& runner, Results& results) {
    const auto memory = random_integers<int32_t>(n * 4, -1000, 1000, 13);
    const auto in_out = runner.buffer(memory);
    const auto out = runner.empty<int32_t>(n * 3);
    if (!runner.launch("anywhere", line(n, 64), in_out, out)) return;
    const auto got = runner.read(out), got_memory = runner.read(in_out);
    auto expected_memory = memory;
    for (size_t i = 0; i < n; ++i) {
      const auto lane = static_cast<int32_t>(i % 64);
      std::array<int32_t, 4> own{}, local{};
      for (int32_t k = 0; k < 4; ++k) {
        own[static_cast<size_t>(k)] = static_cast<int32_t>(i) * 3 + k;
        local[static_cast<size_t>(k)] = lane * 5 - k;
      }
      int32_t* from = lane % 3 == 0 ? own.data() : lane % 3 == 1 ? local.data() : &expected_memory[i * 4];
      int32_t sum = 0;
      for (size_t k = 0; k < 4; ++k) from[k] = sum += from[k];
      EXPECT_EQ(got[i * 3], sum);
      EXPECT_EQ(got[i * 3 + 1], own[3]);
      EXPECT_EQ(got[i * 3 + 2], local[3]);
    }
    EXPECT_EQ(got_memory, expected_memory);
    results.add(got);
  });
}

TEST_P(Scratch, Spills) {
  run_everywhere("scratch", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t length = 5, count = 100, items = 64;
    const auto in = random_integers<float>(length, -9, 9, 14);
    const auto out = runner.empty<float>(items);
    if (!runner.launch("spills", line(items, 64), runner.buffer(in), out, length)) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < items; ++i) {
      std::array<double, count> sums{};
      for (size_t k = 0; k < count; ++k) sums[k] = static_cast<double>(k);
      for (size_t at = 0; at < length; ++at)
        for (size_t k = 0; k < count; ++k) // in place: the last takes the new first
          sums[k] = sums[(k + 1) % count] + double{in[(i + at) % length]} * static_cast<double>(k % 7);
      double total = 0;
      for (size_t k = 0; k < count; ++k) total += sums[k] * static_cast<double>(k % 5);
      EXPECT_EQ(got[i], total);
    }
    results.add(got);
  });
}

TEST_P(Globals, ConstantsAndTables) {
  run_everywhere("globals", [](KernelRunner& runner, Results& results) {
    constexpr double weights[8] = {0.5, 0.25, 0.125, 1, 2, 4, 8, 16};
    constexpr double primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
    // One wave of 8: each lane has a weight of its own, and leaves another.
    const auto values = random_reals<float>(8, 15);
    const auto index = random_integers<uint32_t>(8, 0, 100, 16);
    const auto in_out = runner.buffer(values);
    const auto primes_at = runner.buffer(index);
    if (!runner.launch("weigh", line(8, 8), in_out, primes_at)) return;
    const auto once = runner.read(in_out);
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(once[i], values[i] * weights[i] * primes[index[i] % 16], 1e-4);
    // The second launch sees what the first left in the global variable.
    if (!runner.launch("weigh", line(8, 8), in_out, primes_at)) return;
    const auto twice = runner.read(in_out);
    for (size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(twice[i], double{once[i]} * once[i] * primes[index[i] % 16], 1e-6 * std::abs(twice[i]));
    results.add(twice);

    const auto choose = runner.buffer(std::vector<int32_t>{3, 0, 5, 1, 2, 4, 7, 123});
    if (!runner.launch("choose", line(7, 7), choose)) return;
    const std::vector<int32_t> expected = {1234567, 17, 1 << 20, -4, 99, 8, 123, 123};
    EXPECT_EQ(runner.read(choose), expected);
    results.add(runner.read(choose));
  });
}

} // namespace
} // namespace asmevo::test
