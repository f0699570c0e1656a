// Small kernels in assembly, traced and timed on a machine model, with everything that is said of them.
#pragma once

#include "emulator/assembled_kernel.h"
#include "profile/kernel_report.h"

#include <gmock/gmock.h>

namespace asmevo::profile::testing {

/// What a test starts a kernel with. s[8:9] is the buffer, v1 the byte offset of the work-item's dword in
/// its workgroup, s2 the workgroup.
inline const std::string start =
    "s_load_dwordx2 s[8:9], s[0:1], 0x0\n v_lshlrev_b32_e32 v1, 2, v0\n s_waitcnt lgkmcnt(0)\n";

/// `turns` times `body`, in a loop named "round" that counts in s20.
inline std::string repeated(unsigned turns, const std::string& body) {
  return fmt::format("s_movk_i32 s20, {}\nround:\n{}\ns_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n"
                     "s_cbranch_scc1 round\n",
                     turns, body);
}

/// `count` times `line`, "#" in it being the number from 0.
inline std::string lines(unsigned count, const std::string& line) {
  std::string text;
  for (unsigned n = 0; n < count; ++n) {
    std::string one = line;
    for (size_t at = one.find('#'); at != std::string::npos; at = one.find('#'))
      one.replace(at, 1, std::to_string(n));
    text += one + "\n";
  }
  return text;
}

struct Launch {
  uint64_t groups = 1;
  uint32_t items = 64;
  uint64_t buffer = 1 << 20; // bytes
  unsigned vgprs = 32, lds = 0;
  uint64_t effort = 300'000;
  double stands_for = 1;
  std::string model = "mi300x";
  std::optional<double> l1_misses = {}; // that a compute unit can wait for, in place of the model's
};

class ModelledKernel {
 public:
  explicit ModelledKernel(const std::string& body, const Launch& launch = {})
      : machine(timing::MachineModel::find(launch.model)->nominal()), bench_(text(body), options(launch)) {
    if (launch.l1_misses) machine[timing::Parameter::l1_misses] = *launch.l1_misses;
    timing::TraceOptions tracing;
    tracing.effort = launch.effort, tracing.threads = 1;
    const device::LaunchShape shape{{launch.groups * launch.items, 1, 1}, {launch.items, 1, 1}, 0};
    device::LaunchArguments arguments;
    arguments.kernarg.resize(8);
    const uint64_t buffer = bench_.buffer(launch.buffer);
    std::memcpy(arguments.kernarg.data(), &buffer, sizeof buffer);
    auto trace = bench_.device->trace(*bench_.module, "k", shape, arguments, machine, tracing);
    if (!trace) throw std::runtime_error(trace.error().message);
    traces.module = bench_.module;
    traces.launches.push_back({"k", shape, 0, launch.stands_for, std::move(*trace)});
    traces.count = static_cast<uint64_t>(launch.stands_for);
    time = oracle::launch_time(traces, machine);
    profile = modelled_profile(traces, time, "k", launch.model);
    read_code(emulator::assemble_kernel(text(body), options(launch)));
  }
  ModelledKernel(const ModelledKernel&) = delete;

  const timing::KernelTime& kernel_time() const { return time.each.front(); }
  KernelSummary summary() const { return kernel_summary(traces, time, profile, machine); }
  const CodePath& path() const { return *path_; }
  std::vector<LoopBound> loops() const { return loop_bounds(*path_, machine); }
  std::vector<HotWindow> windows(HotWindowOptions o = {}) const {
    if (o.waves_per_simd == 0) o.waves_per_simd = summary().waves;
    return hot_windows(*path_, profile, machine, o);
  }
  WindowContext context() const {
    return {.path = path_.get(),
            .profile = &profile,
            .pressure = &pressure_,
            .codec = codec_.get(),
            .occupancy = traces.launches.front().trace.occupancy};
  }
  /// The first instruction of that mnemonic (without _e32), the n-th from 0.
  program::Index find(std::string_view mnemonic, unsigned n = 0) const {
    for (program::Index i = code->function().begin; i < code->function().end; ++i)
      if (code->instruction(i).is(mnemonic) && n-- == 0) return i;
    ADD_FAILURE() << "no " << mnemonic;
    return 0;
  }
  const InstructionTime& time_of(program::Index i) const {
    const InstructionTime* const t = profile.at(code->address(i));
    if (t == nullptr) throw std::runtime_error("no time at " + code->id(i));
    return *t;
  }

  timing::Machine machine;
  oracle::LaunchTraces traces;
  oracle::LaunchTime time;
  KernelProfile profile;
  std::unique_ptr<const KernelCode> code;

 private:
  static std::string text(const std::string& body) { return start + body + "\ns_endpgm\n"; }
  static emulator::KernelOptions options(const Launch& launch) {
    emulator::KernelOptions o;
    o.vgprs = launch.vgprs, o.lds_bytes = launch.lds;
    return o;
  }
  void read_code(Bytes bytes) {
    codec_ = *isa::Codec::create(*isa::Target::from_id("gfx942"));
    original_ = std::make_unique<rebuild::Original>(*rebuild::Original::open(std::move(bytes), *codec_));
    code = *KernelCode::open(*original_, "k", start_lanes(traces, "k"));
    path_ = std::make_unique<CodePath>(*code, profile);
    pressure_ = register_pressure(*code);
  }

  emulator::Bench bench_;
  std::unique_ptr<isa::Codec> codec_;
  std::unique_ptr<rebuild::Original> original_;
  std::unique_ptr<CodePath> path_;
  RegisterPressure pressure_;
};

/// A whole kernel that is only read, with a profile made up by the test: cycles by entry.
class ReadKernel {
 public:
  explicit ReadKernel(const std::string& body, unsigned vgprs = 32) {
    emulator::KernelOptions o;
    o.vgprs = vgprs;
    codec_ = *isa::Codec::create(*isa::Target::from_id("gfx942"));
    original_ = std::make_unique<rebuild::Original>(
        *rebuild::Original::open(emulator::assemble_kernel(body + "\ns_endpgm\n", o), *codec_));
    code = *KernelCode::open(*original_, "k");
    path = std::make_unique<CodePath>(*code, profile);
  }
  ReadKernel(const ReadKernel&) = delete;
  program::Index entry(program::Index n) const { return code->function().begin + n; }
  /// Takes the profile as it is now.
  void read_profile() { path = std::make_unique<CodePath>(*code, profile); }
  void set(program::Index n, InstructionTime time) {
    time.address = code->address(entry(n));
    profile.instructions.push_back(time);
  }
  isa::Codec& codec() const { return *codec_; }

  KernelProfile profile;
  std::unique_ptr<const KernelCode> code;
  std::unique_ptr<CodePath> path;

 private:
  std::unique_ptr<isa::Codec> codec_;
  std::unique_ptr<rebuild::Original> original_;
};

} // namespace asmevo::profile::testing
