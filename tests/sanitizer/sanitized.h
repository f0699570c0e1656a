// Kernels in assembly, run under the sanitizer.
#pragma once

#include "emulator/assembled_kernel.h"
#include "sanitizer/sanitizer.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::sanitizer {

// s[8:9]: a buffer of 64 KiB; v1: four times the work-item's number.
inline constexpr std::string_view prologue = R"(
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
)";

struct LaunchedAs {
  unsigned groups = 1, items = 64, threads = 1;
  unsigned lds_bytes = 4096, vgprs = 64; // more than 256: the rest are AGPRs
  std::string gpu = "gfx942";
  uint64_t seed = 0;
};

inline Defects sanitized(std::string_view body, const LaunchedAs& as = {}, const Options& options = {}) {
  emulator::KernelOptions kernel;
  kernel.lds_bytes = as.lds_bytes;
  kernel.gpu = as.gpu;
  kernel.vgprs = as.vgprs;
  device::EmulatorOptions run;
  run.threads = as.threads;
  run.seed = as.seed;
  Session session(*isa::Target::from_id(as.gpu), options);
  run.observer = session.observers();
  emulator::Bench bench(std::string(prologue) + std::string(body) + "\n  s_endpgm\n", kernel, run);
  const uint64_t buffer = bench.buffer(1 << 16);
  const device::LaunchOutcome outcome = bench.launch(as.groups, as.items, {buffer});
  EXPECT_TRUE(outcome.completed()) << outcome.text;
  return *session.take();
}

// "in_flight vmcnt v4", "possible lds_race write-write lds 0x0": what a test wants to know.
inline std::vector<std::string> found(std::string_view body, const LaunchedAs& as = {}) {
  std::vector<std::string> list;
  for (const Defect& d : sanitized(body, as))
    if (d.kind != DefectKind::Uninitialised)
      list.push_back(
          fmt::format("{}{} {} {}", d.possible ? "possible " : "", name(d.kind), d.rule, d.object));
  return list;
}

} // namespace asmevo::sanitizer
