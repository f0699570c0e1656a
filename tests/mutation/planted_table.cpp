// Prints the table of docs/sanitizer.md: for each kernel, defects planted one at a time, those that count,
// and who finds them; below it those that nobody does.
//
//   planted_table [--target GFX] [KERNEL...]                       of the suite
//   planted_table --launch OBJECT LAUNCH.toml KERNEL               one kernel
#include "base/parallel.h"
#include "mutation/planted.h"
#include "reference/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace {

using namespace asmevo;
using mutation::Plant;
using mutation::Planted;
using mutation::PlantedVerdict;

struct Counts {
  size_t planted = 0, count = 0, shown = 0, by_static = 0, by_sanitizer = 0, found = 0;
  void add(const PlantedVerdict& v) {
    ++planted;
    if (!v.counts()) return;
    ++count;
    shown += v.shows ? 1 : 0;
    by_static += v.by_static ? 1 : 0;
    by_sanitizer += v.by_sanitizer ? 1 : 0;
    found += v.found() ? 1 : 0;
  }
  void print(std::string_view what) const {
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {:.1f} % |\n", what, planted, count, shown, by_static,
               by_sanitizer, found,
               count == 0 ? 100.0 : 100.0 * static_cast<double>(found) / static_cast<double>(count));
    std::fflush(stdout);
  }
};

struct Table {
  Counts all;
  std::map<Plant, Counts> by_plant;
  std::vector<std::string> missed, notes;

  void row(const std::string& title, const std::string& object, const std::string& launch,
           const std::string& kernel) {
    const auto bench = mutation::open_planted(object, launch, kernel);
    if (!bench) {
      fmt::print("| {} | {} |\n", title, bench.error().message);
      return;
    }
    if (!bench->same_delayed)
      notes.push_back(title + ": K0 itself leaves something else when results are delayed");
    if (!bench->lds_writes)
      notes.push_back(title + ": K0 counts on LDS working in order: LDS writes are not delayed");
    for (const sanitizer::Defect& d : bench->defects)
      notes.push_back(fmt::format("{}: K0: {}", title, d.message()));
    const std::vector<Planted> list = mutation::planted_defects(*bench->k0, kernel);
    std::vector<PlantedVerdict> verdicts(list.size());
    parallel_for(list.size(), 0, [&](size_t i, unsigned) { verdicts[i] = mutation::judge(*bench, list[i]); });
    Counts counts;
    for (size_t i = 0; i < list.size(); ++i) {
      counts.add(verdicts[i]);
      all.add(verdicts[i]);
      by_plant[list[i].plant].add(verdicts[i]);
      if (verdicts[i].counts() && !verdicts[i].found())
        missed.push_back(fmt::format("missed {} {}: {}", title, name(list[i].plant), list[i].text));
    }
    counts.print(title);
  }
};

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  fmt::print("| kernel | planted | count | shown by delay | static check | sanitizer | found | |\n"
             "|---|---|---|---|---|---|---|---|\n");
  Table table;
  if (arguments.size() == 4 && arguments[0] == "--launch") {
    table.row(arguments[3], arguments[1], arguments[2], arguments[3]);
  } else {
    std::string target;
    std::vector<std::string> wanted;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == "--target" && i + 1 < arguments.size())
        target = arguments[++i];
      else
        wanted.push_back(arguments[i]);
    }
    for (const reference::SuiteKernel& kernel : reference::suite_kernels()) {
      if (!wanted.empty() && std::ranges::find(wanted, kernel.name) == wanted.end()) continue;
      if (!target.empty() && std::ranges::find(kernel.targets, target) == kernel.targets.end()) continue;
      const std::string gfx = target.empty() ? kernel.targets.front() : target;
      table.row(kernel.name, fmt::format("{}/kernels/suite/{}.{}.co", ASMEVO_BINARY_DIR, kernel.name, gfx),
                fmt::format("{}/kernels/suite/{}.toml", ASMEVO_SOURCE_DIR, kernel.name), kernel.k0);
    }
  }
  table.all.print("all");
  fmt::print("\n| kind | planted | count | shown by delay | static check | sanitizer | found | |\n"
             "|---|---|---|---|---|---|---|---|\n");
  for (const auto& [plant, counts] : table.by_plant) counts.print(name(plant));
  fmt::print("\n");
  for (const std::string& line : table.notes) fmt::print("{}\n", line);
  for (const std::string& line : table.missed) fmt::print("{}\n", line);
  return 0;
}
