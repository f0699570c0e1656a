// Runs of `asmevo optimize` on the slow kernel of kernels/pairs/load_wait_late, which waits for a load before
// work that does not need it; proposals come from a file.
#pragma once

#include "base/files.h"
#include "cli/program_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace asmevo::testing {

inline const std::string pair_k0 = ASMEVO_BINARY_DIR "/kernels/pairs/load_wait_late.gfx942.co";

// One of many kinds: two are committed, the second on the first; the others are refused, each for another
// reason.
inline const std::string_view pair_proposals = R"json(
{"version":1,"base":0,"kernel":"slow","changes":[{"first":"94","last":"94","text":"v_nonsense v1"}],"rationale":"no such instruction","direction":"instruction simplification"}
{"version":1,"base":0,"kernel":"slow","changes":[{"first":"94","last":"94","text":""}],"rationale":"no wait at all","direction":"latency hiding"}
{"version":1,"base":0,"kernel":"slow","changes":[{"first":"98","last":"98","text":"v_fma_f32 v28, v28, v26, v28"}],"rationale":"a cheaper constant","direction":"instruction simplification"}
{"version":1,"base":0,"kernel":"slow","changes":[{"first":"94","last":"94","text":""},{"before":"118","text":"s_waitcnt vmcnt(0)"}],"rationale":"wait behind <b>some</b> of the work","direction":"latency hiding"}
{"version":1,"base":1,"kernel":"slow","changes":[{"first":"1.0","last":"1.0","text":""},{"before":"198","text":"s_waitcnt vmcnt(0)"}],"rationale":"and behind more of it","direction":"latency hiding"}
{"version":1,"base":1,"kernel":"slow","changes":[{"first":"4c","last":"4c","text":"s_nop 1"}],"rationale":"a longer pause","direction":"latency hiding"}
)json";

/// How such runs are made, quickly.
inline std::vector<std::string> pair_options(const std::filesystem::path& proposals) {
  return {"--model",     "mi300x",           "--members",       "4",     "--driver", "replay",
          "--proposals", proposals.string(), "--timing-effort", "200000"};
}

/// The command without "asmevo"; `run`, `proposals`: paths.
inline std::vector<std::string> pair_command(const std::filesystem::path& run,
                                             const std::filesystem::path& proposals) {
  std::vector<std::string> command = {"optimize", pair_k0,
                                      "--kernel", "slow",
                                      "--launch", ASMEVO_SOURCE_DIR "/kernels/pairs/load_wait_late.toml",
                                      "-o",       run.string()};
  std::ranges::copy(pair_options(proposals), std::back_inserter(command));
  return command;
}

/// Makes the run in `folder`/run.
inline std::filesystem::path pair_run(const TemporaryFolder& folder) {
  EXPECT_TRUE(write_file(folder / "proposals.json", pair_proposals));
  const Ran ran = run_asmevo(pair_command(folder / "run", folder / "proposals.json"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return folder / "run";
}

/// Hundreds of proposals that all take long to judge and are slower than K0.
inline std::string slow_proposals() {
  std::string text;
  for (unsigned n = 0; n < 400; ++n)
    text += fmt::format(
        R"({{"version":1,"base":0,"kernel":"slow","changes":[{{"before":"{:x}","text":"s_nop {}\ns_nop {}"}}],)"
        R"("rationale":"slower"}})"
        "\n",
        0x98 + 8 * (n % 64), n % 13, n % 7);
  return text;
}

} // namespace asmevo::testing
