#include "program/diff.h"

#include <algorithm>

namespace asmevo::program {

namespace {

constexpr int max_differences = 2000;

// The words with what depends on the place taken out.
std::array<uint32_t, isa::Instruction::max_dwords> placeless_words(const Program& p, Index i) {
  auto words = p.instruction(i).words;
  const uint32_t reference = p.entries[i].reference;
  if (reference == no_index) return words;
  if (p.references[reference].use == isa::SymbolUse::Branch)
    words[0] &= 0xffff0000;
  else if (p.instruction(i).literal())
    words[p.instruction(i).dwords - 1] = 0;
  return words;
}

class Differ {
 public:
  Differ(const Program& a, const Function& fa, const Program& b, const Function& fb)
      : a_(a), b_(b), a0_(fa.begin), b0_(fb.begin), n_(static_cast<int>(fa.end - fa.begin)),
        m_(static_cast<int>(fb.end - fb.begin)) {
    for (Index i = fa.begin; i < fa.end; ++i) a_words_.push_back(placeless_words(a, i));
    for (Index i = fb.begin; i < fb.end; ++i) b_words_.push_back(placeless_words(b, i));
  }

  std::vector<Hunk> run() {
    match_.assign(static_cast<size_t>(n_), -1);
    int prefix = 0;
    while (prefix < n_ && prefix < m_ && same(prefix, prefix))
      match_[static_cast<size_t>(prefix)] = prefix, ++prefix;
    int suffix = 0;
    while (suffix < n_ - prefix && suffix < m_ - prefix && same(n_ - 1 - suffix, m_ - 1 - suffix)) {
      match_[static_cast<size_t>(n_ - 1 - suffix)] = m_ - 1 - suffix;
      ++suffix;
    }
    myers(prefix, n_ - suffix, prefix, m_ - suffix);
    unmatch_moved_targets();
    return hunks();
  }

 private:
  bool same(int x, int y) const {
    return a_words_[static_cast<size_t>(x)] == b_words_[static_cast<size_t>(y)];
  }

  // Greedy Myers with the furthest points of every round kept for the way back.
  void myers(int a_begin, int a_end, int b_begin, int b_end) {
    const int n = a_end - a_begin, m = b_end - b_begin;
    if (n == 0 || m == 0) return;
    const int limit = std::min(n + m, max_differences);
    std::vector<std::vector<int>> rounds;
    std::vector<int> furthest(static_cast<size_t>(2 * limit + 3), 0);
    const auto at = [&](std::vector<int>& v, int k) -> int& { return v[static_cast<size_t>(k + limit + 1)]; };
    for (int d = 0; d <= limit; ++d) {
      rounds.push_back(furthest);
      for (int k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1));
        int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
        while (x < n && x - k < m && x - k >= 0 && same(a_begin + x, b_begin + x - k)) ++x;
        at(furthest, k) = x;
        if (x >= n && x - k >= m) return walk_back(rounds, d, k, n, m, a_begin, b_begin, limit);
      }
    }
  }

  void walk_back(std::vector<std::vector<int>>& rounds, int d, int k, int x, int y, int a_begin, int b_begin,
                 int limit) {
    const auto at = [&](const std::vector<int>& v, int key) {
      return v[static_cast<size_t>(key + limit + 1)];
    };
    for (; d >= 0; --d) {
      const std::vector<int>& before = rounds[static_cast<size_t>(d)];
      const bool down = d > 0 && (k == -d || (k != d && at(before, k - 1) < at(before, k + 1)));
      const int previous_k = d == 0 ? 0 : down ? k + 1 : k - 1;
      const int previous_x = d == 0 ? 0 : at(before, previous_k);
      const int previous_y = previous_x - previous_k;
      while (x > previous_x && y > previous_y && x > 0 && y > 0 && same(a_begin + x - 1, b_begin + y - 1)) {
        --x, --y;
        match_[static_cast<size_t>(a_begin + x)] = b_begin + y;
      }
      if (d == 0) break;
      x = previous_x;
      y = previous_y;
      k = previous_k;
    }
  }

  // A pair whose references mean different places is no match after all. Labels of K0 keep their number in
  // programs that descend from it, but not between files: positions are what counts.
  void unmatch_moved_targets() {
    const auto matched = match_;
    for (int x = 0; x < n_; ++x) {
      int& y = match_[static_cast<size_t>(x)];
      if (y < 0) continue;
      const uint32_t ra = a_.entries[a0_ + static_cast<Index>(x)].reference;
      const uint32_t rb = b_.entries[b0_ + static_cast<Index>(y)].reference;
      const bool one = (ra == no_index) != (rb == no_index), both = ra != no_index && rb != no_index;
      if (one || (both && !same_place(a_.references[ra], b_.references[rb], matched))) y = -1;
    }
  }

  bool same_place(const Reference& ra, const Reference& rb, const std::vector<int>& matched) const {
    if ((ra.label == no_index) != (rb.label == no_index)) return false;
    if (ra.label == no_index) return ra.section == rb.section && ra.offset == rb.offset;
    const int ta = static_cast<int>(a_.labels[ra.label].at) - static_cast<int>(a0_);
    const int tb = static_cast<int>(b_.labels[rb.label].at) - static_cast<int>(b0_);
    if (ta < 0 || ta >= n_) return tb < 0 || tb >= m_; // another function
    // The target itself may be new code in front of the old: accept the next matched instruction.
    for (int k = ta; k < n_; ++k)
      if (matched[static_cast<size_t>(k)] >= 0) {
        const int at = matched[static_cast<size_t>(k)];
        const int first = k == 0 ? 0 : previous_match(matched, k) + 1;
        return tb >= first && tb <= at;
      }
    return tb >= previous_match(matched, n_) + 1;
  }

  static int previous_match(const std::vector<int>& matched, int k) {
    for (int p = k - 1; p >= 0; --p)
      if (matched[static_cast<size_t>(p)] >= 0) return matched[static_cast<size_t>(p)];
    return -1;
  }

  std::vector<Hunk> hunks() const {
    std::vector<Hunk> list;
    int y = 0;
    for (int x = 0; x <= n_;) {
      const int start_x = x, start_y = y;
      while (x < n_ && match_[static_cast<size_t>(x)] < 0) ++x;
      const int next_y = x < n_ ? match_[static_cast<size_t>(x)] : m_;
      if (x > start_x || next_y > start_y)
        list.push_back({a0_ + static_cast<Index>(start_x), a0_ + static_cast<Index>(x),
                        b0_ + static_cast<Index>(start_y), b0_ + static_cast<Index>(next_y)});
      if (x == n_) break;
      y = next_y + 1;
      ++x;
    }
    return list;
  }

  const Program &a_, &b_;
  Index a0_, b0_;
  int n_, m_;
  std::vector<std::array<uint32_t, isa::Instruction::max_dwords>> a_words_, b_words_;
  std::vector<int> match_; // of a's entries: b's entry or -1
};

} // namespace

std::vector<Hunk> diff(const Program& k0, const Function& k0_function, const Program& other,
                       const Function& function) {
  return Differ(k0, k0_function, other, function).run();
}

} // namespace asmevo::program
