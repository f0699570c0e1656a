// The summary of a batch for a terminal.
#include "report/batch_summary.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace asmevo::report {

namespace {

constexpr size_t widest_name = 48, longest_reason = 100;

std::string remark(const BatchRow& r) {
  if (!r.same_as.empty()) return "the same as " + printable(r.same_as, widest_name);
  if (!r.why_not.empty()) return printable(r.why_not, longest_reason);
  if (r.verified)
    return printable(fmt::format("{}", fmt::join(r.directions, ", ")), longest_reason) +
           (r.inferred ? "; launch inferred" : "");
  return r.state;
}

std::string speedup_text(const BatchRow& r) {
  if (r.verified) return fmt::format("{:.3f}x", r.speedup);
  if (r.state == "failed") return "failed";
  return r.exit_code ? "none" : r.speedup > 1 ? fmt::format("({:.3f}x)", r.speedup) : "-";
}

} // namespace

std::string text_of(const BatchSummary& s) {
  size_t width = 6;
  for (const BatchRow& r : s.rows) width = std::max(width, printable(r.kernel, widest_name).size());
  std::string text = fmt::format("{:<{}}  {:<7}  {:>8}  {:>10}  {:>8}  {:>7}  {}\n", "kernel", width,
                                 "target", "speedup", "structural", "attempts", "seconds", "by, or why not");
  std::vector<std::string> devices;
  for (const BatchRow& r : s.rows) {
    text += fmt::format("{:<{}}  {:<7}  {:>8}  {:>10}  {:>8}  {:>7.1f}  {}\n",
                        printable(r.kernel, widest_name), width, printable(r.target), speedup_text(r),
                        r.structural ? fmt::format("{:.3f}x", *r.structural) : "-", r.tally.attempts,
                        r.seconds, remark(r));
    if (!r.device.empty() && std::ranges::find(devices, r.device) == devices.end())
      devices.push_back(r.device);
  }
  text += fmt::format("{} kernels: {} faster, {} not, {} failed", s.rows.size(), s.faster, s.not_faster,
                      s.failed);
  if (s.open != 0) text += fmt::format(", {} not done", s.open);
  if (s.same != 0) text += fmt::format(", {} the same as others", s.same);
  if (s.faster + s.not_faster != 0) text += fmt::format("; {:.3f}x in the geometric mean", s.mean_speedup);
  if (!devices.empty())
    text += fmt::format(", {}", printable(fmt::format("{}", fmt::join(devices, ", ")), 200));
  text += "\n";
  if (s.open != 0 && !s.in_use)
    text += fmt::format("'asmevo resume {}' goes on\n", printable(s.folder.string(), 300));
  return text;
}

} // namespace asmevo::report
