#include "report/batch_summary.h"

#include "base/files.h"
#include "report/outcome_meaning.h"

#include <algorithm>
#include <cmath>

namespace asmevo::report {

namespace {

namespace fs = std::filesystem;
using gate::Json;

double median_of(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : timing::spread_of(seconds).median;
}

// From K0 to the node, each direction once.
std::vector<std::string> directions_to(const std::vector<run::Node>& nodes, uint32_t id) {
  std::vector<std::string> list;
  while (id != 0) {
    const auto node = std::ranges::find(nodes, id, &run::Node::id);
    if (node == nodes.end() || node->parent >= id) break;
    const std::string& what = node->direction.empty() ? node->rule : node->direction;
    if (!what.empty()) list.push_back(what);
    id = node->parent;
  }
  std::ranges::reverse(list);
  std::vector<std::string> once;
  for (std::string& d : list)
    if (std::ranges::find(once, d) == once.end()) once.push_back(std::move(d));
  return once;
}

std::string why_nothing(const run::Tally& tally, const std::vector<run::Attempt>& attempts,
                        const std::string& end) {
  if (tally.attempts == 0) return "no transformation applies" + (end.empty() ? "" : "; " + end);
  std::string text;
  for (const gate::Outcome o : outcomes_in_order())
    if (const uint64_t n = tally.outcomes[static_cast<size_t>(o)]; n != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, gate::name(o));
  const run::Attempt* nearest = nullptr;
  for (const run::Attempt& a : attempts)
    if (a.outcome == gate::Outcome::InsufficientSpeedup && a.over_best > (nearest ? nearest->over_best : 0))
      nearest = &a;
  // "1.0346 times the best in the median (...); 1.0296 was needed; ..."
  if (nearest) {
    const size_t first = nearest->text.find(';');
    text += "; the nearest: " +
            nearest->text.substr(0, first == std::string::npos ? first : nearest->text.find(';', first + 1));
  }
  return text;
}

// "HBM" and 0.97: by kernel, the busiest memory level or pipe; of several kernels the share is the mean by
// time, the name that of the longest.
void find_busiest(const Json& node_profile, BatchRow& row) {
  for (const Json& k : node_profile.at("kernels")) {
    const Json& summary = k.at("report").at("summary");
    std::string unit;
    double most = 0;
    for (const Json& level : summary.at("memory"))
      if (level.value("share", 0.0) > most) most = level.at("share"), unit = level.at("level");
    for (const auto& [pipe, use] : summary.at("pipes").items())
      if (use.value("share", 0.0) > most) most = use.at("share"), unit = pipe;
    if (row.busiest_unit.empty()) row.busiest_unit = unit;
    row.busiest_share += most * k.at("share").get<double>();
  }
}

Status read_run(const fs::path& folder, BatchRow& row) {
  ASMEVO_TRY(const auto run, run::RunFolder::open(folder, false));
  ASMEVO_TRY(const RunStatus status, RunStatus::read(*run));
  ASMEVO_TRY(const std::vector<run::Node> nodes, run->nodes());
  row.state = name(status.state);
  row.device = status.device, row.tally = status.tally, row.seconds = status.seconds;
  row.speedup = status.speedup;
  row.verified = status.best_file.state == BestFile::Verified;
  if (status.best_file.structural) row.structural = status.best_file.structural->first;
  for (const run::Node& n : nodes) {
    if (n.id == 0) row.k0_seconds = median_of(n.seconds), find_busiest(n.profile, row);
    if (n.id == status.best) row.best_seconds = median_of(n.seconds);
  }
  row.directions = directions_to(nodes, status.best);
  if (row.verified) {
    row.exit_code = 0;
  } else if (status.state == RunState::Done) {
    ASMEVO_TRY(const std::vector<run::Attempt> attempts, run->attempts());
    row.why_not = status.best == 0 ? why_nothing(status.tally, attempts, status.end)
                                   : "what was found: " + std::string(text_of(status.best_file.state));
    row.speedup = 1, row.exit_code = 1;
  }
  return {};
}

BatchRow row_of(const fs::path& runs, const search::BatchKernel& k) {
  BatchRow row;
  row.kernel = k.name, row.file = k.input.file, row.same_as = k.same_as;
  row.inferred = k.input.launch.empty();
  row.target = k.input.target.substr(0, k.input.target.find(':'));
  row.state = "waiting";
  const fs::path folder = runs / k.name;
  std::error_code error;
  if (fs::exists(folder / "run.sqlite", error)) {
    row.run = k.name;
    try {
      if (const Status read = read_run(folder, row); !read)
        row.state = "waiting", row.why_not = one_line(read.error()).message;
    } catch (const nlohmann::json::exception& e) {
      row.state = "failed", row.why_not = fmt::format("{}: {}", k.name, e.what());
    }
  }
  if (k.failure) {
    row.state = "failed", row.why_not = k.failure->reason, row.exit_code = k.failure->exit_code;
  }
  return row;
}

// The figures of a kernel that others are the same as.
void take_over(const BatchSummary& summary, BatchRow& row) {
  const auto other = std::ranges::find_if(
      summary.rows, [&](const BatchRow& r) { return r.kernel == row.same_as && r.same_as.empty(); });
  if (other == summary.rows.end()) return;
  const BatchRow own = row;
  row = *other;
  row.kernel = own.kernel, row.file = own.file, row.same_as = own.same_as;
}

void count(BatchSummary& s) {
  double logarithms = 0;
  for (const BatchRow& row : s.rows) {
    if (!row.same_as.empty()) {
      ++s.same;
      continue;
    }
    if (row.state == "failed")
      ++s.failed;
    else if (!row.exit_code)
      ++s.open;
    else
      ++(row.verified ? s.faster : s.not_faster), logarithms += std::log(std::max(row.speedup, 1e-9));
  }
  if (const size_t n = s.faster + s.not_faster; n != 0)
    s.mean_speedup = std::exp(logarithms / static_cast<double>(n));
}

Json json_of(const BatchRow& r) {
  Json outcomes = Json::object();
  for (const gate::Outcome o : outcomes_in_order())
    if (const uint64_t n = r.tally.outcomes[static_cast<size_t>(o)]; n != 0)
      outcomes[std::string(gate::name(o))] = n;
  const auto text = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
  return {{"kernel", r.kernel},
          {"file", r.file},
          {"target", r.target},
          {"launch_inferred", r.inferred},
          {"run", text(r.run)},
          {"same_as", text(r.same_as)},
          {"state", r.state},
          {"exit_code", r.exit_code ? Json(*r.exit_code) : Json(nullptr)},
          {"device", text(r.device)},
          {"verified", r.verified},
          {"speedup", r.speedup},
          {"speedup_structural", r.structural ? Json(*r.structural) : Json(nullptr)},
          {"k0_seconds", r.k0_seconds},
          {"best_seconds", r.best_seconds},
          {"busiest_unit", text(r.busiest_unit)},
          {"busiest_share", r.busiest_share},
          {"attempts", r.tally.attempts},
          {"outcomes", outcomes},
          {"seconds", r.seconds},
          {"directions", r.directions},
          {"why_not", text(r.why_not)}};
}

} // namespace

Result<BatchSummary> BatchSummary::read(const fs::path& runs) {
  ASMEVO_TRY(const search::Batch batch, search::Batch::read(runs));
  BatchSummary s;
  s.folder = runs, s.input = batch.folder.string();
  s.command = batch.command, s.made_by = batch.settings.made_by;
  s.in_use = search::batch_in_use(runs);
  for (const search::BatchKernel& k : batch.kernels) s.rows.push_back(row_of(runs, k));
  for (BatchRow& row : s.rows)
    if (!row.same_as.empty()) take_over(s, row);
  count(s);
  return s;
}

Json json_of(const BatchSummary& s) {
  Json rows = Json::array();
  for (const BatchRow& r : s.rows) rows.push_back(json_of(r));
  return {{"version", 1},
          {"batch", s.folder.string()},
          {"folder", s.input},
          {"command", s.command},
          {"made_by", s.made_by},
          {"faster", s.faster},
          {"not_faster", s.not_faster},
          {"failed", s.failed},
          {"open", s.open},
          {"same_as_others", s.same},
          {"mean_speedup", s.mean_speedup},
          {"kernels", rows}};
}

Result<BatchSummary> write_summary(const fs::path& runs) {
  ASMEVO_TRY(BatchSummary s, BatchSummary::read(runs));
  const std::string json = json_of(s).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  ASMEVO_CHECK(write_file(runs / "summary.json", std::string_view(json)));
  ASMEVO_CHECK(write_file(runs / "summary.html", std::string_view(html_of(s))));
  return s;
}

} // namespace asmevo::report
