#include "report/run_report.h"

#include "base/files.h"
#include "base/hash.h"
#include "codeobject/abi_diff.h"
#include "codeobject/inspection.h"
#include "report/version_code.h"

#include <algorithm>

namespace asmevo::report {

namespace {

// Changed instructions shown of one commit; of each, where there are many commits.
constexpr size_t many_commits = 30, most_shown = 1500, most_shown_of_many = 200;

double median_of(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : timing::spread_of(seconds).median;
}

std::map<std::string, std::vector<double>> shares_of(const run::Node* node) {
  std::map<std::string, std::vector<double>> shares;
  if (node == nullptr) return shares;
  for (gate::KernelTimes& k : gate::NodeProfile::from_json(node->profile).kernels)
    shares[k.kernel] = std::move(k.time);
  return shares;
}

bool was_right(const run::Attempt& a) {
  switch (a.outcome) {
  case gate::Outcome::Passed:
  case gate::Outcome::TimingUnstable:
  case gate::Outcome::InsufficientSpeedup:
  case gate::Outcome::Committed: return true;
  default: return false;
  }
}

std::vector<Yield> yields_by(const std::vector<run::Attempt>& attempts, std::string run::Attempt::* what) {
  std::vector<Yield> list;
  for (const run::Attempt& a : attempts) {
    auto found = std::ranges::find(list, a.*what, &Yield::name);
    if (found == list.end()) found = list.insert(list.end(), Yield{.name = a.*what});
    ++found->attempts;
    found->right += was_right(a) ? 1 : 0;
    if (!a.node) continue;
    ++found->committed;
    found->best_gain = std::max(found->best_gain, a.over_best - 1);
  }
  std::ranges::stable_sort(list, [](const Yield& a, const Yield& b) {
    return std::tuple(a.committed, a.best_gain, a.attempts) >
           std::tuple(b.committed, b.best_gain, b.attempts);
  });
  return list;
}

class Reader {
 public:
  explicit Reader(const run::RunFolder& run) : run_(run) {}

  Result<RunReport> read() {
    ASMEVO_TRY(r_.status, RunStatus::read(run_));
    ASMEVO_TRY(r_.attempts, run_.attempts());
    ASMEVO_TRY(r_.nodes, run_.nodes());
    ASMEVO_TRY(r_.events, run_.events());
    ASMEVO_TRY(const auto setup, run_.get("report"));
    if (setup) r_.setup = *setup;
    settings();
    const Status code = read_code();
    if (!code) r_.notes.push_back(code.error().message);
    times();
    r_.directions = yields_by(r_.attempts, &run::Attempt::direction);
    r_.rules = yields_by(r_.attempts, &run::Attempt::rule);
    return std::move(r_);
  }

 private:
  void settings() {
    const auto s = search::OptimizationSettings::from_json(run_.settings());
    r_.object = s.object.empty() ? "k0.co" : s.object;
    r_.kernel = s.setup.kernel;
    r_.made_by = s.made_by, r_.command = s.command, r_.driver = s.driver;
    r_.rule = s.setup.rule, r_.shape = r_.setup.value("shape", s.setup.shape);
    r_.target = r_.setup.value("target", "");
    r_.launch = s.setup.launch.string(), r_.capture = s.setup.capture.string();
    r_.seed = s.setup.seed, r_.members = s.setup.members, r_.effort = s.setup.effort, r_.width = s.width;
  }

  const run::Node* node(uint32_t id) const {
    const auto found = std::ranges::find(r_.nodes, id, &run::Node::id);
    return found == r_.nodes.end() ? nullptr : &*found;
  }

  void times() {
    const run::Node *k0 = node(0), *best = node(r_.status.best);
    if (k0 == nullptr || best == nullptr) return;
    r_.k0_hash = k0->object_hash;
    r_.k0_seconds = median_of(k0->seconds), r_.best_seconds = median_of(best->seconds);
    r_.k0_profile = gate::NodeProfile::from_json(k0->profile);
    if (r_.kernel.empty() && !r_.k0_profile.kernels.empty()) r_.kernel = r_.k0_profile.kernels.front().kernel;
    if (best == k0) return;
    r_.best_hash = best->object_hash;
    r_.best_profile = gate::NodeProfile::from_json(best->profile);
    const gate::Comparison c = gate::compare_times(k0->seconds, k0->seconds, best->seconds);
    r_.low = c.low, r_.high = c.high;
    for (const run::Attempt& a : r_.attempts)
      if (a.node == best->id) r_.paper_rule = a.evaluation.paper_rule;
    occupancies();
  }

  void occupancies() {
    for (const gate::KernelTimes& k : r_.k0_profile.kernels) {
      const auto other = std::ranges::find(r_.best_profile.kernels, k.kernel, &gate::KernelTimes::kernel);
      if (other == r_.best_profile.kernels.end()) continue;
      const auto waves = [](const gate::KernelTimes& times) {
        return times.report.contains("summary")
                   ? times.report["summary"].at("occupancy").at("waves_per_simd").get<double>()
                   : 0;
      };
      r_.resources.push_back({k.kernel, "occupancy", "waves per SIMD", waves(k), waves(*other)});
    }
  }

  // --- what has to be read from the objects

  Status read_code() {
    if (r_.nodes.empty()) return {};
    ASMEVO_TRY(const VersionCode code, VersionCode::open(run_, r_.nodes));
    for (const run::Node& n : r_.nodes)
      if (n.id != 0) r_.commits.push_back(commit_of(code, n));
    if (r_.status.best == 0) return {};
    return compare_objects(code);
  }

  Commit commit_of(const VersionCode& code, const run::Node& n) const {
    Commit commit{n, {}, ""};
    const auto before = code.program(n.parent);
    const auto after = code.program(n.id);
    if (!before || !after) {
      commit.no_code = (before ? after : before).error().message;
      return commit;
    }
    commit.change =
        code_change({*before, shares_of(code.node(n.parent))}, {*after, shares_of(&n)}, code.codec(),
                    r_.nodes.size() > many_commits ? most_shown_of_many : most_shown);
    return commit;
  }

  Status compare_objects(const VersionCode& code) {
    const std::filesystem::path candidate =
        run_.path() / "nodes" / std::to_string(r_.status.best) / "candidate.co";
    ASMEVO_TRY(const Bytes bytes, read_file(candidate));
    if (content_hash(bytes) != node(r_.status.best)->object_hash)
      return bad_input("{}: not the object that was committed", candidate.string());
    auto object = codeobject::CodeObject::parse(bytes);
    if (!object) return failed(object.error(), candidate.string());
    const codeobject::AbiDiff diff = codeobject::abi_diff(code.k0().object(), *object);
    AbiFigures figures{diff.fields_compared, 0, {}};
    for (const codeobject::AbiDifference& d : diff.differences) {
      if (d.frozen)
        ++figures.frozen_differ;
      else
        figures.free_to_follow.emplace_back(fmt::format("{}: {}", d.where, d.field),
                                            fmt::format("{} -> {}", d.k0, d.candidate));
    }
    r_.abi = std::move(figures);
    resources(code.k0().object(), *object);
    return {};
  }

  void resources(const codeobject::CodeObject& k0, const codeobject::CodeObject& best) {
    const run::Node* root = node(0);
    for (const gate::KernelTimes& k : gate::NodeProfile::from_json(root->profile).kernels) {
      const auto a = codeobject::inspect(k0, k.kernel), b = codeobject::inspect(best, k.kernel);
      if (a.kernels.size() != 1 || b.kernels.size() != 1) continue;
      const codeobject::KernelInspection &x = a.kernels[0], &y = b.kernels[0];
      const auto add = [&](const char* what, const char* unit, auto from, auto to) {
        r_.resources.push_back({k.kernel, what, unit, static_cast<double>(from), static_cast<double>(to)});
      };
      add("vector registers", "", x.vgprs, y.vgprs);
      if (x.acc_vgprs != 0 || y.acc_vgprs != 0) add("of them accumulation", "", x.acc_vgprs, y.acc_vgprs);
      add("scalar registers", "", x.sgprs, y.sgprs);
      add("LDS, static", "bytes", x.lds_bytes, y.lds_bytes);
      add("scratch", "bytes a work-item", x.scratch_bytes, y.scratch_bytes);
      add("code", "bytes", x.code_size, y.code_size);
    }
  }

  const run::RunFolder& run_;
  RunReport r_;
};

} // namespace

Result<RunReport> RunReport::read(const std::filesystem::path& folder) {
  ASMEVO_TRY(const auto run, run::RunFolder::open(folder, false));
  try {
    auto report = Reader(*run).read();
    if (!report && !report.error().message.starts_with(folder.string()))
      return failed(report.error(), folder.string());
    // Profiles and the like are JSON through and through: what is of another kind than it should be comes to
    // light here, and not where the report is shown.
    if (report) (void)html_of(*report);
    return report;
  } catch (const nlohmann::json::exception& e) {
    return bad_input("{}: run.sqlite: {}", folder.string(), e.what());
  }
}

Status write_html(const std::filesystem::path& folder, const std::filesystem::path& file) {
  ASMEVO_TRY(const RunReport report, RunReport::read(folder));
  return write_file(file.empty() ? folder / "report.html" : file, html_of(report));
}

} // namespace asmevo::report
