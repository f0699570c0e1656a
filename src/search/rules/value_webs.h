// Values of a masked stretch that can live in other registers than they do.
//
// A web is a register from where something is put into it to the last use of that, over all instructions that
// add to it: a load for some lanes only, where the others' old value is still wanted, belongs to the web of
// that. Webs that one operand names together (v[4:7]) move together, and make a group. A group can move where
// all of it begins and ends within the stretch, and every instruction that knows of it names it:
//
//     v_mov_b32 v1, 0                               v_mov_b32 v1, 0
//     global_load_dword v1, ... (some lanes)        global_load_dword v1, ... (some lanes)
//     ds_write_b32 v5, v1                           ds_write_b32 v5, v1
//     v_mov_b32 v1, 0                               v_mov_b32 v9, 0        both can go
//     global_load_dword v1, ... (some lanes)        global_load_dword v9, ... (some lanes)
//     ds_write_b32 v5, v1 offset:4                  ds_write_b32 v5, v9 offset:4
//
// In contrast to renaming.h, scalars move as well, and values live on through changes of EXEC.
#pragma once

#include "search/rules/masked_code.h"

namespace asmevo::search {

class ValueWebs {
 public:
  /// `steps` are those of the stretch, with `lanes` by step, under whatever names. Both must outlive the
  /// result.
  ValueWebs(const RuleContext&, StraightCode&, const MaskedStretch&, const std::vector<Step>& steps,
            const std::vector<uint32_t>& lanes);

  /// Nothing of what a register held is wanted any more when step n writes it.
  bool begins(size_t n, isa::RegUnit u) const { return begins_[n].contains(u); }
  /// What step n reads or makes in a register; the same number as long as it is the same group.
  std::optional<size_t> read(size_t n, isa::RegUnit) const;
  std::optional<size_t> made(size_t n, isa::RegUnit) const;
  /// A vector register that holds nothing in the whole stretch.
  std::optional<isa::RegUnit> free_vgpr() const;
  /// The steps with the group in registers that hold nothing in the whole stretch and cost no wave its place.
  /// Nothing where that cannot be.
  std::optional<std::vector<Step>> moved(size_t group) const;

 private:
  struct Web {
    isa::RegUnit unit = 0;
    size_t parent = 0; // of the group, as a tree
    bool pinned = false;
    unsigned align = 1; // of its group, where this is its root
  };
  using Named = std::map<isa::RegUnit, size_t>; // webs by register, of one step

  size_t root(size_t) const;
  void join(size_t, size_t);
  size_t add(isa::RegUnit, bool pinned);
  size_t current(isa::RegUnit);
  void find_beginnings();
  void find_webs();
  void join_operands(size_t n);
  void pin_unnamed(size_t n);
  std::optional<int> free_distance(const std::vector<isa::RegUnit>&, unsigned align) const;
  std::optional<Step> renamed(size_t n, size_t group, int distance) const;

  StraightCode& code_;
  const MaskedStretch& stretch_;
  const std::vector<Step>& steps_;
  const std::vector<uint32_t>& lanes_;
  isa::RegSet taken_, masks_;
  unsigned vgprs_ = 0;              // that a wave may have
  std::vector<isa::RegSet> begins_; // by step
  std::vector<Web> webs_;
  std::vector<Named> reads_, makes_; // by step
  Named now_;                        // while they are being found
};

/// A step with other registers in its operands; nothing where the assembler does not take them.
std::optional<Step> with_registers(StraightCode&, const Step&,
                                   const std::function<isa::RegRange(const isa::Operand&)>& now);

} // namespace asmevo::search
