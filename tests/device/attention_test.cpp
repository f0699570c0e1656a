// Attention with a softmax taken tile by tile.
#include "device/kernel_runner.h"
#include "reference/attention.h"
#include "reference/number_formats.h"

namespace asmevo::test {
namespace {

class Attention : public SampleTest {};
ON_ALL_TARGETS(Attention);

constexpr size_t width = 32;
const reference::Attention sizes[] = {{5, 1, width, 0.3, false},
                                      {64 + 9, 45, width, 0.18, false},
                                      {37, 37, width, 0.18, true},
                                      {20, 50, width, 1.5, true}};

std::vector<double> decoded(const std::vector<uint16_t>& codes) {
  std::vector<double> values;
  for (const uint16_t c : codes) values.push_back(reference::decode(reference::f16, c));
  return values;
}

TEST_P(Attention, F32) {
  run_everywhere("attention", [](KernelRunner& runner, Results& results) {
    for (const auto& size : sizes) {
      const auto q = random_reals<float>(size.queries * width, 1),
                 k = random_reals<float>(size.keys * width, 2), v = random_reals<float>(size.keys * width, 3);
      const auto out = runner.empty<float>(q.size());
      if (!runner.launch("attention_f32", line((size.queries + 63) / 64 * 64, 64), runner.buffer(q),
                         runner.buffer(k), runner.buffer(v), out, static_cast<uint32_t>(size.queries),
                         static_cast<uint32_t>(size.keys), static_cast<float>(size.scale),
                         uint32_t{size.causal}))
        return;
      const auto got = runner.read(out);
      const auto expected =
          reference::attention(size, {q.begin(), q.end()}, {k.begin(), k.end()}, {v.begin(), v.end()});
      for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 3e-6) << i;
      results.add(got);
    }
  });
}

TEST_P(Attention, F16ByMatrixInstructions) {
  run_everywhere("attention", [](KernelRunner& runner, Results& results) {
    for (const auto& size : sizes) {
      auto codes = [](size_t count, uint64_t seed) {
        std::vector<uint16_t> c;
        for (const double v : random_reals<double>(count, seed))
          c.push_back(static_cast<uint16_t>(reference::encode(reference::f16, v)));
        return c;
      };
      const auto q = codes(size.queries * width, 4), k = codes(size.keys * width, 5),
                 v = codes(size.keys * width, 6);
      const auto out = runner.empty<uint16_t>(q.size());
      if (!runner.launch("attention_f16", line((size.queries + 15) / 16 * 64, 64), runner.buffer(q),
                         runner.buffer(k), runner.buffer(v), out, static_cast<uint32_t>(size.queries),
                         static_cast<uint32_t>(size.keys), static_cast<float>(size.scale),
                         uint32_t{size.causal}))
        return;
      const auto got = runner.read(out);
      const auto expected = reference::attention(size, decoded(q), decoded(k), decoded(v));
      // Weights and the result are rounded to 11 bits; all values are below 1.
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(reference::decode(reference::f16, got[i]), expected[i], 1.5e-3) << i;
      results.add(got);
    }
  });
}

} // namespace
} // namespace asmevo::test
