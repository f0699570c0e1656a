#include "profile/code_path.h"

#include <algorithm>
#include <cmath>

namespace asmevo::profile {

using program::Block;
using program::Index;
using program::no_index;

CodePath::CodePath(const KernelCode& code, const KernelProfile& profile) : code_(code), profile_(profile) {
  const bool counted =
      std::ranges::any_of(profile.instructions, [](const InstructionTime& i) { return i.issues > 0; });
  for (const Block& block : code.cfg().blocks()) {
    double weight = 0;
    for (Index i = block.begin; i < block.end; ++i)
      if (const InstructionTime* const t = time(i))
        weight = counted ? std::max(weight, t->issues) : weight + t->total();
    weights_.push_back(weight);
  }
}

double CodePath::weight(uint32_t from, uint32_t to) const {
  const auto& blocks = code_.cfg().blocks();
  if (blocks[from].successors.size() == 1) return weights_[from];
  if (blocks[to].predecessors.size() == 1) return weights_[to];
  double rest = weights_[from];
  for (const uint32_t other : blocks[from].successors)
    if (other != to && blocks[other].predecessors.size() == 1) rest -= weights_[other];
  return std::clamp(rest, 0.0, std::max(0.0, weights_[to]));
}

CodePath::Walk::Walk(const CodePath& path, Index from, bool back)
    : path_(path), at_(from), back_(back), visits_(path.code().cfg().blocks().size(), 0) {}

Index CodePath::Walk::next() {
  if (at_ == no_index) return no_index;
  const uint32_t number = path_.code().cfg().block_of(at_);
  const Block& block = path_.code().cfg().blocks()[number];
  if (back_)
    at_ = at_ > block.begin ? at_ - 1 : across(number);
  else
    at_ = at_ + 1 < block.end ? at_ + 1 : across(number);
  return at_;
}

const std::vector<uint32_t>& CodePath::Walk::next_of(uint32_t block) const {
  const Block& b = path_.code().cfg().blocks()[block];
  return back_ ? b.predecessors : b.successors;
}

double CodePath::Walk::edge(uint32_t block, uint32_t next) const {
  return back_ ? path_.weight(next, block) : path_.weight(block, next);
}

Index CodePath::Walk::across(uint32_t number) {
  constexpr uint8_t most = 2;
  const auto& blocks = path_.code().cfg().blocks();
  const uint32_t neighbour = back_ ? number - 1 : number + 1;
  uint32_t best = no_index;
  for (const uint32_t b : next_of(number)) {
    if (!blocks[b].reachable || visits_[b] >= most) continue;
    if (goes_on(number, b)) {
      best = b;
      break;
    }
    const double gain = best == no_index ? 1 : edge(number, b) - edge(number, best);
    if (gain > 0 || (gain == 0 && b == neighbour)) best = b;
  }
  if (best != no_index) taken_ = edge(number, best);
  if (best == no_index) best = way_out();
  if (best == no_index) return no_index;
  ++visits_[best];
  return back_ ? blocks[best].end - 1 : blocks[best].begin;
}

bool CodePath::Walk::goes_on(uint32_t block, uint32_t next) const {
  const auto& blocks = path_.code().cfg().blocks();
  constexpr double same = 1e-6;
  return taken_ > 0 && taken_ < path_.weight(block) * (1 - same) && blocks[block].loop == blocks[next].loop &&
         std::abs(edge(block, next) - taken_) <= same * taken_;
}

// Where a loop's end leads nowhere but round again: from another of the blocks that were met.
uint32_t CodePath::Walk::way_out() const {
  const auto& blocks = path_.code().cfg().blocks();
  uint32_t best = no_index;
  double most = -1;
  for (uint32_t from = 0; from < visits_.size(); ++from) {
    if (visits_[from] == 0) continue;
    for (const uint32_t b : next_of(from))
      if (blocks[b].reachable && visits_[b] == 0 && edge(from, b) > most) best = b, most = edge(from, b);
  }
  return best;
}

} // namespace asmevo::profile
