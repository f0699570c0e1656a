// Matrix instructions of every type the targets have, on their own and in products of matrices of any size.
#include "device/kernel_runner.h"
#include "reference/matrix.h"
#include "reference/number_formats.h"

namespace asmevo::test {
namespace {

using reference::NumberFormat;

class Matrices : public SampleTest {};
ON_ALL_TARGETS(Matrices);

enum class Kind { Float, Double, Integer };

/// A kernel of samples/mfma_tiles.hip.
struct Tile {
  std::string kernel;
  Kind kind;
  size_t m, n, k, blocks;
  NumberFormat a{}, b{};
};

NumberFormat format_of(std::string_view type, bool fnuz) {
  if (type == "f16") return reference::f16;
  if (type == "bf16") return reference::bf16;
  if (type == "fp8") return fnuz ? reference::e4m3_fnuz : reference::e4m3;
  if (type == "bf8") return fnuz ? reference::e5m2_fnuz : reference::e5m2;
  return type == "f64" ? reference::f64 : reference::f32;
}

/// From a kernel's name: "bf16_32x32x4_2b", "fp8_bf8_16x16x32".
Tile tile_of(const std::string& kernel, bool fnuz) {
  Tile t{kernel, Kind::Float, 0, 0, 0, 1};
  size_t at = kernel.find('_');
  const std::string first = kernel.substr(0, at);
  std::string second = first;
  if (kernel.find('x', at) > kernel.find('8', at) && kernel[at + 1] > '9') {
    second = kernel.substr(at + 1, 3);
    at += 4;
  }
  t.blocks = 1;
  EXPECT_GE(std::sscanf(kernel.c_str() + at, "_%zux%zux%zu_%zub", &t.m, &t.n, &t.k, &t.blocks), 3);
  t.kind = first == "i8" ? Kind::Integer : first == "f64" ? Kind::Double : Kind::Float;
  t.a = format_of(first, fnuz);
  t.b = format_of(second, fnuz);
  return t;
}

/// Finite codes whose values are of moderate size.
std::vector<uint64_t> finite_codes(const NumberFormat& format, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> pick(-2, 2);
  std::vector<uint64_t> codes(count);
  for (uint64_t& c : codes) {
    if (format.bits() > 8) {
      c = reference::encode(format, pick(random));
      continue;
    }
    do c = random() & ((uint64_t{1} << format.bits()) - 1);
    while (!std::isfinite(reference::decode(format, c)) || std::abs(reference::decode(format, c)) > 64);
  }
  return codes;
}

std::vector<double> values_of(const NumberFormat& format, const std::vector<uint64_t>& codes) {
  std::vector<double> values;
  for (const uint64_t c : codes) values.push_back(reference::decode(format, c));
  return values;
}

/// Codes one after another in their own width.
std::vector<uint8_t> narrowed(const NumberFormat& format, const std::vector<uint64_t>& codes) {
  const auto width = static_cast<size_t>(format.bits() + 7) / 8;
  std::vector<uint8_t> bytes(codes.size() * width);
  for (size_t i = 0; i < codes.size(); ++i) std::memcpy(&bytes[i * width], &codes[i], width);
  return bytes;
}

constexpr uint32_t steps = 2;

void check_float_tile(KernelRunner& runner, Results& results, const Tile& t) {
  const size_t k = t.k * steps;
  const auto a = finite_codes(t.a, t.blocks * t.m * k, 1), b = finite_codes(t.b, t.blocks * t.n * k, 2);
  const auto c = random_reals<float>(t.blocks * t.m * t.n, 3);
  const auto d = runner.empty<float>(c.size());
  if (!runner.launch(t.kernel, line(64, 64), runner.buffer(narrowed(t.a, a)), runner.buffer(narrowed(t.b, b)),
                     runner.buffer(c), d, steps))
    return;
  const auto got = runner.read(d);
  const auto expected =
      reference::product(t.blocks, t.m, t.n, k, values_of(t.a, a), values_of(t.b, b), {c.begin(), c.end()});
  // xf32 drops 13 bits of each input; the sums of the others lose less than 2^-17 (docs/emulator.md).
  const double bound = t.kernel.starts_with("xf32") ? 0x1p-9 : 0x1p-17;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected.values[i], bound * expected.magnitudes[i]) << t.kernel << " element " << i;
  results.add(got);
}

void check_double_tile(KernelRunner& runner, Results& results, const Tile& t) {
  const size_t k = t.k * steps;
  const auto a = random_reals<double>(t.blocks * t.m * k, 4), b = random_reals<double>(t.blocks * t.n * k, 5),
             c = random_reals<double>(t.blocks * t.m * t.n, 6);
  const auto d = runner.empty<double>(c.size());
  if (!runner.launch(t.kernel, line(64, 64), runner.buffer(a), runner.buffer(b), runner.buffer(c), d, steps))
    return;
  const auto got = runner.read(d);
  EXPECT_EQ(got, reference::product(t.blocks, t.m, t.n, k, a, b, c).values)
      << t.kernel; // the same chain of fma
  results.add(got);
}

void check_integer_tile(KernelRunner& runner, Results& results, const Tile& t) {
  const size_t k = t.k * steps;
  const auto a = random_bits<int8_t>(t.blocks * t.m * k, 7), b = random_bits<int8_t>(t.blocks * t.n * k, 8);
  const auto c = random_integers<int32_t>(t.blocks * t.m * t.n, -1000000, 1000000, 9);
  const auto d = runner.empty<int32_t>(c.size());
  if (!runner.launch(t.kernel, line(64, 64), runner.buffer(a), runner.buffer(b), runner.buffer(c), d, steps))
    return;
  const auto got = runner.read(d);
  const auto expected = reference::product(t.blocks, t.m, t.n, k, {a.begin(), a.end()}, {b.begin(), b.end()},
                                           {c.begin(), c.end()});
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], expected.values[i]) << t.kernel << " element " << i;
  results.add(got);
}

TEST_P(Matrices, EveryInstruction) {
  const bool fnuz = std::string_view(GetParam()) != "gfx950";
  run_everywhere("mfma_tiles", [fnuz](KernelRunner& runner, Results& results) {
    EXPECT_GE(runner.object().kernels().size(), 27u);
    for (const auto& kernel : runner.object().kernels()) {
      const Tile t = tile_of(kernel.name, fnuz);
      switch (t.kind) {
      case Kind::Float: check_float_tile(runner, results, t); break;
      case Kind::Double: check_double_tile(runner, results, t); break;
      case Kind::Integer: check_integer_tile(runner, results, t); break;
      }
    }
  });
}

struct ScaledFormat {
  const char* name;
  NumberFormat format;
};
const ScaledFormat scaled_formats[] = {{"e4m3", reference::e4m3},
                                       {"e5m2", reference::e5m2},
                                       {"e2m3", reference::e2m3},
                                       {"e3m2", reference::e3m2},
                                       {"e2m1", reference::e2m1}};

/// Values with the scale of their 32 along k applied.
std::vector<double> scaled(std::vector<double> values, const std::vector<uint8_t>& scales) {
  for (size_t i = 0; i < values.size(); ++i) values[i] *= std::ldexp(1.0, scales[i / 32] - 127);
  return values;
}

void check_scaled(KernelRunner& runner, const std::string& kernel, size_t m, size_t k,
                  const NumberFormat& a_format, const NumberFormat& b_format) {
  const auto a = finite_codes(a_format, m * k, 10), b = finite_codes(b_format, m * k, 11);
  const auto a_scales = random_integers<uint8_t>(m * k / 32, 122, 131, 12),
             b_scales = random_integers<uint8_t>(m * k / 32, 122, 131, 13);
  const auto c = random_reals<float>(m * m, 14);
  const auto d = runner.empty<float>(m * m);
  const std::vector<uint8_t> a_bytes(a.begin(), a.end()), b_bytes(b.begin(), b.end());
  if (!runner.launch(kernel, line(64, 64), runner.buffer(a_bytes), runner.buffer(b_bytes),
                     runner.buffer(a_scales), runner.buffer(b_scales), runner.buffer(c), d))
    return;
  const auto got = runner.read(d);
  const auto expected = reference::product(1, m, m, k, scaled(values_of(a_format, a), a_scales),
                                           scaled(values_of(b_format, b), b_scales), {c.begin(), c.end()});
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected.values[i], 0x1p-17 * expected.magnitudes[i]) << kernel << " element " << i;
}

TEST(MatricesOfGfx950, ScaledFormats) {
  const auto runner = KernelRunner::load(ASMEVO_BINARY_DIR "/kernels/mfma_scaled.gfx950.co");
  ASSERT_NE(runner, nullptr);
  size_t found = 0;
  for (const auto& a : scaled_formats)
    for (const auto& b : scaled_formats)
      for (const auto& [m, k] : {std::pair<size_t, size_t>{32, 64}, {16, 128}}) {
        const std::string kernel = fmt::format("scaled_{}x{}x{}_{}_{}", m, m, k, a.name, b.name);
        if (!runner->has(kernel)) continue;
        ++found;
        check_scaled(*runner, kernel, m, k, a.format, b.format);
      }
  EXPECT_EQ(found, runner->object().kernels().size());
}

std::vector<uint16_t> half_codes(size_t count, uint64_t seed) {
  std::vector<uint16_t> codes;
  for (const uint64_t c : finite_codes(reference::f16, count, seed))
    codes.push_back(static_cast<uint16_t>(c));
  return codes;
}
std::vector<double> half_values(const std::vector<uint16_t>& codes) {
  return values_of(reference::f16, {codes.begin(), codes.end()});
}

TEST_P(Matrices, ProductsOfManyTiles) {
  run_everywhere("mfma_gemm", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t m = 64, n = 96, k = 24;
    const auto a = half_codes(m * k, 15), b = half_codes(n * k, 16);
    const auto c = runner.empty<float>(m * n);
    if (!runner.launch("gemm_f16", {{n / 32 * 64, m / 32, 1}, {64, 1, 1}}, runner.buffer(a), runner.buffer(b),
                       c, n, k))
      return;
    const auto got = runner.read(c);
    const auto expected =
        reference::product(1, m, n, k, half_values(a), half_values(b), std::vector<double>(m * n));
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected.values[i], 0x1p-17 * expected.magnitudes[i]);
    results.add(got);

    const auto a64 = random_reals<double>(32 * k, 17), b64 = random_reals<double>(48 * k, 18);
    const auto c64 = runner.empty<double>(32 * 48);
    if (!runner.launch("gemm_f64", {{3 * 64, 2, 1}, {64, 1, 1}}, runner.buffer(a64), runner.buffer(b64), c64,
                       uint32_t{48}, k))
      return;
    EXPECT_EQ(runner.read(c64),
              reference::product(1, 32, 48, k, a64, b64, std::vector<double>(32 * 48)).values);
    results.add(runner.read(c64));
  });
}

TEST_P(Matrices, ProductsOfAnySize) {
  run_everywhere("gemm_tiled", [](KernelRunner& runner, Results& results) {
    for (const auto& [m, n, k] : {std::array<uint32_t, 3>{1, 1, 1}, {70, 67, 21}, {33, 130, 16}}) {
      const auto a = half_codes(m * k, 19), b = half_codes(k * n, 20);
      const auto c = random_reals<float>(m * n, 21);
      const auto in_out = runner.buffer(c);
      const device::LaunchShape shape{{(n + 63) / 64 * 256, (m + 63) / 64, 1}, {256, 1, 1}};
      if (!runner.launch("gemm_tiled", shape, runner.buffer(a), runner.buffer(b), in_out, m, n, k, 0.5f,
                         -2.0f))
        return;
      const auto got = runner.read(in_out);
      std::vector<double> transposed(n * k);
      const auto b_values = half_values(b);
      for (size_t x = 0; x < k; ++x)
        for (size_t j = 0; j < n; ++j) transposed[j * k + x] = b_values[x * n + j];
      const auto expected =
          reference::product(1, m, n, k, half_values(a), transposed, std::vector<double>(m * n));
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], 0.5 * expected.values[i] - 2.0 * c[i], 0x1p-17 * expected.magnitudes[i] + 1e-6);
      results.add(got);
    }
  });
}

} // namespace
} // namespace asmevo::test
