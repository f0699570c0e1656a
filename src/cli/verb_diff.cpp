#include "base/hash.h"
#include "cli/cli.h"
#include "cli/codecs.h"
#include "cli/commit_reasons.h"
#include "cli/load.h"
#include "program/diff.h"
#include "program/layout.h"

#include <fmt/format.h>

#include <memory>

namespace asmevo::cli {

namespace {

using program::Index;
using program::Program;

struct DiffOptions {
  std::string k0, candidate, target, run;
  unsigned context = 2;
};

struct Side {
  const Program& program;
  std::vector<uint64_t> offsets;
  std::unordered_map<Index, std::vector<uint32_t>> labels;
};

void print_lines(const Side& side, Index begin, Index end, char sign, isa::Codec& codec) {
  for (Index i = begin; i < end; ++i) {
    if (const auto at = side.labels.find(i); at != side.labels.end())
      for (const uint32_t l : at->second)
        fmt::print("{}         {}:\n", sign, printable(side.program.labels[l].name, whole_text));
    fmt::print("{}{:8x}   {}\n", sign, side.offsets[i], program::print(side.program, i, codec));
  }
}

std::vector<run::Node> commits_of(const std::optional<CommitReasons>& reasons, const Side& a,
                                  const program::Hunk& h) {
  std::vector<run::Node> list;
  if (reasons)
    for (const uint32_t n : reasons->of(a.program, h.k0_begin, h.k0_end, h.begin, h.end))
      list.push_back(reasons->node(n));
  return list;
}

nlohmann::ordered_json commits_json(const std::vector<run::Node>& commits) {
  auto list = nlohmann::ordered_json::array();
  for (const run::Node& n : commits)
    list.push_back({{"node", n.id},
                    {"speedup", n.speedup},
                    {"direction", n.direction},
                    {"rule", n.rule},
                    {"rationale", n.rationale}});
  return list;
}

void print_hunk(const Side& a, const Side& b, const program::Function& f, const program::Hunk& h,
                const std::vector<run::Node>& commits, unsigned context, isa::Codec& codec) {
  const Index before = std::max(f.begin, h.k0_begin - std::min<Index>(h.k0_begin, context));
  const Index after = std::min(f.end, h.k0_end + context);
  fmt::print("@@ {:#x}\n", a.offsets[h.k0_begin]);
  for (const run::Node& n : commits)
    fmt::print("#  node {}{}: {}\n", n.id, n.direction.empty() ? "" : ", " + printable(n.direction),
               printable(n.rationale, 300));
  print_lines(a, before, h.k0_begin, ' ', codec);
  print_lines(a, h.k0_begin, h.k0_end, '-', codec);
  print_lines(b, h.begin, h.end, '+', codec);
  print_lines(a, h.k0_end, after, ' ', codec);
}

nlohmann::ordered_json lines_json(const Side& side, Index begin, Index end, isa::Codec& codec) {
  auto list = nlohmann::ordered_json::array();
  for (Index i = begin; i < end; ++i)
    list.push_back({{"offset", side.offsets[i]}, {"text", program::print(side.program, i, codec)}});
  return list;
}

Result<Answer> run(const DiffOptions& options, bool json) {
  Codecs codecs;
  ASMEVO_TRY(const Loaded k0, load_program(options.k0, options.target, codecs));
  ASMEVO_TRY(const Loaded k1, load_program(options.candidate, options.target, codecs));
  if (k0.original.object.target().gfx != k1.original.object.target().gfx)
    return bad_input("{} is for {}, {} for {}", options.k0, k0.original.object.target().name(),
                     options.candidate, k1.original.object.target().name());
  std::optional<CommitReasons> reasons;
  if (!options.run.empty()) {
    ASMEVO_TRY(reasons, CommitReasons::open(options.run, content_hash(k0.original.object.bytes()),
                                            content_hash(k1.original.object.bytes()),
                                            {options.k0, options.candidate}));
  }
  const Side a{k0.original.program(), program::offsets_of(k0.original.program()),
               k0.original.program().labels_by_entry()};
  const Side b{k1.original.program(), program::offsets_of(k1.original.program()),
               k1.original.program().labels_by_entry()};
  size_t removed = 0, added = 0;
  auto functions = nlohmann::ordered_json::array();
  const auto whole = [&](const Side& side, const program::Function& f, char sign) {
    (sign == '-' ? removed : added) += f.end - f.begin;
    if (!json)
      fmt::print("{}: only in {}\n", printable(f.name, whole_text),
                 printable(sign == '-' ? options.k0 : options.candidate, whole_text));
    if (!json) print_lines(side, f.begin, f.end, sign, *k0.codec);
    auto lines = lines_json(side, f.begin, f.end, *k0.codec);
    const char *has = sign == '-' ? "removed" : "added", *lacks = sign == '-' ? "added" : "removed";
    functions.push_back({{"function", f.name},
                         {"hunks", {{{has, std::move(lines)}, {lacks, nlohmann::ordered_json::array()}}}}});
  };
  for (const program::Function& f : b.program.functions)
    if (a.program.find_function(f.name) == nullptr) whole(b, f, '+');
  for (const program::Function& f : a.program.functions) {
    const program::Function* g = b.program.find_function(f.name);
    if (g == nullptr) {
      whole(a, f, '-');
      continue;
    }
    const auto hunks = program::diff(a.program, f, b.program, *g);
    if (hunks.empty()) continue;
    if (!json) fmt::print("{}:\n", printable(f.name, whole_text));
    auto list = nlohmann::ordered_json::array();
    for (const program::Hunk& h : hunks) {
      removed += h.k0_end - h.k0_begin;
      added += h.end - h.begin;
      const std::vector<run::Node> commits = commits_of(reasons, a, h);
      if (!json) {
        print_hunk(a, b, f, h, commits, options.context, *k0.codec);
        continue;
      }
      list.push_back({{"removed", lines_json(a, h.k0_begin, h.k0_end, *k0.codec)},
                      {"added", lines_json(b, h.begin, h.end, *k0.codec)}});
      if (reasons) list.back()["commits"] = commits_json(commits);
    }
    functions.push_back({{"function", f.name}, {"hunks", std::move(list)}});
  }
  if (json)
    print_json({{"functions", functions}, {"removed", removed}, {"added", added}});
  else
    fmt::print("{} instructions removed, {} added\n", removed, added);
  return removed + added == 0 ? Answer::Yes : Answer::No;
}

} // namespace

void add_diff(Context& context) {
  auto options = std::make_shared<DiffOptions>();
  Verb* verb = add_verb(context, "diff", "compare the instructions of two code objects",
                        "asmevo diff k0.co candidate.co");
  verb->add_option("K0", options->k0, "the original code object")->required();
  verb->add_option("candidate", options->candidate, "the one to compare with it")->required();
  verb->add_option("--target", options->target, "which object, where a file holds several");
  verb->add_option("--run", options->run, "run that the candidate comes from: with its commits' reasons")
      ->type_name("RUN");
  verb->add_option("--context", options->context, "instructions shown around each difference")
      ->capture_default_str();
  verb->callback(
      [&context, options] { context.action = [&context, options] { return run(*options, context.json); }; });
}

} // namespace asmevo::cli
