#include "program/dominators.h"

#include <algorithm>
#include <numeric>

namespace asmevo::program {

namespace {

constexpr uint32_t none = DominatorTree::none;

// Nodes are renumbered by the time the search first meets them; everything inside works on these numbers.
class LengauerTarjan {
 public:
  explicit LengauerTarjan(const FlowGraph& graph) : graph_(graph), number_(graph.size(), none) {
    if (graph.empty()) return;
    search();
    find_dominators();
  }

  DominatorTree result() const {
    DominatorTree tree;
    const size_t n = graph_.size();
    tree.parent.assign(n, none);
    tree.enter.assign(n, none);
    tree.leave.assign(n, none);
    for (uint32_t v = 1; v < vertex_.size(); ++v) tree.parent[vertex_[v]] = vertex_[idom_[v]];
    tree.order.assign(post_order_.rbegin(), post_order_.rend());
    number_tree(tree);
    return tree;
  }

 private:
  void search() {
    struct Frame {
      uint32_t node;
      size_t next;
    };
    std::vector<Frame> stack;
    const auto meet = [&](uint32_t node, uint32_t parent) {
      number_[node] = static_cast<uint32_t>(vertex_.size());
      vertex_.push_back(node);
      tree_parent_.push_back(parent);
      stack.push_back({node, 0});
    };
    meet(0, none);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == graph_[top.node].size()) {
        post_order_.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const uint32_t from = number_[top.node], to = graph_[top.node][top.next++];
      if (number_[to] == none) meet(to, from);
    }
  }

  void find_dominators() {
    const auto n = static_cast<uint32_t>(vertex_.size());
    std::vector<std::vector<uint32_t>> predecessors(n), bucket(n);
    for (uint32_t v = 0; v < n; ++v)
      for (const uint32_t s : graph_[vertex_[v]]) predecessors[number_[s]].push_back(v);
    semi_.resize(n);
    std::iota(semi_.begin(), semi_.end(), 0U);
    label_ = semi_;
    ancestor_.assign(n, none);
    idom_.assign(n, 0);
    for (uint32_t w = n; w-- > 1;) {
      for (const uint32_t v : predecessors[w]) semi_[w] = std::min(semi_[w], semi_[evaluate(v)]);
      bucket[semi_[w]].push_back(w);
      const uint32_t parent = tree_parent_[w];
      ancestor_[w] = parent;
      for (const uint32_t v : bucket[parent]) {
        const uint32_t u = evaluate(v);
        idom_[v] = semi_[u] < semi_[v] ? u : parent;
      }
      bucket[parent].clear();
    }
    for (uint32_t w = 1; w < n; ++w)
      if (idom_[w] != semi_[w]) idom_[w] = idom_[idom_[w]];
  }

  // The node of least semidominator on the path from v up the forest, which is compressed on the way.
  uint32_t evaluate(uint32_t v) {
    if (ancestor_[v] == none) return v;
    path_.clear();
    for (uint32_t u = v; ancestor_[ancestor_[u]] != none; u = ancestor_[u]) path_.push_back(u);
    while (!path_.empty()) {
      const uint32_t u = path_.back(), a = ancestor_[u];
      path_.pop_back();
      if (semi_[label_[a]] < semi_[label_[u]]) label_[u] = label_[a];
      ancestor_[u] = ancestor_[a];
    }
    return label_[v];
  }

  // Children come after their parents in reverse post-order, so sizes add up backwards and intervals go
  // forwards.
  static void number_tree(DominatorTree& tree) {
    std::vector<uint32_t> size(tree.parent.size(), 1), next(tree.parent.size(), 0);
    for (auto at = tree.order.rbegin(); at != tree.order.rend(); ++at)
      if (tree.parent[*at] != none) size[tree.parent[*at]] += size[*at];
    for (const uint32_t node : tree.order) {
      const uint32_t parent = tree.parent[node];
      tree.enter[node] = parent == none ? 0 : next[parent];
      tree.leave[node] = tree.enter[node] + size[node] - 1;
      next[node] = tree.enter[node] + 1;
      if (parent != none) next[parent] = tree.leave[node] + 1;
    }
  }

  const FlowGraph& graph_;
  std::vector<uint32_t> number_, vertex_, tree_parent_, post_order_;
  std::vector<uint32_t> semi_, label_, ancestor_, idom_, path_;
};

} // namespace

DominatorTree dominator_tree(const FlowGraph& graph) {
  return LengauerTarjan(graph).result();
}

} // namespace asmevo::program
