// Prints the tables of docs/mutation.md: for each kernel of the suite, mutants rejected and how, rewrites
// accepted, and how long it takes. Mutants that nothing rejected are run on many more cases, to tell those
// that are missed from those that do the same, and listed below the table; those of same_as_k0.txt, which
// have been through that, only with --again.
//
//   mutation_table [--mutants] [--timing] [--rewrites] [--again] [KERNEL...]
//   mutation_table --listed [KERNEL...]
//
// The second only tries the mutants of same_as_k0.txt and survivors.txt, without the long run, and says which
// of them the cases now tell from K0. All three where none is asked for, all kernels where none is named;
// three quarters of an hour on two cores. The lines below the table are also written to stderr as they come.
#include "base/parallel.h"
#include "mutation/campaign.h"
#include "mutation/fixed.h"
#include "mutation/lens.h"
#include "mutation/same_as_k0.h"
#include "reference/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace {

using namespace asmevo;
using mutation::Bench;
using mutation::LongRun;
using mutation::Mutant;
using mutation::Verdict;

// Of mutants, by what became of them.
struct Counts {
  size_t all = 0;
  size_t check = 0;     // rejected by the static check, the interface, or not built
  size_t run = 0;       // by a run that did not complete or left something else
  size_t reference = 0; // by the reference: further off than twice K0
  size_t missed = 0;    // accepted, but more cases tell them from K0
  size_t close = 0;     // accepted, and with more cases, but some bit is not the same
  size_t same = 0;      // no difference in any case
  size_t rejected() const { return check + run + reference; }
  Counts& operator+=(const Counts& o) {
    all += o.all, check += o.check, run += o.run, reference += o.reference;
    missed += o.missed, close += o.close, same += o.same;
    return *this;
  }
};

struct Totals {
  size_t kernels = 0, timing = 0, timing_rejected = 0, rewrites = 0, accepted = 0;
  Counts counts;
  std::vector<double> accept_seconds, reject_seconds;
};

// The value that so much of the list is not above.
double quantile(std::vector<double> list, double part) {
  if (list.empty()) return 0;
  std::ranges::sort(list);
  return list[static_cast<size_t>(part * static_cast<double>(list.size() - 1))];
}
double median(const std::vector<double>& list) {
  return quantile(list, 0.5);
}

std::string ms(double seconds) {
  return fmt::format("{:.0f} ms", 1000 * seconds);
}

double percent(size_t part, size_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<size_t>(1, whole));
}

template <class T>
std::vector<Verdict> judge_all(const Bench& bench, const std::vector<T>& list) {
  std::vector<program::Edit> edits;
  for (const T& item : list) {
    if constexpr (std::is_same_v<T, Mutant>)
      edits.push_back(item.edit(bench.kernel));
    else
      edits.push_back(item.edit);
  }
  return mutation::judge_all(bench, edits);
}

// What to do of the three.
struct Parts {
  bool mutants = false, timing = false, rewrites = false;
  bool listed = false; // of the mutants, only those of the two lists
  bool again = false;  // the long run for those of same_as_k0.txt, too
};

class KernelRow {
 public:
  KernelRow(const Bench& bench, std::vector<std::string>& lines) : bench_(bench), lines_(lines) {}

  void run(Totals& totals, const Parts& parts) {
    const size_t first = lines_.size();
    if (parts.listed) listed();
    if (parts.mutants) semantic(parts.again);
    if (parts.timing) timing();
    if (parts.rewrites) rewrites();
    print();
    for (size_t i = first; i < lines_.size(); ++i) fmt::print(stderr, "{}\n", lines_[i]);
    ++totals.kernels;
    totals.counts += counts_;
    totals.timing += timing_, totals.timing_rejected += timing_rejected_;
    totals.rewrites += rewrites_, totals.accepted += accepted_;
    totals.accept_seconds.push_back(accept_seconds_);
    totals.reject_seconds.insert(totals.reject_seconds.end(), reject_seconds_.begin(), reject_seconds_.end());
  }

 private:
  void semantic(bool again) {
    const auto mutants =
        mutation::semantic_mutants(*bench_.k0, bench_.kernel, mutation::fixed_seed, mutation::semantic_count);
    const std::vector<Verdict> verdicts = judge_all(bench_, mutants);
    counts_.all = mutants.size();
    std::vector<Mutant> survivors;
    for (size_t i = 0; i < mutants.size(); ++i) {
      const Verdict& v = verdicts[i];
      if (v.accepted())
        survivors.push_back(mutants[i]);
      else if (!v.at_case.empty())
        ++(v.near_reference ? counts_.run : counts_.reference);
      else
        ++counts_.check;
      if (!v.accepted()) reject_seconds_.push_back(v.seconds);
    }
    look_into(std::move(survivors), again);
  }

  void listed() {
    std::vector<Mutant> mutants =
        mutation::semantic_mutants(*bench_.k0, bench_.kernel, mutation::fixed_seed, mutation::semantic_count);
    std::erase_if(mutants, [this](const Mutant& m) {
      return !mutation::why_same(bench_.name, m) && !mutation::shown_by(bench_.name, m);
    });
    const std::vector<Verdict> verdicts = judge_all(bench_, mutants);
    counts_.all = mutants.size();
    for (size_t i = 0; i < mutants.size(); ++i) {
      const Mutant& m = mutants[i];
      const bool same = mutation::why_same(bench_.name, m).has_value();
      if (verdicts[i].accepted()) {
        ++(same ? counts_.same : counts_.missed);
        continue;
      }
      ++counts_.run;
      lines_.push_back(fmt::format("rejected now, of {}: {} | {} | {} | {}: {}: {}",
                                   same ? "same_as_k0.txt" : "survivors.txt", bench_.name, name(m.op),
                                   m.at.text(), m.after.empty() ? "(dropped)" : m.after, verdicts[i].at_case,
                                   verdicts[i].text));
    }
  }

  // Those of same_as_k0.txt have been through the long run.
  void look_into(std::vector<Mutant> survivors, bool again) {
    if (!again)
      counts_.same += std::erase_if(
          survivors, [this](const Mutant& m) { return mutation::why_same(bench_.name, m).has_value(); });
    if (survivors.empty()) return;
    const auto long_run = LongRun::make(bench_);
    if (!long_run) {
      lines_.push_back(fmt::format("{}: {}", bench_.name, long_run.error().message));
      return;
    }
    std::vector<LongRun::Differences> found(survivors.size());
    std::vector<std::string> looks(survivors.size());
    parallel_for(survivors.size(), 0, [&](size_t i, unsigned) {
      found[i] = long_run->try_edit(bench_, survivors[i].edit(bench_.kernel));
      looks[i] = mutation::look_at(bench_, survivors[i]).describe();
    });
    for (size_t i = 0; i < survivors.size(); ++i) {
      const Mutant& m = survivors[i];
      const auto input = mutation::shown_by(bench_.name, m);
      if (input && !found[i].rejected) found[i] = {true, true, "by hand: " + *input};
      ++(found[i].rejected ? counts_.missed : found[i].different ? counts_.close : counts_.same);
      const char* what = found[i].rejected ? "missed" : found[i].different ? "close" : "same";
      lines_.push_back(fmt::format("{} {} {} {}: {} -> {}: {}; {}", what, bench_.name, name(m.op),
                                   m.at.text(), m.before, m.after.empty() ? "(dropped)" : m.after, looks[i],
                                   found[i].text));
    }
  }

  void timing() {
    const auto mutants =
        mutation::timing_mutants(*bench_.k0, bench_.kernel, mutation::fixed_seed, mutation::timing_count);
    const std::vector<Verdict> verdicts = judge_all(bench_, mutants);
    timing_ = mutants.size();
    for (size_t i = 0; i < mutants.size(); ++i) {
      timing_rejected_ += verdicts[i].accepted() ? 0 : 1;
      if (verdicts[i].accepted())
        lines_.push_back(
            fmt::format("timing {} {}: without {}", bench_.name, mutants[i].at.text(), mutants[i].before));
    }
  }

  void rewrites() {
    const auto list = mutation::equivalent_rewrites(*bench_.k0, bench_.kernel, mutation::fixed_seed,
                                                    mutation::rewrite_count);
    const std::vector<Verdict> verdicts = judge_all(bench_, list);
    rewrites_ = list.size();
    for (size_t i = 0; i < list.size(); ++i) {
      accepted_ += verdicts[i].accepted() ? 1 : 0;
      if (!verdicts[i].accepted())
        lines_.push_back(fmt::format("false alarm {} {}: {}: {}", bench_.name, name(list[i].kind),
                                     list[i].text, verdicts[i].text));
    }
    // Alone on all cores, as a search that waits for the answer would run it.
    if (!list.empty()) accept_seconds_ = mutation::judge(bench_, list.front().edit, 0).seconds;
  }

  void print() const {
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {}/{} | {}/{} | {} | {} | {} | {} |\n", bench_.name,
               bench_.cases.size(), counts_.check, counts_.run, counts_.reference, counts_.missed,
               counts_.close, counts_.same, timing_rejected_, timing_, accepted_, rewrites_,
               ms(bench_.seconds), ms(median(reject_seconds_)), ms(quantile(reject_seconds_, 0.98)),
               ms(accept_seconds_));
    std::fflush(stdout);
  }

  const Bench& bench_;
  std::vector<std::string>& lines_;
  Counts counts_;
  size_t timing_ = 0, timing_rejected_ = 0, rewrites_ = 0, accepted_ = 0;
  double accept_seconds_ = 0;
  std::vector<double> reject_seconds_;
};

void print_totals(const Totals& t) {
  const Counts& c = t.counts;
  const size_t telling = c.all - c.same;
  fmt::print("\n{} kernels, {} mutants: {} rejected, {} missed, {} close, {} the same; of those that are not "
             "the same "
             "{:.1f} % rejected, of those beyond the tolerance {:.1f} %\n",
             t.kernels, c.all, c.rejected(), c.missed, c.close, c.same, percent(c.rejected(), telling),
             percent(c.rejected(), telling - c.close));
  fmt::print("{} of {} with only timing broken rejected ({:.1f} %)\n{} of {} rewrites accepted\n"
             "median time to reject {}, to accept {}\n\n",
             t.timing_rejected, t.timing, percent(t.timing_rejected, t.timing), t.accepted, t.rewrites,
             ms(median(t.reject_seconds)), ms(median(t.accept_seconds)));
}

} // namespace

int main(int argc, char** argv) {
  Parts parts;
  std::vector<std::string> wanted;
  for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (argument == "--mutants")
      parts.mutants = true;
    else if (argument == "--timing")
      parts.timing = true;
    else if (argument == "--rewrites")
      parts.rewrites = true;
    else if (argument == "--listed")
      parts.listed = true;
    else if (argument == "--again")
      parts.again = true;
    else
      wanted.push_back(argument);
  }
  if (!parts.mutants && !parts.timing && !parts.rewrites && !parts.listed) parts = {true, true, true};
  Totals totals;
  std::vector<std::string> lines;
  fmt::print(
      "| kernel | cases | check | run | reference | missed | close | same | timing | rewrites | K0's side | "
      "reject | 98 % | accept |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const reference::SuiteKernel& kernel : reference::suite_kernels()) {
    if (!wanted.empty() && std::ranges::find(wanted, kernel.name) == wanted.end()) continue;
    const auto bench = mutation::open_bench(kernel.name, kernel.k0, kernel.targets.front());
    if (bench)
      KernelRow(*bench, lines).run(totals, parts);
    else
      fmt::print("| {} | {} |\n", kernel.name, bench.error().message);
  }
  print_totals(totals);
  for (const std::string& line : lines) fmt::print("{}\n", line);
  return 0;
}
