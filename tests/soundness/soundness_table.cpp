// Prints the table of docs/soundness.md: wrong candidates planted in kernels of this project, and where each
// ends. Below it, those that are not stopped where they should be.
//
//   soundness_table [--per-class N] [--list] [KERNEL...]
#include "soundness/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unistd.h>

namespace {

using namespace asmevo;
using soundness::Ended;

struct Options {
  size_t per_class = 55;
  bool list = false;
  std::vector<std::string> kernels;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    const std::string_view word = argv[n];
    if (word == "--list")
      options.list = true;
    else if (word == "--per-class" && n + 1 < argc) {
      const std::string_view number = argv[++n];
      std::from_chars(number.data(), number.data() + number.size(), options.per_class);
    } else
      options.kernels.emplace_back(word);
  }
  return options;
}

int print_table(const Options& options) {
  std::vector<soundness::KernelSource> sources = soundness::sources();
  if (!options.kernels.empty())
    std::erase_if(sources, [&](const auto& s) {
      return std::ranges::find(options.kernels, s.name) == options.kernels.end();
    });
  const auto planned = soundness::plan(sources, options.per_class, options.per_class);
  if (!planned) {
    fmt::print(stderr, "{}\n", planned.error().message);
    return 2;
  }
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("asmevo_soundness_{}", ::getpid());
  std::vector<Ended> all;
  bool good = true;
  std::string wrong;
  for (const soundness::Planned& p : *planned) {
    const std::string& kernel = p.bench->source.name;
    fmt::print(stderr, "{}: {} candidates\n", kernel, p.candidates.size());
    auto replayed = soundness::replay(p, folder / kernel, 0);
    if (!replayed) {
      fmt::print(stderr, "{}: {}\n", kernel, replayed.error().message);
      return 3;
    }
    if (!replayed->right_one_committed) wrong += kernel + ": the right one is not committed\n", good = false;
    for (const Ended& e : replayed->ended) {
      const std::string line = fmt::format("{}: {}: {}: {}: {} {} (wrong: {})\n", name(e.candidate.defect),
                                           kernel, e.candidate.text, name(e.attempt.evaluation.gate),
                                           name(e.attempt.outcome), e.attempt.text, e.candidate.proof);
      if (options.list) fmt::print("{}", line);
      if (!e.as_it_should()) wrong += line, good = false;
    }
    std::ranges::move(replayed->ended, std::back_inserter(all));
  }
  std::filesystem::remove_all(folder);
  fmt::print("{}\n{}", soundness::table(all), wrong);
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  return print_table(parse(argc, argv));
}
