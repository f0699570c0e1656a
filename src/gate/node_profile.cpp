#include "gate/node_profile.h"

#include "profile/modelled_report.h"

#include <algorithm>
#include <set>

namespace asmevo::gate {

namespace {

// What a profile is made from, and has to outlive it.
struct Modelled {
  std::shared_ptr<const oracle::Subject> subject;
  program::Program named;
  oracle::LaunchTraces traces;
  oracle::LaunchTime time;
};

double seconds_of(const Modelled& m, const std::string& kernel) {
  double seconds = 0;
  profile::each_launch(m.traces, m.time, kernel,
                       [&](const oracle::TracedLaunch& l, const timing::KernelTime& t) {
                         seconds += t.seconds * l.stands_for;
                       });
  return seconds;
}

Result<KernelTimes> times_of(const Modelled& m, const std::string& kernel,
                             const timing::MachineModel& model) {
  KernelTimes k;
  k.kernel = kernel;
  const profile::KernelProfile times = profile::modelled_profile(m.traces, m.time, kernel, model.name());
  k.start = profile::start_lanes(m.traces, kernel);
  ASMEVO_TRY(const auto code, profile::KernelCode::open(m.subject->original(), m.named, kernel, k.start));
  const program::Function& f = code->function();
  k.time.resize(f.end - f.begin), k.issues.resize(f.end - f.begin);
  const double total = std::max(times.total(), 1e-30);
  for (program::Index i = f.begin; i < f.end; ++i)
    if (const profile::InstructionTime* t = times.at(code->address(i))) {
      k.time[i - f.begin] = t->total() / total;
      k.issues[i - f.begin] = t->issues;
    }
  const profile::ModelledReport report(*code, m.subject->codec(), m.traces, m.time, times, model);
  k.report = profile::report_json(report.report());
  return k;
}

} // namespace

Result<NodeProfile> profile_node(const Setup& setup, const Bytes& object, const Chain& chain) {
  Modelled m;
  ASMEVO_TRY(m.subject, oracle::Subject::open(object));
  m.named = m.subject->program();
  if (chain) {
    ASMEVO_TRY(m.named, program_after(*setup.k0(), *chain));
  }
  const timing::Machine machine = setup.model().nominal();
  ASMEVO_TRY(m.traces, setup.trace(m.subject, machine, 0));
  m.time = oracle::launch_time(m.traces, machine);
  std::set<std::string> kernels;
  for (const oracle::TracedLaunch& l : m.traces.launches) kernels.insert(l.kernel);
  NodeProfile node;
  double all = 0;
  for (const std::string& kernel : kernels) {
    ASMEVO_TRY(KernelTimes k, times_of(m, kernel, setup.model()));
    k.share = seconds_of(m, kernel);
    all += k.share;
    node.kernels.push_back(std::move(k));
  }
  for (KernelTimes& k : node.kernels) k.share /= std::max(all, 1e-30);
  std::ranges::stable_sort(node.kernels, std::greater{}, &KernelTimes::share);
  return node;
}

Json NodeProfile::json() const {
  Json list = Json::array();
  for (const KernelTimes& k : kernels)
    list.push_back({{"kernel", k.kernel},
                    {"share", k.share},
                    {"time", k.time},
                    {"issues", k.issues},
                    {"report", k.report},
                    {"whole_waves", k.start == program::StartLanes::All}});
  return {{"kernels", list}};
}

NodeProfile NodeProfile::from_json(const Json& j) {
  NodeProfile node;
  for (const Json& k : j.at("kernels"))
    node.kernels.push_back(
        {k.at("kernel"), k.at("share"), k.at("time").get<std::vector<double>>(),
         k.at("issues").get<std::vector<double>>(), k.at("report"),
         k.value("whole_waves", false) ? program::StartLanes::All : program::StartLanes::Any});
  return node;
}

} // namespace asmevo::gate
