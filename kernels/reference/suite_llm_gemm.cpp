// Matrix products of language models' number formats.
//
// Products of such numbers are exact in float. The matrix cores cut products and sums 24 bits below the
// largest of a group: a sum of k is off by at most 2 * (k + 2) / 2^23 of its magnitude. Most sums wander
// about zero and are never near their magnitude; so k / 2^23 of the result and of four times what is usual is
// as good a bound, and of a thousand products a much closer one. The result is rounded once more when it is
// written.
#include "reference/suite_llm.h"
#include "reference/suite_parts.h"

namespace asmevo::reference {

namespace {

constexpr double half_rounding = 0x1p-11, bfloat_rounding = 0x1p-8;

double one(size_t, size_t, size_t) {
  return 1;
}

/// All of the result, or the 128 by 128 numbers of a workgroup.
struct Tile {
  Block at;
  bool whole;
};
Tile whole(const SuiteInputs& in) {
  return {{0, 0, in.size("m"), in.size("n")}, true};
}
Tile tile_of(const SuiteInputs& in, const Workgroup& at) {
  return {block_of(at[1] * 128, at[0] * 128, 128, 128, in.size("m"), in.size("n")), false};
}
std::vector<size_t> indices(const SuiteInputs& in, const Tile& tile) {
  return tile.whole ? std::vector<size_t>{} : indices_of(in.size("n"), tile.at);
}

/// `rounding`: of the result. `product_error`: of each product, relative and either way, so that they add up
/// like the products do. gfx90a takes denormal inputs as zero: that is less than 2^-14 of f16 times the other
/// factor, a few times in a sum.
Expected out_is(const SuiteInputs& in, const Measured& product, double rounding, std::vector<size_t> at,
                double product_error = 0) {
  Output out{.buffer = "out",
             .values = product.values,
             .relative = rounding * 1.01,
             .absolute = in.target() == "gfx90a" ? 4 * 6 * 0x1p-14 : 0,
             .own = Numbers(product.values.size()),
             .indices = std::move(at)};
  const double k = static_cast<double>(in.size("k"));
  for (size_t i = 0; i < out.own.size(); ++i) {
    const double size = product.magnitudes[i], wander = product.wander[i];
    out.own[i] = 0x1p-23 * std::min(2 * (k + 2) * size, k * (std::abs(out.values[i]) + 4 * wander)) +
                 product_error * std::min(size, 8 * wander);
  }
  size_t clear = 0; // of zero
  for (size_t i = 0; i < out.values.size(); ++i) clear += std::abs(out.values[i]) > out.allowed(i);
  Expected expected{{std::move(out)}};
  if (2 * clear <= expected.outputs[0].values.size())
    expected.doubts.emplace_back("most results may be zero");
  return expected;
}

template <class Factor>
Measured tile_product(const SuiteInputs& in, const Block& tile, const Numbers& w, const Factor& factor) {
  const size_t k = in.size("k");
  return scaled_product(tile.rows, tile.columns, k, in.values("x", tile.row * k, tile.rows * k), w, factor);
}
Numbers weights(const SuiteInputs& in, const Block& tile) {
  const size_t k = in.size("k");
  return in.values("w", tile.column * k, tile.columns * k);
}

Expected half(const SuiteInputs& in, const Tile& tile) {
  return out_is(in, tile_product(in, tile.at, weights(in, tile.at), one), half_rounding, indices(in, tile));
}
Expected bfloat(const SuiteInputs& in, const Tile& tile) {
  return out_is(in, tile_product(in, tile.at, weights(in, tile.at), one), bfloat_rounding, indices(in, tile));
}
Expected fp8(const SuiteInputs& in, const Tile& tile) {
  const auto eighth = [](size_t, size_t, size_t) { return 0.125; };
  return out_is(in, tile_product(in, tile.at, weights(in, tile.at), eighth), bfloat_rounding,
                indices(in, tile));
}
Expected exact_i8(const SuiteInputs& in, const Tile& tile) {
  return {{{.buffer = "out",
            .values = tile_product(in, tile.at, weights(in, tile.at), one).values,
            .indices = indices(in, tile)}}};
}

Expected fp8_blocks(const SuiteInputs& in, const Tile& tile) {
  const Numbers x_scales = in.values("x_scales"), w_scales = in.values("w_scales");
  const size_t m = in.size("m"), blocks = in.size("blocks");
  const auto scale = [&](size_t i, size_t j, size_t l) {
    return x_scales[l / 128 * m + tile.at.row + i] * w_scales[(tile.at.column + j) / 128 * blocks + l / 128];
  };
  return out_is(in, tile_product(in, tile.at, weights(in, tile.at), scale), bfloat_rounding,
                indices(in, tile));
}

/// A weight is rounded to half precision.
Expected int4(const SuiteInputs& in, const Tile& tile) {
  const size_t k = in.size("k"), groups = in.size("groups"), columns = tile.at.columns;
  Numbers w = in.values("codes", tile.at.column * k, columns * k);
  const Numbers scales = in.values("scales", tile.at.column * groups, columns * groups);
  const Numbers zeros = in.values("zeros", tile.at.column * groups, columns * groups);
  for (size_t i = 0; i < w.size(); ++i) {
    const size_t group = i / k * groups + i % k / 128;
    w[i] = (w[i] - zeros[group]) * scales[group];
  }
  return out_is(in, tile_product(in, tile.at, w, one), half_rounding, indices(in, tile), half_rounding);
}

/// Adds half of the product of 64 gathered rows (those that exist) with their adapter's columns to `sums`;
/// `place(row)` says where in `sums` their rows are.
template <class Place>
void add_gathered(const SuiteInputs& in, size_t tile, const Block& columns, Measured& sums,
                  const Place& place) {
  const size_t m = in.size("m"), n = in.size("n"), k = in.size("k");
  const auto adapter = static_cast<size_t>(in.values("adapter", tile, 1)[0]);
  const Numbers w = in.values("w", (adapter * n + columns.column) * k, columns.columns * k);
  for (const double row : in.values("rows", tile * 64, 64)) {
    const auto own = static_cast<size_t>(row);
    if (own >= m) continue;
    const Measured product = scaled_product(1, columns.columns, k, in.values("x", own * k, k), w, one);
    const size_t first = place(own);
    for (size_t j = 0; j < columns.columns; ++j) {
      sums.values[first + j] += 0.5 * product.values[j];
      sums.magnitudes[first + j] += 0.5 * product.magnitudes[j];
      sums.wander[first + j] += 0.5 * product.wander[j];
    }
  }
}
Expected gather(const SuiteInputs& in) {
  const size_t n = in.size("n");
  const Numbers before = in.values("out");
  Measured sums{before, before, before}; // which is ones
  for (size_t tile = 0; tile < in.size("tiles"); ++tile)
    add_gathered(in, tile, {0, 0, 1, n}, sums, [&](size_t row) { return row * n; });
  return out_is(in, sums, half_rounding, {});
}
/// 64 gathered rows, and 128 columns.
Sample gather_part(const SuiteInputs& in, const Workgroup& at) {
  const size_t m = in.size("m"), n = in.size("n");
  const Block columns = block_of(0, at[0] * 128, 1, 128, 1, n);
  Measured sums;
  std::vector<size_t> indices;
  for (const double row : in.values("rows", at[1] * 64, 64)) {
    if (static_cast<size_t>(row) >= m) continue;
    const size_t first = static_cast<size_t>(row) * n + columns.column;
    const Numbers before = in.values("out", first, columns.columns);
    sums.values.insert(sums.values.end(), before.begin(), before.end());
    for (size_t j = 0; j < columns.columns; ++j) indices.push_back(first + j);
  }
  sums.magnitudes = sums.wander = sums.values;
  size_t rows = 0;
  add_gathered(in, at[1], columns, sums, [&](size_t) { return rows++ * columns.columns; });
  return {out_is(in, sums, half_rounding, std::move(indices))};
}

using Product = Expected (*)(const SuiteInputs&, const Tile&);
template <Product f>
SuiteKernel gemm(const std::string& format,
                 const std::vector<std::string>& targets = {"gfx942", "gfx90a", "gfx950"}) {
  const std::string kernel = "gemm_" + format.substr(0, format.find("_ocp"));
  return {
      .name = "llm_gemm_" + format,
      .k0 = kernel,
      .launch = [](const SuiteInputs& in) { return f(in, whole(in)); },
      .workgroup = [](const SuiteInputs& in, const Workgroup& at) { return Sample{f(in, tile_of(in, at))}; },
      .targets = targets};
}

} // namespace

std::vector<SuiteKernel> llm_gemm_kernels() {
  return {
      gemm<half>("f16"),
      gemm<bfloat>("bf16"),
      gemm<exact_i8>("i8"),
      gemm<fp8>("fp8", {"gfx942"}),
      gemm<fp8>("fp8_ocp", {"gfx950"}),
      gemm<fp8_blocks>("fp8_blocks", {"gfx942"}),
      gemm<fp8_blocks>("fp8_blocks_ocp", {"gfx950"}),
      gemm<int4>("int4"),
      {"llm_gemm_gather", "gemm_gather", gather, gather_part},
  };
}

} // namespace asmevo::reference
