#include "program/wait_order.h"

#include <algorithm>

namespace asmevo::program {

namespace {

class Sorter {
 public:
  Sorter(const Program& program, Index begin, Index end, Counter counter, bool certain) {
    for (Index i = begin; i < end; ++i) {
      const isa::Instruction& inst = program.instruction(i);
      if (raises(inst, counter) != 0) raisers_.push_back(i); // by one: no instruction of GFX9 raises more
      if (const auto count = wait_of(inst, counter); count && certain) wait(i, *count);
    }
    cut_.push_back(done_);
    std::ranges::sort(cut_);
    cut_.erase(std::ranges::unique(cut_).begin(), cut_.end());
  }

  WaitOrder result() && {
    WaitOrder order;
    size_t from = 0;
    for (const size_t to : cut_) add_group(order, from, to, false), from = std::max(from, to);
    add_group(order, from, raisers_.size(), true); // no wait of the range completes these
    order.completions = std::move(completions_);
    return order;
  }

 private:
  // A wait for `count` leaves the last `count` raises.
  void wait(Index at, unsigned count) {
    const size_t complete = raisers_.size() - std::min<size_t>(count, raisers_.size());
    cut_.push_back(complete);
    // Where the range itself has not raised the counter that often, older raises may be among those left.
    WaitOrder::Completion c{at, {}, raisers_.size() >= count};
    for (; done_ < complete; ++done_) c.members.push_back(raisers_[done_]);
    completions_.push_back(std::move(c));
  }

  void add_group(WaitOrder& order, size_t from, size_t to, bool ordered) const {
    if (from >= to) return;
    WaitOrder::Group& g = order.groups.emplace_back();
    g.ordered = ordered;
    for (size_t k = from; k < to; ++k) g.members.push_back(raisers_[k]);
  }

  std::vector<Index> raisers_;
  std::vector<size_t> cut_; // numbers of raisers at which a wait divides them
  size_t done_ = 0;         // raisers that are complete
  std::vector<WaitOrder::Completion> completions_;
};

} // namespace

WaitOrder WaitOrder::compute(const Program& program, Index begin, Index end, Counter counter, bool certain) {
  return Sorter(program, begin, end, counter, certain).result();
}

} // namespace asmevo::program
