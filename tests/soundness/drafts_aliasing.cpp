// Aliasing broken: a kernel that works in place loads, and then stores over what it loaded. Code that loads
// again, loads later, or works something out anew behind such a store gets the new contents in place of the
// old. In front of the block's first store the same change does no harm, by which it is told from other
// mistakes.
#include "program/cfg.h"
#include "soundness/drafts.h"

#include <algorithm>

namespace asmevo::soundness {

namespace {

using isa::Instruction;
using program::Index;

bool is_load(const Instruction& i) {
  const isa::MemoryAccess& m = i.memory;
  const bool global = m.kind == isa::MemoryKind::Global || m.kind == isa::MemoryKind::Flat ||
                      m.kind == isa::MemoryKind::Buffer;
  return global && m.load && !m.store && !m.atomic && !m.lds_dma;
}

isa::RegSet vector_defs(const Instruction& i) {
  isa::RegSet set;
  for (const isa::RegRange& d : i.defs)
    if (isa::is_vector(d.first)) set.insert(d);
  return set;
}

class Finder {
 public:
  explicit Finder(const Bench& bench) : bench_(bench), stores_(stores_of(bench)) {}

  Drafts run() {
    const program::Cfg cfg = program::Cfg::build(bench_.program(), bench_.function());
    for (const program::Block& b : cfg.blocks())
      for (const Index store : stores_) {
        if (!b.reachable || store < b.begin || store >= b.end) continue;
        if (first_store_ == program::no_index || first_store_ < b.begin) first_store_ = store;
        around(b, store);
      }
    return std::move(list_);
  }

 private:
  const Instruction& at(Index i) const { return bench_.program().instruction(i); }

  void around(const program::Block& b, Index store) {
    for (Index load = b.begin; load < store; ++load) {
      if (!is_load(at(load))) continue;
      const std::string again = bench_.text(load) + "\ns_waitcnt vmcnt(0)";
      add(fmt::format("{} again", place_text(bench_, load)), store, again, {});
      add(fmt::format("{} later", place_text(bench_, load)), store, again,
          {replaced(bench_.id(load), bench_.id(load), "")});
    }
    for (const Index later : stores_)
      if (later > store && later < b.end) again_between(b, store, later);
  }

  // What the later store writes, worked out anew from memory between the two.
  void again_between(const program::Block& b, Index store, Index later) {
    constexpr size_t most = 200;
    isa::RegSet wanted;
    for (const isa::Operand& o : at(later).operands)
      if (o.role == isa::Role::Vdata && o.kind == isa::Operand::Kind::Register) wanted.insert(o.reg);
    std::vector<Index> slice;
    for (Index i = later; i-- > b.begin && !wanted.empty() && slice.size() < most;) {
      const isa::RegSet defs = vector_defs(at(i));
      isa::RegSet common = defs;
      common &= wanted;
      if (common.empty() || i > store) continue;
      slice.push_back(i);
      wanted -= defs;
      if (is_load(at(i))) continue; // its address is there still, or the change is not harmless
      for (const isa::RegRange& u : at(i).uses)
        if (isa::is_vector(u.first)) wanted.insert(u);
    }
    std::ranges::reverse(slice);
    std::string text;
    bool loads = false;
    for (const Index i : slice) {
      text += bench_.text(i) + "\n";
      if (is_load(at(i))) text += "s_waitcnt vmcnt(0)\n", loads = true;
    }
    if (loads)
      add(fmt::format("what {} stores from {} on", place_text(bench_, later),
                      place_text(bench_, slice.front())),
          store, text, {});
  }

  void add(const std::string& what, Index store, const std::string& text,
           const std::vector<program::Change>& others) {
    Draft d;
    d.text = fmt::format("{}, behind {}", what, place_text(bench_, store));
    d.changes = d.harmless = others;
    d.changes.push_back(inserted(bench_.id(store + 1), text));
    d.harmless.push_back(inserted(bench_.id(first_store_), text));
    list_.push_back(std::move(d));
  }

  const Bench& bench_;
  std::vector<Index> stores_;
  Index first_store_ = program::no_index; // of the block
  Drafts list_;
};

} // namespace

Drafts aliasing_broken(const Bench& bench) {
  return bench.truth->works_in_place() ? Finder(bench).run() : Drafts();
}

} // namespace asmevo::soundness
