// Prints the tables of docs/mutation.md: for each kernel of the suite, mutants rejected and how, rewrites
// accepted, and how long it takes. Survivors and false alarms are listed below the table.
//
//   mutation_table [KERNEL...]            all kernels where none is named
#include "mutation/campaign.h"
#include "mutation/lens.h"
#include "reference/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace {

using namespace asmevo;
using mutation::Bench;
using mutation::Verdict;

constexpr size_t semantic = 50, timing = 20, rewrites = 50; // of each kernel
constexpr uint64_t seed = 20261129;

struct Totals {
  size_t kernels = 0, mutants = 0, rejected = 0, timing = 0, timing_rejected = 0, rewrites = 0, accepted = 0;
  std::vector<double> accept_seconds, reject_seconds;
};

double median(std::vector<double> list) {
  if (list.empty()) return 0;
  std::ranges::sort(list);
  return list[list.size() / 2];
}

std::string ms(double seconds) {
  return fmt::format("{:.0f} ms", 1000 * seconds);
}

// What rejected the mutants: the static check, or which outcome of a run.
std::map<std::string, size_t> by_outcome(const std::vector<Verdict>& verdicts) {
  std::map<std::string, size_t> count;
  for (const Verdict& v : verdicts) ++count[v.built ? std::string(oracle::name(v.outcome)) : "not built"];
  return count;
}

void run_kernel(const reference::SuiteKernel& kernel, Totals& totals, std::vector<std::string>& lines) {
  const std::string target = kernel.targets.front();
  auto bench = mutation::open_bench(kernel.name, kernel.k0, target);
  if (!bench) {
    fmt::print("| {} | {} |\n", kernel.name, bench.error().message);
    return;
  }
  const auto mutants = mutation::semantic_mutants(*bench->k0, kernel.k0, seed, semantic);
  const auto timed = mutation::timing_mutants(*bench->k0, kernel.k0, seed, timing);
  const auto same = mutation::equivalent_rewrites(*bench->k0, kernel.k0, seed, rewrites);
  std::vector<program::Edit> edits, timing_edits, same_edits;
  for (const auto& m : mutants) edits.push_back(m.edit(kernel.k0));
  for (const auto& m : timed) timing_edits.push_back(m.edit(kernel.k0));
  for (const auto& r : same) same_edits.push_back(r.edit);
  const auto verdicts = mutation::judge_all(*bench, edits),
             timing_verdicts = mutation::judge_all(*bench, timing_edits),
             same_verdicts = mutation::judge_all(*bench, same_edits);

  size_t rejected = 0, timing_rejected = 0, accepted = 0;
  std::vector<double> reject_seconds;
  for (size_t i = 0; i < mutants.size(); ++i) {
    if (!verdicts[i].accepted()) {
      ++rejected;
      reject_seconds.push_back(verdicts[i].seconds);
      continue;
    }
    lines.push_back(fmt::format("survivor {} {} {}: {} -> {}: {}", kernel.name, name(mutants[i].op),
                                mutants[i].at.text(), mutants[i].before,
                                mutants[i].after.empty() ? "(dropped)" : mutants[i].after,
                                mutation::look_at(*bench, mutants[i]).describe()));
  }
  for (size_t i = 0; i < timed.size(); ++i) {
    timing_rejected += timing_verdicts[i].accepted() ? 0 : 1;
    if (timing_verdicts[i].accepted())
      lines.push_back(
          fmt::format("timing survivor {} {}: {}", kernel.name, timed[i].at.text(), timed[i].before));
  }
  for (size_t i = 0; i < same.size(); ++i) {
    accepted += same_verdicts[i].accepted() ? 1 : 0;
    if (!same_verdicts[i].accepted())
      lines.push_back(fmt::format("false alarm {} {}: {}: {}", kernel.name, name(same[i].kind), same[i].text,
                                  same_verdicts[i].text));
  }
  // Alone on both cores, as a search that waits for the answer would run it.
  const Verdict accept = mutation::judge(*bench, same_edits.front(), 0);

  std::string how;
  for (const auto& [outcome, count] : by_outcome(verdicts))
    how += fmt::format("{}{} {}", how.empty() ? "" : ", ", outcome, count);
  fmt::print("| {} | {} | {}/{} | {} | {}/{} | {}/{} | {} | {} | {} |\n", kernel.name, bench->cases.size(),
             rejected, mutants.size(), how, timing_rejected, timed.size(), accepted, same.size(),
             ms(bench->seconds), ms(median(reject_seconds)), ms(accept.seconds));
  std::fflush(stdout);
  ++totals.kernels;
  totals.mutants += mutants.size(), totals.rejected += rejected;
  totals.timing += timed.size(), totals.timing_rejected += timing_rejected;
  totals.rewrites += same.size(), totals.accepted += accepted;
  totals.accept_seconds.push_back(accept.seconds);
  totals.reject_seconds.insert(totals.reject_seconds.end(), reject_seconds.begin(), reject_seconds.end());
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  Totals totals;
  std::vector<std::string> lines;
  fmt::print("| kernel | cases | mutants rejected | how | timing | rewrites accepted | K0's side | reject | "
             "accept |\n"
             "|---|---|---|---|---|---|---|---|---|\n");
  for (const reference::SuiteKernel& kernel : reference::suite_kernels())
    if (wanted.empty() || std::ranges::find(wanted, kernel.name) != wanted.end())
      run_kernel(kernel, totals, lines);
  fmt::print(
      "\n{} kernels: {} of {} mutants rejected ({:.1f} %), {} of {} with only timing broken ({:.1f} %), {} "
      "of {} "
      "rewrites accepted; median time to reject {}, to accept {}\n\n",
      totals.kernels, totals.rejected, totals.mutants,
      100.0 * static_cast<double>(totals.rejected) / static_cast<double>(std::max<size_t>(1, totals.mutants)),
      totals.timing_rejected, totals.timing,
      100.0 * static_cast<double>(totals.timing_rejected) /
          static_cast<double>(std::max<size_t>(1, totals.timing)),
      totals.accepted, totals.rewrites, ms(median(totals.reject_seconds)), ms(median(totals.accept_seconds)));
  for (const std::string& line : lines) fmt::print("{}\n", line);
  return 0;
}
