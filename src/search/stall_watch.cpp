#include "search/stall_watch.h"

namespace asmevo::search {

namespace {

constexpr size_t least_proposals = 12; // to speak of most of them

} // namespace

std::string_view name(StallStep step) {
  switch (step) {
  case StallStep::None: return "";
  case StallStep::Redirect: return "redirect";
  case StallStep::Backtrack: return "backtrack";
  case StallStep::Widen: return "widen";
  case StallStep::GiveUp: return "give up";
  }
  return "";
}

void StallWatch::see(const Outcome& o) {
  ++proposals_;
  repeats_ += o.outcome == gate::Outcome::Duplicate;
  failures_ += o.outcome == gate::Outcome::InfrastructureError;
  committed_ |= o.node.has_value();
  const std::string& direction = o.suggestion.edit.direction;
  ++tried_[direction.empty() ? "no direction" : direction][o.outcome];
}

StallStep StallWatch::after_round(bool ended) {
  if (committed_) {
    *this = StallWatch(patience_);
    return StallStep::None;
  }
  ++rounds_, ++rounds_seen_;
  if (ended)
    why_ = "there are no more ideas";
  else if (rounds_ >= patience_)
    why_ = fmt::format("{} rounds without a commit", rounds_seen_);
  else if (proposals_ >= least_proposals && repeats_ * 2 > proposals_)
    why_ = fmt::format("{} of {} proposals were repeats", repeats_, proposals_);
  else if (proposals_ >= least_proposals && failures_ * 2 > proposals_)
    why_ = fmt::format("{} of {} proposals failed for reasons of the machine", failures_, proposals_);
  else
    return StallStep::None;
  rounds_ = 0, proposals_ = repeats_ = failures_ = 0;
  if (step_ != StallStep::GiveUp) step_ = static_cast<StallStep>(static_cast<uint8_t>(step_) + 1);
  return step_;
}

std::string StallWatch::why() const {
  return why_;
}

std::string StallWatch::tried() const {
  std::string text;
  for (const auto& [direction, outcomes] : tried_) {
    unsigned all = 0;
    std::string parts;
    for (const auto& [outcome, count] : outcomes) {
      all += count;
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, gate::name(outcome));
    }
    text += fmt::format("{}{}: {} tried ({})", text.empty() ? "" : "; ", direction, all, parts);
  }
  return text;
}

} // namespace asmevo::search
