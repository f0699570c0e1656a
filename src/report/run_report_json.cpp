// The report as data: the same figures as in the page, under names that stay.
#include "report/outcome_meaning.h"
#include "report/run_report.h"

namespace asmevo::report {

namespace {

Json lines_json(const std::vector<CodeLine>& lines) {
  Json list = Json::array();
  for (const CodeLine& l : lines) list.push_back({{"id", l.id}, {"text", l.text}, {"share", l.share}});
  return list;
}

Json change_json(const CodeChange& change) {
  Json windows = Json::array();
  for (const CodeWindow& w : change.windows) {
    Json blocks = Json::array();
    for (const CodeBlock& b : w.blocks)
      blocks.push_back(
          {{"changed", b.changed}, {"before", lines_json(b.before)}, {"after", lines_json(b.after)}});
    windows.push_back({{"function", w.function}, {"blocks", blocks}});
  }
  return {{"removed", change.removed},
          {"added", change.added},
          {"left_out", change.left_out},
          {"windows", windows}};
}

Json commit_json(const Commit& c) {
  const run::Node& n = c.node;
  Json j = {{"node", n.id},
            {"parent", n.parent},
            {"at", n.at},
            {"speedup", n.speedup},
            {"over_parent", n.over_parent},
            {"driver", n.driver},
            {"direction", n.direction},
            {"rule", n.rule},
            {"rationale", n.rationale},
            {"object_hash", n.object_hash},
            {"seconds", n.seconds},
            {"held_back_seconds", n.held_back_seconds}};
  if (c.no_code.empty())
    j["change"] = change_json(c.change);
  else
    j["no_change"] = c.no_code;
  return j;
}

Json attempt_json(const run::Attempt& a) {
  return {{"round", a.round},
          {"slot", a.slot},
          {"base", a.base},
          {"driver", a.driver},
          {"direction", a.direction},
          {"rule", a.rule},
          {"rationale", a.rationale},
          {"outcome", gate::name(a.outcome)},
          {"gate", gate::name(a.evaluation.gate)},
          {"text", a.text},
          {"over_best", a.over_best},
          {"speedup", a.speedup},
          {"node", a.node ? Json(*a.node) : Json(nullptr)},
          {"at", a.at}};
}

Json yields_json(const std::vector<Yield>& yields) {
  Json list = Json::array();
  for (const Yield& y : yields)
    list.push_back({{"name", y.name},
                    {"attempts", y.attempts},
                    {"right", y.right},
                    {"committed", y.committed},
                    {"best_gain", y.best_gain}});
  return list;
}

Json profile_json(const gate::NodeProfile& profile) {
  Json list = Json::array();
  for (const gate::KernelTimes& k : profile.kernels)
    list.push_back({{"kernel", k.kernel},
                    {"share", k.share},
                    {"summary", k.report.contains("summary") ? k.report["summary"] : Json(nullptr)}});
  return list;
}

Json abi_json(const std::optional<AbiFigures>& abi) {
  if (!abi) return nullptr;
  Json free = Json::array();
  for (const auto& [what, change] : abi->free_to_follow) free.push_back({{"what", what}, {"change", change}});
  return {
      {"fields_compared", abi->compared}, {"frozen_differ", abi->frozen_differ}, {"resources_differ", free}};
}

} // namespace

Json json_of(const RunReport& r) {
  Json commits = Json::array(), attempts = Json::array(), resources = Json::array(), events = Json::array();
  for (const Commit& c : r.commits) commits.push_back(commit_json(c));
  for (const run::Attempt& a : r.attempts) attempts.push_back(attempt_json(a));
  for (const ResourceRow& row : r.resources)
    resources.push_back(
        {{"kernel", row.kernel}, {"what", row.what}, {"unit", row.unit}, {"k0", row.k0}, {"best", row.best}});
  for (const run::Event& e : r.events) events.push_back({{"at", e.at}, {"kind", e.kind}, {"text", e.text}});
  return {{"version", 1},
          {"status", json_of(r.status)},
          {"object", r.object},
          {"kernel", r.kernel},
          {"target", r.target},
          {"device", r.status.device},
          {"speedup", r.status.speedup},
          {"speedup_low", r.low},
          {"speedup_high", r.high},
          {"speedup_structural",
           r.status.best_file.structural ? Json(r.status.best_file.structural->first) : Json(nullptr)},
          {"speedup_structural_low",
           r.status.best_file.structural ? Json(r.status.best_file.structural->second) : Json(nullptr)},
          {"k0_seconds", r.k0_seconds},
          {"best_seconds", r.best_seconds},
          {"best_node", r.status.best},
          {"verified_from_disk", r.status.best_file.state == BestFile::Verified},
          {"commits", commits},
          {"attempts", attempts},
          {"directions", yields_json(r.directions)},
          {"rules", yields_json(r.rules)},
          {"k0_profile", profile_json(r.k0_profile)},
          {"best_profile", profile_json(r.best_profile)},
          {"resources", resources},
          {"abi", abi_json(r.abi)},
          {"setup", r.setup},
          {"rule", r.rule},
          {"paper_rule", r.paper_rule},
          {"events", events},
          {"notes", r.notes},
          {"command", r.command},
          {"made_by", r.made_by},
          {"driver", r.driver},
          {"seed", r.seed},
          {"members", r.members},
          {"timing_effort", r.effort},
          {"width", r.width},
          {"shape", r.shape},
          {"launch", r.launch},
          {"capture", r.capture},
          {"k0_hash", r.k0_hash},
          {"best_hash", r.best_hash}};
}

} // namespace asmevo::report
