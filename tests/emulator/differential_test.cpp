// Random legal instructions on the emulator and on the plain reference of tests/emulator/reference: all state
// is the same after each of them. `./check --full` runs ten million a target.
#include "emulator/differential/run.h"
#include "full_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace asmevo::differential {
namespace {

constexpr size_t sequence_length = 24, runs_of_each = 6, sequences_a_pool = 400;
constexpr unsigned most_differences = 12;

// Of the mnemonics that the emulator implements on the target, how many must have been executed.
constexpr double least_share = 0.88;

// The sanitizers' build is some ten times slower.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

// ASMEVO_DIFFERENTIAL: any other number.
uint64_t instructions_wanted() {
  if (const char* text = std::getenv("ASMEVO_DIFFERENTIAL")) return std::strtoull(text, nullptr, 10);
  return test::full_run() && !sanitized ? 10'000'000 : 100'000;
}

class Differential : public testing::TestWithParam<std::string_view> {};

TEST_P(Differential, EmulatorAndReferenceAgree) {
  const isa::Target target = *isa::Target::from_id(GetParam());
  const std::shared_ptr<isa::Codec> codec = *isa::Codec::create(target);
  Generator generator(*codec, 1);
  Runner runner(target, codec, 2);
  const uint64_t wanted = instructions_wanted();
  unsigned differences = 0;
  for (uint64_t n = 1; runner.executed() < wanted && differences < most_differences; ++n) {
    const Sequence sequence = generator.make(sequence_length);
    for (size_t run = 0; run < runs_of_each; ++run) {
      runner.fill();
      const auto difference = runner.run(sequence);
      if (!difference) continue;
      ++differences;
      ADD_FAILURE() << "sequence " << n << ", run " << run << ": " << *difference;
      break;
    }
    if (n % sequences_a_pool == 0) codec->renew_pool();
  }
  EXPECT_LT(runner.faults() * 1000, wanted) << "sequences should run through";
  size_t covered = 0;
  std::string missing;
  for (const std::string_view m : generator.implemented()) {
    if (runner.counts().contains(m))
      ++covered;
    else
      missing += std::string(m) + ' ';
  }
  const double share = static_cast<double>(covered) / static_cast<double>(generator.implemented().size());
  std::cout << GetParam() << ": " << runner.executed() << " instructions, " << covered << " of "
            << generator.implemented().size() << " mnemonics\n";
  EXPECT_GE(share, least_share) << "not executed: " << missing;
}

INSTANTIATE_TEST_SUITE_P(Targets, Differential, testing::Values("gfx90a", "gfx942", "gfx950"),
                         [](const auto& tested) { return std::string(tested.param); });

} // namespace
} // namespace asmevo::differential
