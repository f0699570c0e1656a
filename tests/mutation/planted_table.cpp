// Prints the table of docs/sanitizer.md: for each kernel, defects planted one at a time, those that count,
// and who finds them; below it those that nobody does.
//
//   planted_table [--target GFX] [KERNEL...]                       of the suite
//   planted_table --launch OBJECT LAUNCH.toml KERNEL               one kernel
//   planted_table --aiter HSA_FOLDER [NAME...]                     AITer's, those aside whose waves race
//   planted_table --triton OBJECTS_FOLDER [NAME...]
#include "base/parallel.h"
#include "mutation/planted.h"
#include "reference/aiter.h"
#include "reference/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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
           const std::string& kernel, const std::vector<std::string>& shapes = {}) {
    const auto bench = mutation::open_planted(object, launch, kernel, shapes);
    if (!bench) {
      fmt::print("| {} | {} |\n", title, bench.error().message);
      return;
    }
    if (!bench->same_delayed)
      notes.push_back(title + ": K0 itself leaves something else when results are delayed");
    if (!bench->lds_writes)
      notes.push_back(title + ": K0 counts on LDS working in order: LDS writes are not delayed");
    std::map<std::string, std::set<std::string>> own; // of all cases together
    for (const sanitizer::Defect& d : bench->defects)
      if (!d.possible) own[fmt::format("{} {}", name(d.kind), d.rule)].insert(d.first.text + d.second.text);
    for (const auto& [what, pairs] : own)
      notes.push_back(fmt::format("{}: K0 itself: {}: {} pairs of instructions", title, what, pairs.size()));
    const std::vector<Planted> list = mutation::planted_defects(*bench->k0, bench->kernel);
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

std::string source_file(const std::string& path) {
  return std::string(ASMEVO_SOURCE_DIR) + "/kernels/" + path;
}
bool is_wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

void suite_rows(Table& table, const std::string& target, const std::vector<std::string>& names) {
  for (const reference::SuiteKernel& kernel : reference::suite_kernels()) {
    if (!is_wanted(names, kernel.name)) continue;
    if (!target.empty() && std::ranges::find(kernel.targets, target) == kernel.targets.end()) continue;
    const std::string gfx = target.empty() ? kernel.targets.front() : target;
    table.row(kernel.name, fmt::format("{}/kernels/suite/{}.{}.co", ASMEVO_BINARY_DIR, kernel.name, gfx),
              source_file("suite/" + kernel.name + ".toml"), kernel.k0);
  }
}

// What kernels leave whose waves race depends on their order, delays or not.
void aiter_rows(Table& table, const std::string& folder, const std::vector<std::string>& names) {
  for (const reference::AiterKernel& kernel : reference::aiter_kernels()) {
    if (kernel.races || !is_wanted(names, kernel.name)) continue;
    std::vector<std::string> shapes = kernel.shapes;
    std::erase_if(shapes, [](const std::string& shape) { return shape.ends_with("search"); });
    if (shapes.size() > 2) shapes.resize(2);
    table.row(kernel.name, folder + "/" + kernel.object, source_file("aiter/" + kernel.launch + ".toml"), "",
              shapes);
  }
}

void triton_rows(Table& table, const std::string& folder, const std::vector<std::string>& names) {
  for (const char* const name :
       {"attention_forward", "awq_gemm", "block_scale_gemm", "fused_moe", "moe_lora", "softmax"})
    if (is_wanted(names, name))
      table.row(name, fmt::format("{}/{}.gfx942.co", folder, name),
                source_file(fmt::format("triton/{}.toml", name)), "");
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  std::string mode, value;
  if (names.size() >= 2 && names[0].starts_with("--")) {
    mode = names[0], value = names[1];
    names.erase(names.begin(), names.begin() + 2);
  }
  fmt::print("| kernel | planted | count | shown by delay | static check | sanitizer | found | |\n"
             "|---|---|---|---|---|---|---|---|\n");
  Table table;
  if (mode == "--launch" && names.size() == 2)
    table.row(names[1], value, names[0], names[1]);
  else if (mode == "--aiter")
    aiter_rows(table, value, names);
  else if (mode == "--triton")
    triton_rows(table, value, names);
  else
    suite_rows(table, mode == "--target" ? value : "", names);
  table.all.print("all");
  fmt::print("\n| kind | planted | count | shown by delay | static check | sanitizer | found | |\n"
             "|---|---|---|---|---|---|---|---|\n");
  for (const auto& [plant, counts] : table.by_plant) counts.print(name(plant));
  fmt::print("\n");
  for (const std::string& line : table.notes) fmt::print("{}\n", line);
  for (const std::string& line : table.missed) fmt::print("{}\n", line);
  return 0;
}
