#include "oracle/launch_trace.h"

#include <algorithm>
#include <set>

namespace asmevo::oracle {

namespace {

constexpr uint64_t looked_at = 12; // launches of a series
constexpr uint64_t least_effort = 100'000;

// Launches of one kernel with one grid, one after another.
struct Series {
  uint64_t first = 0, count = 0;
};

bool same(const device::LaunchShape& a, const device::LaunchShape& b) {
  return a.grid == b.grid && a.workgroup == b.workgroup && a.dynamic_lds == b.dynamic_lds;
}

// Goes through the launches without running any.
Result<LaunchReport> walk(const LaunchPlan& plan, device::EmulatedDevice& device, device::Module& module,
                          const LaunchTraceOptions& how, auto visit) {
  ASMEVO_TRY(const auto memory, LaunchMemory::create(plan, device, how.known));
  LaunchRunOptions options;
  options.kernel = how.kernel;
  options.before_launch = [&](const std::string& name, const device::LaunchShape& shape,
                              const device::LaunchArguments& arguments) -> Result<BeforeLaunch> {
    ASMEVO_CHECK(visit(name, shape, arguments));
    return BeforeLaunch::Skip;
  };
  return run_launch(plan, *memory, module, options);
}

// Which launches of a series are looked at, and how many each stands for: the ends of what it stands for lie
// half way to its neighbours. Not at equal distances, for the launches of sorting networks and transforms go
// through their variants again and again.
std::vector<std::pair<uint64_t, double>> choose(const Series& series) {
  std::vector<uint64_t> at;
  const uint64_t count = std::min(series.count, looked_at);
  for (uint64_t n = 0; n < count; ++n) {
    constexpr uint64_t golden = 40503; // of 65536
    const uint64_t low = series.count * n / count, high = series.count * (n + 1) / count;
    at.push_back(low + (n * golden % 65536) * (high - low) / 65536);
  }
  std::vector<std::pair<uint64_t, double>> chosen;
  for (size_t n = 0; n < at.size(); ++n) {
    const double low = n == 0 ? 0 : static_cast<double>(at[n - 1] + at[n] + 1) / 2;
    const double high = n + 1 == at.size() ? static_cast<double>(series.count)
                                           : static_cast<double>(at[n] + at[n + 1] + 1) / 2;
    chosen.emplace_back(series.first + at[n], high - low);
  }
  return chosen;
}

} // namespace

bool LaunchTraces::depends_on_time() const {
  return std::ranges::any_of(launches, [](const TracedLaunch& l) { return l.trace.depends_on_time; });
}

Result<LaunchTraces> trace_launches(const LaunchPlan& plan,
                                    std::shared_ptr<const codeobject::CodeObject> object,
                                    const timing::Machine& machine, const LaunchTraceOptions& options) {
  ASMEVO_TRY(const auto device, device::EmulatedDevice::create(object->target()));
  LaunchTraces traces;
  ASMEVO_TRY(traces.module, device->load(std::move(object)));

  std::vector<Series> all;
  std::string last_kernel;
  device::LaunchShape last_shape;
  const auto count = [&](const std::string& kernel, const device::LaunchShape& shape, const auto&) -> Status {
    if (all.empty() || kernel != last_kernel || !same(shape, last_shape)) all.push_back({traces.count, 0});
    ++all.back().count, ++traces.count;
    last_kernel = kernel, last_shape = shape;
    return {};
  };
  ASMEVO_TRY(const LaunchReport counted, walk(plan, *device, *traces.module, options, count));
  if (traces.count == 0)
    return bad_input("{}: no step launches a kernel, so nothing takes time", plan.spec.file);
  traces.fills = counted.fills, traces.filled_bytes = counted.filled_bytes;

  std::map<uint64_t, double> chosen;
  for (const Series& s : all)
    for (const auto& [at, weight] : choose(s)) chosen[at] += weight;
  timing::TraceOptions each = options.trace;
  each.effort = std::max(least_effort, options.trace.effort / std::max<size_t>(1, chosen.size()));
  uint64_t now = 0;
  const auto look = [&](const std::string& kernel, const device::LaunchShape& shape,
                        const device::LaunchArguments& arguments) -> Status {
    const auto found = chosen.find(now++);
    if (found == chosen.end()) return {};
    if (options.progress) options.progress(traces.launches.size(), chosen.size());
    ASMEVO_TRY(timing::DispatchTrace trace,
               device->trace(*traces.module, kernel, shape, arguments, machine, each));
    traces.launches.push_back({kernel, shape, found->first, found->second, std::move(trace)});
    return {};
  };
  ASMEVO_CHECK(walk(plan, *device, *traces.module, options, look));
  return traces;
}

Result<LaunchTraces> trace_case(const Case& c, std::shared_ptr<const codeobject::CodeObject> object,
                                const timing::Machine& machine, const LaunchTraceOptions& options) {
  ASMEVO_TRY(const auto device, device::EmulatedDevice::create(object->target()));
  device->memory() = c.before->fork();
  LaunchTraces traces;
  ASMEVO_TRY(traces.module, device->load(std::move(object)));
  traces.count = 1;
  const std::string& kernel = options.kernel.empty() ? c.kernel : options.kernel;
  ASMEVO_TRY(timing::DispatchTrace trace,
             device->trace(*traces.module, kernel, c.shape, c.arguments, machine, options.trace));
  traces.launches.push_back({kernel, c.shape, 0, 1, std::move(trace)});
  return traces;
}

} // namespace asmevo::oracle
