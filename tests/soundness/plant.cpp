#include "soundness/plant.h"

#include "base/hash.h"
#include "base/random.h"

#include <algorithm>

namespace asmevo::soundness {

namespace {

void shuffle(Drafts& drafts, uint64_t seed) {
  RandomStream random(seed);
  for (size_t n = drafts.size(); n > 1; --n) std::swap(drafts[n - 1], drafts[random.below(n)]);
}

} // namespace

std::optional<Candidate> Planter::next(DefectClass defect) {
  Queue& queue = queues_[static_cast<size_t>(defect)];
  if (!queue.made) make(defect, queue);
  queue.made = true;
  if (defect == DefectClass::SeenOnly) {
    if (seen_only_.empty()) return std::nullopt;
    Candidate next = std::move(seen_only_.back());
    seen_only_.pop_back();
    return next;
  }
  while (!queue.drafts.empty()) {
    Draft draft = std::move(queue.drafts.back());
    queue.drafts.pop_back();
    if (auto candidate = tried(defect, std::move(draft))) return candidate;
  }
  return std::nullopt;
}

void Planter::make(DefectClass defect, Queue& queue) {
  switch (defect) {
  case DefectClass::WorkSkipped: queue.drafts = work_skipped(bench_); break;
  case DefectClass::LastTileDropped: queue.drafts = last_tile_dropped(bench_); break;
  case DefectClass::WaitRemoved: queue.drafts = wait_removed(bench_); break;
  case DefectClass::StaleOutput: queue.drafts = stale_output(bench_); break;
  case DefectClass::AliasingBroken: queue.drafts = aliasing_broken(bench_); break;
  case DefectClass::GuardOverwritten: queue.drafts = guard_overwritten(bench_); break;
  case DefectClass::AbiChanged: queue.drafts = abi_changed(bench_); break;
  case DefectClass::NanHidden: queue.drafts = nan_hidden(bench_); break;
  case DefectClass::OwnOldOutput: queue.drafts = own_old_output(bench_); break;
  case DefectClass::SeenOnly: return make_seen_only();
  }
  shuffle(queue.drafts, seed_of(defect));
}

// All at once, as it takes the cases of a whole run to make them.
void Planter::make_seen_only() {
  constexpr size_t most = 8;
  gate::SetupRequest request = bench_.request();
  request.threads = 1;
  auto setup = gate::Setup::make(std::move(request));
  if (!setup) return;
  setup_ = *std::move(setup);
  Drafts drafts = seen_only(bench_, *setup_);
  shuffle(drafts, seed_of(DefectClass::SeenOnly));
  for (Draft& d : drafts) {
    if (seen_only_.size() == most) break;
    if (auto candidate = tried(DefectClass::SeenOnly, std::move(d)))
      seen_only_.push_back(*std::move(candidate));
  }
  setup_.reset();
}

uint64_t Planter::seed_of(DefectClass defect) const {
  return seed_ ^ hash64(as_bytes(bench_.source.name)) ^ static_cast<uint64_t>(defect);
}

std::optional<Candidate> Planter::tried(DefectClass defect, Draft draft) {
  Candidate candidate{.defect = defect, .text = draft.text, .proof = "", .edit = {}, .object = {}};
  if (draft.object) {
    if (!seen_.insert(content_hash(*draft.object)).second) return std::nullopt;
    candidate.proof = "by construction";
    candidate.object = std::move(draft.object);
    return candidate;
  }
  candidate.edit = bench_.edit(draft.changes, draft.front);
  candidate.edit->rationale = fmt::format("{}: {}", name(defect), draft.text);
  const auto built = bench_.build(*candidate.edit);
  if (!built) return std::nullopt;
  candidate.proof = proof_of(defect, draft, *built);
  if (candidate.proof.empty() || !seen_.insert(content_hash((*built)->object().bytes())).second)
    return std::nullopt;
  return candidate;
}

// Empty: it may be right.
std::string Planter::proof_of(DefectClass defect, const Draft& draft, const Truth::Subject& built) const {
  const Truth& truth = *bench_.truth;
  switch (defect) {
  case DefectClass::WaitRemoved: return truth.wrong_when_delayed(built);
  case DefectClass::NanHidden: return truth.wrong(built).empty() ? truth.hidden_nan(built) : "";
  case DefectClass::SeenOnly:
    return Truth::wrong_on(setup_->held_back()[*draft.reveals]->dispatch(), bench_.k0, built);
  case DefectClass::AliasingBroken: {
    const auto harmless = bench_.build(bench_.edit(draft.harmless));
    return harmless && truth.wrong(*harmless).empty() ? truth.wrong(built) : "";
  }
  default: return truth.wrong(built);
  }
}

} // namespace asmevo::soundness
