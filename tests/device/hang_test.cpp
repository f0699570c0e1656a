// Kernels that do not end.
#include "emulator/assembled_kernel.h"

#include <gmock/gmock.h>

namespace asmevo::emulator {
namespace {

// Several workgroups run into the limit before it is noticed; what is said is of the one that is named.
TEST(Hang, CountsTheInstructionsOfTheWorkgroupItNames) {
  for (const unsigned threads : {1U, 2U}) {
    device::EmulatorOptions options;
    options.threads = threads;
    options.most_instructions = 1000;
    Bench bench("round:\n s_nop 0\n s_branch round\n s_endpgm", {}, options);
    const device::LaunchOutcome outcome = bench.launch(8, 64, {0});
    EXPECT_FALSE(outcome.completed());
    EXPECT_THAT(outcome.text, ::testing::HasSubstr("hang: 1000 instructions in workgroup 0, wave 0"));
  }
}

} // namespace
} // namespace asmevo::emulator
