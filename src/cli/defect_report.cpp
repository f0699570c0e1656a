#include "cli/defect_report.h"

#include <algorithm>

namespace asmevo::cli {

using sanitizer::Defect;
using sanitizer::Site;

namespace {

nlohmann::ordered_json site_as_json(const Site& s) {
  return {{"pc", s.pc}, {"text", s.text}, {"workgroup", s.workgroup}, {"wave", s.wave}};
}

} // namespace

nlohmann::ordered_json defect_as_json(const Defect& d) {
  nlohmann::ordered_json j = {{"kind", sanitizer::name(d.kind)},
                              {"rule", d.rule},
                              {"possible", d.possible},
                              {"object", d.object},
                              {"instruction", site_as_json(d.second)}};
  if (d.first.present()) j["before"] = site_as_json(d.first);
  if (d.lane >= 0) j["lane"] = d.lane;
  j["times"] = d.times;
  if (!d.fix.empty()) j["fix"] = d.fix;
  return j;
}

Status LaunchSanitizer::take() {
  if (!session_) return {};
  ASMEVO_TRY(sanitizer::Defects list, session_->take());
  session_.reset();
  for (Defect& d : list) {
    // A kernel that is launched again has the same ones again.
    const auto known = std::ranges::find_if(found_, [&](const Found& f) {
      return f.kernel == kernel_ && f.defect.kind == d.kind && f.defect.rule == d.rule &&
             f.defect.possible == d.possible && f.defect.first.pc == d.first.pc &&
             f.defect.second.pc == d.second.pc;
    });
    if (known != found_.end())
      known->defect.times += d.times;
    else
      found_.push_back({kernel_, std::move(d)});
  }
  return {};
}

void LaunchSanitizer::start(const std::string& kernel, std::vector<uint64_t> workgroups) {
  if (const Status taken = take(); !taken) status_ = taken;
  sanitizer::Options options;
  options.workgroups = std::move(workgroups);
  session_ = std::make_unique<sanitizer::Session>(target_, std::move(options));
  kernel_ = kernel;
}

Status LaunchSanitizer::finish() {
  ASMEVO_CHECK(take());
  return status_;
}

bool LaunchSanitizer::clean() const {
  return std::ranges::all_of(found_, [](const Found& f) { return f.defect.possible; });
}

void LaunchSanitizer::print() const {
  for (const Found& f : found_) fmt::print("{}: {}\n", printable(f.kernel), f.defect.message());
  const auto possible = std::ranges::count_if(found_, [](const Found& f) { return f.defect.possible; });
  const auto certain = static_cast<std::ptrdiff_t>(found_.size()) - possible;
  fmt::print("sanitizer: {} defect{}, {} possible\n", certain, certain == 1 ? "" : "s", possible);
}

nlohmann::ordered_json LaunchSanitizer::as_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Found& f : found_) {
    nlohmann::ordered_json j = {{"kernel", f.kernel}};
    j.update(defect_as_json(f.defect));
    list.push_back(std::move(j));
  }
  return list;
}

} // namespace asmevo::cli
