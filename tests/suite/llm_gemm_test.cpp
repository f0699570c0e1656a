// Matrix products of language models' number formats.
//
// Products of such numbers are exact in float. The matrix cores cut products and sums 24 bits below the
// largest of a group: a sum of k is off by at most 2 * (k + 2) / 2^23 of its magnitude, and is rounded once
// more when it is written.
#include "reference/suite_llm.h"
#include "suite/suite_fixture.h"

#include <functional>

namespace asmevo::suite {
namespace {

using Numbers = std::vector<double>;

constexpr double half_rounding = 0x1p-11, bfloat_rounding = 0x1p-8;

double one(size_t, size_t, size_t) {
  return 1;
}

/// `rounding`: of the result. `product_error`: of each product, relative. gfx90a takes denormal inputs as
/// zero: that is less than 2^-14 of f16 times the other factor, a few times in a sum.
void expect_product(const SuiteRun& run, const Place& at, const reference::Measured& expected, size_t k,
                    double rounding, double product_error = 0) {
  const Numbers got = run.values("out");
  ASSERT_EQ(got.size(), expected.values.size());
  const double flushed = std::string(at.target) == "gfx90a" ? 4 * 6 * 0x1p-14 : 0;
  size_t wrong = 0, nonzero = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    nonzero += got[i] != 0;
    const double allowed =
        (static_cast<double>(2 * (k + 2)) * 0x1p-23 + product_error) * expected.magnitudes[i] +
        rounding * 1.01 * std::abs(expected.values[i]) + flushed;
    if (std::abs(got[i] - expected.values[i]) <= allowed) continue;
    if (wrong++ == 0)
      ADD_FAILURE() << run.label() << ": out[" << i << "] is " << got[i] << ", not " << expected.values[i];
  }
  EXPECT_EQ(wrong, 0U) << run.label();
  EXPECT_GT(nonzero, got.size() / 2) << run.label();
}

void check_plain(const SuiteRun& run, const Place& at, double rounding, double scale = 1) {
  const size_t k = run.size("k");
  expect_product(run, at,
                 reference::scaled_product(run.size("m"), run.size("n"), k, run.values("x"), run.values("w"),
                                           [&](size_t, size_t, size_t) { return scale; }),
                 k, rounding);
}

TEST(LlmGemm, F16) {
  on("llm_gemm_f16", all_targets,
     [](const SuiteRun& run, const Place& at) { check_plain(run, at, half_rounding); });
}

TEST(LlmGemm, Bf16) {
  on("llm_gemm_bf16", all_targets,
     [](const SuiteRun& run, const Place& at) { check_plain(run, at, bfloat_rounding); });
}

TEST(LlmGemm, I8IsExact) {
  on("llm_gemm_i8", all_targets, [](const SuiteRun& run, const Place&) {
    const auto expected = reference::scaled_product(run.size("m"), run.size("n"), run.size("k"),
                                                    run.values("x"), run.values("w"), one);
    expect_close(run, "out", expected.values, 0);
  });
}

TEST(LlmGemm, Fp8) {
  auto check = [](const SuiteRun& run, const Place& at) { check_plain(run, at, bfloat_rounding, 0.125); };
  on("llm_gemm_fp8", {{"tiny", "gfx942"}, {"odd", "gfx942"}}, check);
  on("llm_gemm_fp8_ocp", {{"tiny", "gfx950"}}, check);
}

TEST(LlmGemm, Fp8WithBlockScales) {
  auto check = [](const SuiteRun& run, const Place& at) {
    const Numbers x_scales = run.values("x_scales"), w_scales = run.values("w_scales");
    const size_t m = run.size("m"), k = run.size("k"), blocks = run.size("blocks");
    const auto expected = reference::scaled_product(
        m, run.size("n"), k, run.values("x"), run.values("w"), [&](size_t i, size_t j, size_t l) {
          return x_scales[l / 128 * m + i] * w_scales[j / 128 * blocks + l / 128];
        });
    expect_product(run, at, expected, k, bfloat_rounding);
  };
  on("llm_gemm_fp8_blocks", {{"tiny", "gfx942"}, {"odd", "gfx942"}}, check);
  on("llm_gemm_fp8_blocks_ocp", {{"tiny", "gfx950"}}, check);
}

TEST(LlmGemm, Int4) {
  on("llm_gemm_int4", all_targets, [](const SuiteRun& run, const Place& at) {
    const Numbers codes = run.values("codes"), scales = run.values("scales"), zeros = run.values("zeros");
    const size_t n = run.size("n"), k = run.size("k"), groups = run.size("groups");
    Numbers w(n * k);
    for (size_t i = 0; i < w.size(); ++i) {
      const size_t group = i / k * groups + i % k / 128;
      w[i] = (codes[i] - zeros[group]) * scales[group];
    }
    const auto expected = reference::scaled_product(run.size("m"), n, k, run.values("x"), w, one);
    // A weight is rounded to half precision.
    expect_product(run, at, expected, k, half_rounding, half_rounding);
  });
}

TEST(LlmGemm, Gather) {
  on("llm_gemm_gather", all_targets, [](const SuiteRun& run, const Place& at) {
    const size_t m = run.size("m"), n = run.size("n"), k = run.size("k");
    const Numbers x = run.values("x"), w = run.values("w"), rows = run.values("rows"),
                  adapter = run.values("adapter");
    reference::Measured expected{Numbers(m * n, 1), Numbers(m * n, 1)};
    for (size_t place = 0; place < rows.size(); ++place) {
      const auto row = static_cast<size_t>(rows[place]), a = static_cast<size_t>(adapter[place / 64]);
      if (row >= m) continue;
      const auto from = [](const Numbers& all, size_t first, size_t count) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        return Numbers(begin, begin + static_cast<std::ptrdiff_t>(count));
      };
      const auto product =
          reference::scaled_product(1, n, k, from(x, row * k, k), from(w, a * n * k, n * k), one);
      for (size_t j = 0; j < n; ++j) {
        expected.values[row * n + j] += 0.5 * product.values[j];
        expected.magnitudes[row * n + j] += 0.5 * product.magnitudes[j];
      }
    }
    expect_product(run, at, expected, k, half_rounding);
  });
}

} // namespace
} // namespace asmevo::suite
