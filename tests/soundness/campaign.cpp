#include "soundness/campaign.h"

#include "base/files.h"
#include "base/parallel.h"
#include "search/optimization.h"

#include <algorithm>

namespace asmevo::soundness {

namespace {

using gate::Json;

constexpr std::array all_classes = {DefectClass::WorkSkipped,    DefectClass::LastTileDropped,
                                    DefectClass::WaitRemoved,    DefectClass::StaleOutput,
                                    DefectClass::AliasingBroken, DefectClass::GuardOverwritten,
                                    DefectClass::AbiChanged,     DefectClass::NanHidden,
                                    DefectClass::SeenOnly,       DefectClass::OwnOldOutput};

// At most one of each class a kernel, until every class has what it needs or nothing is left.
class Plan {
 public:
  Plan(std::vector<Planned> kernels, size_t per_class, size_t per_kernel, uint64_t seed)
      : kernels_(std::move(kernels)), per_class_(per_class), per_kernel_(per_kernel) {
    for (const Planned& k : kernels_) planters_.emplace_back(*k.bench, seed);
  }

  std::vector<Planned> make() {
    for (size_t round = 0; round < per_kernel_; ++round)
      for (const DefectClass c : all_classes) {
        std::vector<std::optional<Candidate>> found(kernels_.size());
        const size_t still = per_class_ - counts_[c];
        // No more kernels than are needed, from another one on in each round.
        const size_t some = std::min(still, kernels_.size());
        const size_t first = round + static_cast<size_t>(c);
        parallel_for(some, 0, [&](size_t n, unsigned) {
          const size_t k = (first + n) % kernels_.size();
          found[k] = planters_[k].next(c);
        });
        for (size_t k = 0; k < kernels_.size(); ++k)
          if (found[k]) {
            kernels_[k].candidates.push_back(*std::move(found[k]));
            ++counts_[c];
          }
      }
    return std::move(kernels_);
  }

 private:
  std::vector<Planned> kernels_;
  std::vector<Planter> planters_;
  size_t per_class_, per_kernel_;
  std::map<DefectClass, size_t> counts_;
};

Result<std::string> write_proposals(const Planned& planned, const std::filesystem::path& folder) {
  std::string lines;
  for (size_t n = 0; n < planned.candidates.size(); ++n) {
    const Candidate& c = planned.candidates[n];
    if (c.edit) {
      lines += Json::parse(c.edit->json()).dump() + "\n";
      continue;
    }
    const std::string file = fmt::format("{}.co", n);
    ASMEVO_CHECK(write_file(folder / file, *c.object));
    lines += Json({{"object", file}, {"rationale", c.text}}).dump() + "\n";
  }
  program::Edit right = planned.bench->edit({});
  right.rationale = "nothing but the pause left out";
  lines += Json::parse(right.json()).dump() + "\n";
  const std::filesystem::path file = folder / "proposals.jsonl";
  ASMEVO_CHECK(write_file(file, lines));
  return file.string();
}

} // namespace

Result<std::vector<Planned>> plan(const std::vector<KernelSource>& sources, size_t per_class,
                                  size_t per_kernel, uint64_t seed) {
  std::vector<std::optional<Result<Bench>>> benches(sources.size());
  parallel_for(sources.size(), 0, [&](size_t n, unsigned) { benches[n].emplace(Bench::open(sources[n])); });
  std::vector<Planned> kernels;
  for (size_t n = 0; n < sources.size(); ++n) {
    if (!*benches[n]) return failed(benches[n]->error(), sources[n].name);
    kernels.push_back({std::make_unique<const Bench>(**std::move(benches[n])), {}});
  }
  return Plan(std::move(kernels), per_class, per_kernel, seed).make();
}

bool Ended::as_it_should() const {
  if (committed()) return false;
  if (!timed()) return true;
  return candidate.defect == DefectClass::SeenOnly && attempt.outcome == gate::Outcome::DivergentHeldBack;
}

Result<Replayed> replay(const Planned& planned, const std::filesystem::path& folder, unsigned workers) {
  ASMEVO_CHECK(make_folder(folder));
  search::OptimizationSettings settings;
  settings.setup = planned.bench->request();
  settings.driver = "replay";
  ASMEVO_TRY(settings.proposals, write_proposals(planned, folder));
  search::OptimizationHooks hooks;
  hooks.workers = workers;
  hooks.program = ASMEVO_BINARY_DIR "/asmevo";
  ASMEVO_TRY(const auto result, search::optimize(folder / "run", settings, settings.setup.k0, hooks));
  ASMEVO_TRY(const auto run, run::RunFolder::open(folder / "run", false));
  ASMEVO_TRY(std::vector<run::Attempt> attempts, run->attempts());
  if (attempts.size() != planned.candidates.size() + 1)
    return bad_input("{} attempts of {} candidates", attempts.size(), planned.candidates.size() + 1);
  Replayed replayed;
  replayed.right_one_committed = attempts.back().outcome == gate::Outcome::Committed;
  for (size_t n = 0; n < planned.candidates.size(); ++n)
    replayed.ended.push_back({planned.candidates[n], std::move(attempts[n])});
  return replayed;
}

std::string table(const std::vector<Ended>& ended) {
  using Column = std::pair<gate::Gate, gate::Outcome>;
  std::map<Column, size_t> columns;
  std::map<DefectClass, std::map<Column, size_t>> rows;
  std::map<DefectClass, size_t> planted, timed, committed;
  for (const Ended& e : ended) {
    const Column column(e.attempt.held_back ? gate::Gate::G4 : e.attempt.evaluation.gate, e.attempt.outcome);
    ++columns[column], ++rows[e.candidate.defect][column], ++planted[e.candidate.defect];
    timed[e.candidate.defect] += e.timed() ? 1 : 0, committed[e.candidate.defect] += e.committed() ? 1 : 0;
  }
  std::string text = "| class | planted |", line = "|---|---|";
  for (const auto& [column, count] : columns)
    text += fmt::format(" {} {} |", name(column.first), name(column.second)), line += "---|";
  text += " timed | committed |\n" + line + "---|---|\n";
  for (const DefectClass c : all_classes) {
    text += fmt::format("| {} | {} |", name(c), planted[c]);
    for (const auto& [column, count] : columns) text += fmt::format(" {} |", rows[c][column]);
    text += fmt::format(" {} | {} |\n", timed[c], committed[c]);
  }
  text += fmt::format("| all | {} |", ended.size());
  for (const auto& [column, count] : columns) text += fmt::format(" {} |", count);
  const auto total = [](const std::map<DefectClass, size_t>& counts) {
    size_t sum = 0;
    for (const auto& [c, n] : counts) sum += n;
    return sum;
  };
  return text + fmt::format(" {} | {} |\n", total(timed), total(committed));
}

} // namespace asmevo::soundness
