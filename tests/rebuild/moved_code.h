// Checks, from the bytes alone, that a rebuilt object is K0 with some s_nop put in: the same instructions in
// the same order, every branch and every computed code address at the instruction it went to before.
#pragma once

#include "base/random.h"
#include "program/edit.h"
#include "rebuild/rebuild.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace asmevo::rebuild::testing {

/// An edit that puts `s_nop 7` in front of `count` instructions of one function, not inside s_getpc_b64
/// sequences.
inline program::Edit nops_at_random(const program::Program& p, const program::Function& f, size_t count,
                                    RandomStream& random) {
  std::set<program::Index> places{f.begin}; // the entry itself too
  // In front of the second entry of a kernel with preloaded arguments there is little room.
  program::Index first = f.begin;
  for (const program::AlignedPoint& point : p.aligned)
    if (point.anchor == f.begin) first = point.at;
  for (size_t k = 1; k < count; ++k)
    places.insert(first + static_cast<program::Index>(random.below(f.padding - first)));
  program::Edit edit;
  edit.kernel = f.name;
  for (const program::Index i : places) edit.changes.push_back({{}, {}, p.entries[i].id, "s_nop 7"});
  return edit;
}

inline uint64_t target_address(const program::Program& p, program::Index i) {
  const isa::Instruction& insn = p.instruction(i);
  return p.text_address + p.entries[i].id.n + 4 + static_cast<uint64_t>(int64_t{4} * insn.branch_offset());
}

/// `now` is a fresh recovery of the rebuilt object, `built` the program it was built from (whose ids tell
/// which entry is which). Address fields are read from the words.
inline void expect_moved_right(const Original& k0, const Original& now, const program::Program& built,
                               const std::string& name) {
  const program::Program &a = k0.program(), &b = now.program();
  // Old entries that are still there, by position in the new bytes.
  std::vector<program::Index> position(a.entries.size(), program::no_index); // of a's entries, in b
  // Where control for a's entry i must go: the instructions put in front of it included.
  std::vector<program::Index> landing(a.entries.size() + 1, program::no_index);
  size_t old = 0;
  ASSERT_EQ(a.functions.size(), b.functions.size()) << name;
  for (size_t k = 0; k < built.functions.size(); ++k) {
    program::Index at = b.functions[k].begin,
                   in_front = program::no_index; // symbols say where functions start
    for (program::Index e = built.functions[k].begin; e < built.functions[k].padding; ++e, ++at) {
      // Filler in front of a second entry may be other filler now; the entry itself is 256 bytes behind the
      // first.
      for (const program::AlignedPoint& point : built.aligned) {
        if (point.anchor != built.functions[k].begin || e != point.filler || e == point.at) continue;
        e = point.at;
        const uint64_t offset = b.entries[b.functions[k].begin].id.n + uint64_t{point.distance};
        at = static_cast<program::Index>(
            std::ranges::lower_bound(b.entries, offset, {}, [](const auto& x) { return x.id.n; }) -
            b.entries.begin());
        ASSERT_EQ(b.entries.at(at).id.n, offset) << name;
      }
      const program::Entry& entry = built.entries[e];
      if (entry.id.node != 0) {
        if (in_front == program::no_index) in_front = at;
        ASSERT_EQ(b.entries.at(at).instruction->words[0], 0xbf800007U) << name;
        continue;
      }
      while (old < a.entries.size() && a.entries[old].id != entry.id) ++old;
      ASSERT_LT(old, a.entries.size());
      position[old] = at;
      landing[old] = in_front == program::no_index ? at : in_front;
      in_front = program::no_index;
    }
  }
  size_t compared = 0;
  for (program::Index i = 0; i < a.entries.size(); ++i) {
    if (position[i] == program::no_index) continue;
    const isa::Instruction &x = a.instruction(i), &y = b.instruction(position[i]);
    ++compared;
    ASSERT_EQ(x.mnemonic, y.mnemonic) << name << " " << a.entries[i].id.text();
    if (x.branch) {
      const uint64_t old_target = target_address(a, i) - a.text_address;
      const auto k =
          std::ranges::lower_bound(a.entries, old_target, {}, [](const auto& e) { return e.id.n; }) -
          a.entries.begin();
      ASSERT_LT(static_cast<size_t>(k), a.entries.size());
      ASSERT_NE(landing[static_cast<size_t>(k)], program::no_index);
      const uint64_t want = b.entries[landing[static_cast<size_t>(k)]].id.n;
      ASSERT_EQ(target_address(b, position[i]) - b.text_address, want)
          << name << " branch " << a.entries[i].id.text();
    } else if (a.entries[i].reference == program::no_index) {
      ASSERT_TRUE(std::ranges::equal(x.encoding(), y.encoding())) << name << " " << a.entries[i].id.text();
    }
  }
  size_t kept = 0;
  for (const program::Function& f : a.functions) kept += f.padding - f.begin;
  for (const program::AlignedPoint& point : a.aligned)
    if (point.anchor != program::no_index) kept -= point.at - point.filler;
  ASSERT_GE(compared, kept) << name;
}

} // namespace asmevo::rebuild::testing
