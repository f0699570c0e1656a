#include "program/window.h"

#include <algorithm>

namespace asmevo::program {

namespace {

using isa::IssueClass;
using isa::RegSet;

// A piece that is not cut further: a loop that fits, a block, or part of a long block.
struct Piece {
  Index begin = 0, end = 0;
  uint32_t around = no_index; // the innermost loop around it that is too long for a window
  uint32_t depth = 0;
};

class Cutter {
 public:
  Cutter(const Program& program, const Cfg& cfg, const Liveness& liveness, size_t limit)
      : program_(program), cfg_(cfg), limit_(static_cast<Index>(std::clamp<size_t>(limit, 1, no_index))) {
    measure_loops();
    for (uint32_t b = 0; b < cfg.blocks().size(); ++b) {
      live_.push_back(liveness.before_each(b));
      exits_.push_back(liveness.live_at_exit(b));
    }
  }

  std::vector<Window> cut() {
    std::vector<Window> result;
    uint32_t around = no_index;
    for (const Piece& p : pieces()) {
      const bool joins = !result.empty() && result.back().end == p.begin && around == p.around &&
                         p.end - result.back().begin <= limit_;
      if (!joins) result.emplace_back().begin = p.begin;
      result.back().end = p.end;
      result.back().loop_depth = std::max(result.back().loop_depth, p.depth);
      around = p.around;
    }
    for (Window& w : result) complete(w);
    return result;
  }

  void complete(Window& w) const {
    w.first = program_.entries[w.begin].id;
    w.last = program_.entries[w.end - 1].id;
    const auto& blocks = cfg_.blocks();
    w.live_in = live_before(w.begin);
    for (uint32_t b = cfg_.block_of(w.begin); b < blocks.size() && blocks[b].begin < w.end; ++b) {
      const auto outside = [&](uint32_t o) { return blocks[o].end <= w.begin || blocks[o].end > w.end; };
      if (blocks[b].begin >= w.begin && std::ranges::any_of(blocks[b].predecessors, outside))
        w.live_in |= live_before(blocks[b].begin);
      if (blocks[b].end > w.end) {
        w.live_out |= live_before(w.end);
        continue;
      }
      w.live_out |= exits_[b];
      for (const uint32_t s : blocks[b].successors)
        if (blocks[s].begin < w.begin || blocks[s].begin >= w.end) w.live_out |= live_before(blocks[s].begin);
    }
  }

 private:
  struct Extent {
    uint32_t first_block = no_index, last_block = 0;
    bool fits = false; // and all of it between first and last block can be reached
  };

  void measure_loops() {
    extents_.resize(cfg_.loops().size());
    for (size_t l = cfg_.loops().size(); l-- > 0;) { // inner before outer
      const Loop& loop = cfg_.loops()[l];
      Extent& e = extents_[l];
      e.first_block = std::min(e.first_block, loop.blocks.front());
      e.last_block = std::max(e.last_block, loop.blocks.back());
      if (loop.parent != no_index) {
        Extent& outer = extents_[loop.parent];
        outer.first_block = std::min(outer.first_block, e.first_block);
        outer.last_block = std::max(outer.last_block, e.last_block);
      }
    }
    for (Extent& e : extents_) {
      e.fits = cfg_.blocks()[e.last_block].end - cfg_.blocks()[e.first_block].begin <= limit_;
      for (uint32_t b = e.first_block; e.fits && b <= e.last_block; ++b) e.fits = cfg_.blocks()[b].reachable;
    }
  }

  std::vector<Piece> pieces() const {
    std::vector<Piece> result;
    const auto& blocks = cfg_.blocks();
    for (uint32_t b = 0; b < blocks.size();) {
      if (!blocks[b].reachable) {
        ++b;
      } else if (const uint32_t last = whole_loop_from(b); last != no_index) {
        Piece p{blocks[b].begin, blocks[last].end, long_loop_around(b), 0};
        for (; b <= last; ++b) p.depth = std::max(p.depth, blocks[b].loop_depth);
        result.push_back(p);
      } else {
        split(result, b++);
      }
    }
    return result;
  }

  // The last block of the outermost fitting loop that begins (by address) with block b.
  uint32_t whole_loop_from(uint32_t b) const {
    uint32_t last = no_index;
    for (uint32_t l = cfg_.blocks()[b].loop; l != no_index; l = cfg_.loops()[l].parent)
      if (extents_[l].fits && extents_[l].first_block == b && one_surrounding(extents_[l]))
        last = extents_[l].last_block;
    return last;
  }

  // Odd layouts put blocks of another loop between those of this one.
  bool one_surrounding(const Extent& e) const {
    for (uint32_t b = e.first_block; b <= e.last_block; ++b)
      if (long_loop_around(b) != long_loop_around(e.first_block)) return false;
    return true;
  }

  uint32_t long_loop_around(uint32_t b) const {
    uint32_t l = cfg_.blocks()[b].loop;
    while (l != no_index && extents_[l].fits) l = cfg_.loops()[l].parent;
    return l;
  }

  void split(std::vector<Piece>& result, uint32_t b) const {
    const Block& block = cfg_.blocks()[b];
    for (Index at = block.begin; at < block.end;) {
      const Index end = block.end - at <= limit_ ? block.end : cut_point(at);
      result.push_back({at, end, long_loop_around(b), block.loop_depth});
      at = end;
    }
  }

  // In the second half of what fits: in front of the last barrier, else of the last wait, else at the limit.
  Index cut_point(Index at) const {
    Index wait = no_index;
    for (Index i = at + limit_; i > at + limit_ / 2; --i) {
      const IssueClass issue = program_.instruction(i).issue;
      if (issue == IssueClass::Barrier) return i;
      if (issue == IssueClass::Waitcnt && wait == no_index) wait = i;
    }
    return wait != no_index ? wait : at + limit_;
  }

  RegSet live_before(Index i) const {
    const uint32_t b = cfg_.block_of(i);
    return live_[b][i - cfg_.blocks()[b].begin];
  }

  const Program& program_;
  const Cfg& cfg_;
  Index limit_;
  std::vector<Extent> extents_;           // by loop
  std::vector<std::vector<RegSet>> live_; // by block and entry in it
  std::vector<RegSet> exits_;
};

} // namespace

std::vector<Window> windows(const Program& program, const Function&, const Cfg& cfg, const Liveness& liveness,
                            size_t limit) {
  return Cutter(program, cfg, liveness, limit).cut();
}

Window window_of(const Program& program, const Cfg& cfg, const Liveness& liveness, Index begin, Index end) {
  Window window;
  window.begin = begin, window.end = end;
  for (uint32_t b = cfg.block_of(begin); b < cfg.blocks().size() && cfg.blocks()[b].begin < end; ++b)
    window.loop_depth = std::max(window.loop_depth, cfg.blocks()[b].loop_depth);
  Cutter(program, cfg, liveness, 1).complete(window);
  return window;
}

std::string listing(const Program& program, Index begin, Index end, isa::Codec& codec) {
  std::string text;
  const auto labels = program.labels_by_entry();
  for (Index i = begin; i < end; ++i) {
    if (const auto here = labels.find(i); here != labels.end())
      for (const uint32_t l : here->second) text += program.labels[l].name + ":\n";
    text += program.entries[i].id.text() + ": " + print(program, i, codec) + "\n";
  }
  return text;
}

} // namespace asmevo::program
