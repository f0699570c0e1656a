// Errors of the suite's kernels against their references: another order of the same arithmetic is at most
// twice as far off as K0, and results that are wrong by little are not.
#include "suite/suite_fixture.h"

namespace asmevo::suite {
namespace {

class SuiteErrors : public ::testing::TestWithParam<SuiteKernel> {
 protected:
  static void run(SuiteRun& of) {
    const Status loaded = of.load();
    ASSERT_TRUE(loaded) << of.label() << ": " << loaded.error().message;
    const Status completed = of.run();
    ASSERT_TRUE(completed) << of.label() << ": " << completed.error().message;
  }
  static void expect(bool accepted, const reference::Output& output, SuiteRun& k0, SuiteRun& candidate) {
    const auto compared = reference::compare_with_reference(output, k0.memory(), candidate.memory());
    ASSERT_TRUE(compared) << compared.error().message;
    EXPECT_EQ(compared->elements, output.values.size());
    EXPECT_EQ(compared->accepted(), accepted)
        << candidate.label() << ": " << output.buffer << " is " << compared->describe();
  }
  /// Makes every element `f` of what it is.
  template <class F>
  static void change(SuiteRun& run, const std::string& name, const F& f) {
    const size_t buffer = run.plan().find(name).value();
    const oracle::ElementType& type = run.plan().buffers[buffer].layout.type();
    const auto codes = run.memory().codes(buffer, 0, run.plan().buffers[buffer].layout.count()).value();
    Bytes bytes;
    for (const uint64_t code : codes) {
      const uint64_t changed = oracle::encode(type, f(oracle::decode(type, code)));
      for (uint32_t byte = 0; byte < type.bits / 8; ++byte)
        bytes.push_back(static_cast<uint8_t>(changed >> (8 * byte)));
    }
    ASSERT_TRUE(run.memory().write(buffer, 0, bytes));
  }
};

TEST_P(SuiteErrors, K0IsAcceptedZerosAndScaledResultsAreNot) {
  SuiteRun k0(GetParam().name, "tiny", GetParam().targets.front());
  SuiteRun candidate(GetParam().name, "tiny", GetParam().targets.front());
  run(k0);
  run(candidate);
  if (HasFatalFailure()) return;
  const std::vector<reference::Output> outputs = GetParam().launch(k0.inputs()).outputs;
  std::set<std::string> buffers;
  for (const reference::Output& output : outputs) {
    buffers.insert(output.buffer);
    expect(true, output, k0, candidate);
  }
  for (const std::string& buffer : buffers)
    change(candidate, buffer, [](double v) { return v * 1.03; }); // bf16 has eight bits
  for (const reference::Output& output : outputs) expect(false, output, k0, candidate);
  for (const std::string& buffer : buffers) change(candidate, buffer, [](double) { return 0; });
  for (const reference::Output& output : outputs) expect(false, output, k0, candidate);
}

INSTANTIATE_TEST_SUITE_P(Kernels, SuiteErrors, ::testing::ValuesIn(reference::suite_kernels()), test_name);

} // namespace
} // namespace asmevo::suite
