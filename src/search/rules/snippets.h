// What rules have in common that write instructions: text of operands, changes of single entries, and wait
// states that a change made necessary.
#pragma once

#include "search/rules/rule.h"
#include "search/value_flow.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace asmevo::search {

/// "v3", "s[4:5]", "-4", "0x3f800000" (which the assembler takes for 1.0); without modifiers.
std::string operand_text(const isa::Operand&);
/// "v3" of a register.
inline std::string reg(isa::RegUnit u) {
  return isa::name(u);
}
/// "0x3fb8aa3b"
std::string float_bits(float);

/// Entries to take out, and lines to put in front of entries (which may be among those taken out): as
/// disjoint changes in address order.
class Rewrite {
 public:
  explicit Rewrite(const RuleContext& context) : context_(&context) {}
  void remove(program::Index i) { removed_.insert(i); }
  /// In front of an entry, and of what others put in its place.
  void insert(program::Index before, std::string_view lines);
  /// In an entry's place.
  void put(program::Index i, std::string_view lines);
  /// Entries that others were put in place of or in front of.
  bool touches(program::Index i) const { return removed_.contains(i) || inserted_.contains(i); }
  bool removes(program::Index i) const { return removed_.contains(i); }
  const std::set<program::Index>& removed() const { return removed_; }
  /// Everything of another one, too.
  void add(const Rewrite&);
  bool empty() const { return removed_.empty() && inserted_.empty(); }
  std::vector<program::Change> changes() const;

 private:
  const RuleContext* context_;
  std::set<program::Index> removed_;
  std::map<program::Index, std::string> inserted_, put_;
};

/// Adds the s_nop that the changes made necessary, where instructions that stood between two others are gone
/// (isa/hazards.h). False: the changes cannot be applied, or wait states are missing in the new text itself.
bool add_wait_states(const RuleContext&, std::vector<program::Change>&);

/// The text of an entry with another register or constant in place of a 32-bit register that it reads;
/// nothing where the instruction cannot take it, or reads the register as part of a larger one or to keep
/// part of it.
std::optional<std::string> with_operand(const RuleContext&, program::Index, isa::RegUnit from,
                                        const std::string& to);

/// Everybody who reads what entry `i` leaves in its only result reads `source` instead, a register or a
/// constant that holds the same, and the entry is taken out. False, with nothing changed: that cannot be, as
/// the source is overwritten too early, somebody cannot read it there, or the result is read elsewhere, too.
bool forward(const RuleContext&, const ValueFlow&, program::Index i, const isa::Operand& source, Rewrite&);

/// Source operand n of an instruction; null: it has none, or not as an operand of its own.
const isa::Operand* source(const isa::Instruction&, unsigned n);
/// Its text with sign and size: "-|v3|".
std::string source_text(const isa::Instruction&, unsigned n);
/// No DPP, SDWA, clamp or factor behind the result; and no signs and sizes of sources either.
bool is_plain_encoding(const isa::Instruction&, bool allow_signs = false);

/// Calls f(flow, a, b, n) for each pair in which b's source n is a's only result, which nobody else reads,
/// and a's sources still hold at b what they held at a. Both are plain arithmetic, so one instruction in b's
/// place may do the work of both.
using PairFound = std::function<void(const ValueFlow&, program::Index a, program::Index b, unsigned n)>;
void each_pair(const RuleContext&, const PairFound& f);
/// Whether the kernel's target wants a wait state between a transcendental instruction and the next vector
/// instruction where that uses its result: gfx942 and gfx950.
bool transcendental_needs_wait(const RuleContext&);

/// The MODE register that the kernel starts with.
uint32_t initial_mode(const profile::KernelCode&);

/// Takes those of the candidates out, too, whose results only entries read that are out already.
void remove_unread(const ValueFlow&, Rewrite&, const std::set<program::Index>& candidates);

/// A VGPR that what is taken out has written, and whose value nobody wants behind `at`: scratch for what
/// stands in place of `at`. None of `taken`.
std::optional<isa::RegUnit> scratch_register(const RuleContext&, const Rewrite&, program::Index at,
                                             const isa::RegSet& taken);

/// VGPRs that are allocated and not in use.
class FreeRegisters {
 public:
  explicit FreeRegisters(const profile::KernelCode&);
  /// `count` in a row, the first one a multiple of count, that nobody uses from one entry of a block to
  /// another, both included, or behind them without writing them first. None of `taken`.
  std::optional<isa::RegUnit> find(program::Index first, program::Index last, unsigned count = 1,
                                   const isa::RegSet& taken = {}) const;
  /// An SGPR in the same way, with an even number, and the next one, which may be in use, does not change.
  std::optional<isa::RegUnit> find_scalar(program::Index first, program::Index last,
                                          const isa::RegSet& taken = {}) const;
  /// Registers that loads may not have written yet before an entry.
  isa::RegSet in_flight(program::Index) const;

 private:
  isa::RegSet changing(program::Index first, program::Index last) const;
  isa::RegSet live(program::Index first, program::Index last) const;
  const profile::KernelCode& code_;
  program::WaveStates waves_;
};

/// What instructions cost a SIMD, in plain vector instructions.
double cost_of(const isa::Instruction&);
double cost_of(const RuleContext&, std::string_view text);

/// One place where a rule applies.
struct Place {
  Rewrite rewrite;
  std::string what;         // "a / b at 1c4"
  isa::RegSet reads = {};   // registers that are read where they were not before, perhaps
  EntryRange reads_in = {}; // and where: what they hold at its begin is read within it
  isa::RegSet writes = {};  // registers that are written where they were not before
  EntryRange writes_in = {};
  double cost = 0, saved = 0; // cost_of what goes; and without what comes
  double time = 0;            // share of the kernel's time of what goes
};
/// Sets cost, saved and time of a place where `text` comes for what is taken out. False: no assembler takes
/// the text (too many scalars or constants in one instruction), or nothing is saved.
bool finish(const RuleContext&, Place&, std::string_view text);

/// The place where `text` comes in b's place and a goes.
std::optional<Place> fused_place(const RuleContext&, program::Index a, program::Index b,
                                 const std::string& text);

/// Proposals of places: one with all that have time together (or all, where none has), and one for each of
/// the `single` most promising. Where two places get in each other's way, the more promising one stays.
std::vector<Proposal> proposals(const RuleContext&, std::vector<Place>, std::string_view why,
                                bool same_results, size_t single);

} // namespace asmevo::search
