// AITer's matrix products of 8-bit numbers with scales.
#include "reference/aiter_parts.h"

namespace asmevo::reference {

namespace {

struct Sizes {
  size_t m, n, k;
  double splits;
};
Sizes sizes(const SuiteInputs& in) {
  return {in.size("m"), in.size("n"), in.size("k"), static_cast<double>(in.size("splits"))};
}

/// The kernels cut floats to bf16, toward zero. Where workgroups share a tile's k, each adds its part, cut
/// so, to the result, and the sum is rounded. With two of them the order does not matter.
Expected rounded(const Sizes& of, const Measured& product, const Numbers& errors) {
  Output out{
      .buffer = "out", .values = product.values, .relative = 2 * bfloat_rounding * 1.01, .own = errors};
  if (of.splits > 1)
    for (size_t i = 0; i < out.own.size(); ++i)
      out.own[i] += 2 * bfloat_rounding * std::min(product.magnitudes[i], 4 * product.wander[i]);
  return {{std::move(out)}};
}

Expected fp8_blockscale(const SuiteInputs& in) {
  const Sizes of = sizes(in);
  const Numbers a_scales = in.values("a_scales"), b_scales = in.values("b_scales");
  const auto scale = [&](size_t i, size_t j, size_t l) {
    return a_scales[l / 128 * of.m + i] * b_scales[j / 128 * (of.k / 128) + l / 128];
  };
  const Measured product =
      scaled_product(of.m, of.n, of.k, in.values("a"), unshuffled(in.values("b"), of.n, of.k, 1), scale);
  Numbers errors(product.values.size());
  for (size_t i = 0; i < errors.size(); ++i)
    errors[i] =
        sum_error(static_cast<double>(of.k), product.values[i], product.magnitudes[i], product.wander[i]);
  return rounded(of, product, errors);
}

/// The sum of products is exact; it, its two scalings and the bias are rounded to float.
Expected i8(const SuiteInputs& in) {
  const Sizes of = sizes(in);
  const Numbers a_scales = in.values("a_scales"), b_scales = in.values("b_scales"), bias = in.values("bias");
  const auto scale = [&](size_t i, size_t j, size_t) { return a_scales[i] * b_scales[j]; };
  Measured product =
      scaled_product(of.m, of.n, of.k, in.values("a"), unshuffled(in.values("b"), of.n, of.k, 1), scale);
  Numbers errors(product.values.size());
  for (size_t i = 0; i < errors.size(); ++i) {
    errors[i] = few * (std::abs(product.values[i]) + std::abs(bias[i % of.n]));
    product.values[i] += bias[i % of.n];
  }
  return rounded(of, product, errors);
}

} // namespace

std::vector<AiterKernel> aiter_gemm_kernels() {
  const std::string fp8 = "gfx942/fp8gemm_blockscale/fp8gemm_bf16_blockscale_BpreShuffle_";
  const std::string i8_object = "gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_";
  const std::vector<std::string> shapes = {"tiny", "odd", "split", "search"};
  return {
      {"gemm_fp8_blockscale_32x128", fp8 + "32x128.co", "gemm_fp8_blockscale", fp8_blockscale, shapes},
      {"gemm_fp8_blockscale_128x128",
       fp8 + "128x128.co",
       "gemm_fp8_blockscale",
       fp8_blockscale,
       {"large.odd"}},
      {"gemm_i8_16x128", i8_object + "16x128.co", "gemm_i8", i8, shapes},
      {"gemm_i8_160x128", i8_object + "160x128.co", "gemm_i8", i8, {"large.odd"}},
      {"gemm_i8_112x256", i8_object + "112x256.co", "gemm_i8", i8, {"wide.odd"}, true},
  };
}

} // namespace asmevo::reference
