// Instructions whose result is there already: copies, constants, operations that change nothing.
//
// Pattern. A register gets a value that another register holds, or a constant that its readers could have as
// operands:
//
//   v_mov_b32    v5, v3                       v_add_f32 v6, v3, v4
//   v_add_f32    v6, v5, v4              =>
//
//   v_and_b32    v2, 0x3ff, v0                the work-item of a group with one dimension: at most 1023
//   anyway v_lshlrev_b32 v3, 2, v2              =>   v_lshlrev_b32 v3, 2, v0
//
// So are an addition of 0, a shift by 0, a multiplication by 1, a mask that masks nothing, a choice between
// two equal operands, and v_readfirstlane of what was copied from a scalar. Which values are known, and their
// bounds, is in known_values.h.
//
// Condition. The source still holds its value at each reader, each reader can have it as operand (a constant
// or a scalar not everywhere), and nobody behind the stretch reads the copy. Readers of other lanes are left
// alone: in lanes that are off, the copy is none.
//
// Why it pays. A vector instruction less is 4 cycles of the SIMD less and one step less in what waits for it,
// at no price.
#include "search/known_values.h"
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <algorithm>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using isa::Role;
using program::Index;

namespace {

constexpr size_t most_single = 8; // proposals for one place each

bool is_one_of(const Instruction& i, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, i.base_mnemonic) != names.end();
}

Operand constant(uint32_t value) {
  Operand o;
  o.kind = Operand::Kind::Literal;
  o.value = value >= 0xfffffff0U ? static_cast<int32_t>(value) : int64_t{value}; // -16 to -1 need no literal
  return o;
}

// An operation with one result and what is known of its operands.
struct Operation {
  const Instruction* instruction = nullptr;
  const Operand* source[3] = {};
  Bounds bounds[3];
  bool is(unsigned n, uint32_t value) const { return source[n] != nullptr && bounds[n].constant() == value; }
  bool all_bits(unsigned n) const { return is(n, ~uint32_t{0}); }
};

Operation look_at(const Instruction& i, const KnownValues::State& known) {
  Operation o{&i, {}, {}};
  for (const Operand& operand : i.operands)
    if (operand.is_use && !operand.is_def && operand.role >= Role::Src0 && operand.role <= Role::Src2) {
      const auto n = static_cast<size_t>(operand.role) - static_cast<size_t>(Role::Src0);
      o.source[n] = &operand;
      o.bounds[n] = KnownValues::bounds(known, operand);
    }
  return o;
}

bool same(const Operand& a, const Operand& b) {
  return a.kind == Operand::Kind::Register ? b.kind == Operand::Kind::Register && a.reg == b.reg
                                           : b.kind != Operand::Kind::Register && a.value == b.value;
}

// Whether a mask of low bits leaves what is at most `high` as it is.
bool keeps(const Bounds& mask, uint32_t high) {
  const auto bits = mask.constant();
  return bits && (*bits & (*bits + 1)) == 0 && high <= *bits;
}

// The operand that the result is equal to.
const Operand* equal_operand(const Operation& o) {
  const Instruction& i = *o.instruction;
  if (is_one_of(i, {"v_mov_b32", "s_mov_b32"})) return o.source[0];
  if (o.source[0] == nullptr || o.source[1] == nullptr) return nullptr;
  // A bound shift, mask or the like: n is the operand that does nothing, the other one remains.
  const auto other = [&](unsigned n) { return o.source[1 - n]; };
  for (const unsigned n : {0U, 1U}) {
    if (is_one_of(i, {"v_add_u32", "v_or_b32", "v_xor_b32"}) && o.is(n, 0)) return other(n);
    if (is_one_of(i, {"v_and_b32"}) && (o.all_bits(n) || keeps(o.bounds[n], o.bounds[1 - n].high)))
      return other(n);
    if (is_one_of(i, {"v_mul_lo_u32"}) && o.is(n, 1)) return other(n);
  }
  if (is_one_of(i, {"v_lshlrev_b32", "v_lshrrev_b32", "v_ashrrev_i32"}) && o.is(0, 0)) return o.source[1];
  if (i.is("v_sub_u32") && o.is(1, 0)) return o.source[0];
  if (i.is("v_cndmask_b32") && same(*o.source[0], *o.source[1])) return o.source[0];
  return nullptr;
}

// What v_readfirstlane reads, if a scalar was copied there.
const Operand* behind_readfirstlane(const ValueFlow& flow, Index i, const Operand& from) {
  if (from.kind != Operand::Kind::Register) return nullptr;
  const Index writer = flow.writer(i, from.reg.first);
  if (writer == ValueFlow::incoming) return nullptr;
  const Instruction& copy = flow.code().instruction(writer);
  if (!copy.is("v_mov_b32") || !is_plain_encoding(copy)) return nullptr;
  const Operand* const source = copy.find(Role::Src0);
  const bool scalar =
      source != nullptr && (source->kind != Operand::Kind::Register || isa::is_sgpr(source->reg.first));
  if (!scalar) return nullptr;
  const bool intact = source->kind != Operand::Kind::Register ||
                      flow.next_writer(source->reg.first, writer, i) == program::no_index;
  return intact ? source : nullptr;
}

class Finder {
 public:
  explicit Finder(const RuleContext& context) : context_(context), known_(context.code) {}

  std::vector<Place> run() {
    for (const EntryRange& range : stretches_of(context_.code)) {
      const ValueFlow flow(context_.code, range.begin, range.end);
      KnownValues::State state = known_.before(range.begin);
      for (Index i = range.begin; i < range.end; ++i) {
        const KnownValues::State before = state;
        known_.step(state, i);
        look_at_entry(flow, i, before, state);
      }
    }
    return std::move(places_);
  }

 private:
  void look_at_entry(const ValueFlow& flow, Index i, const KnownValues::State& before,
                     const KnownValues::State& after) {
    const Instruction& instruction = context_.code.instruction(i);
    const bool first_lane = instruction.is("v_readfirstlane_b32");
    if ((!is_plain_arithmetic(instruction) && !first_lane) || !is_plain_encoding(instruction) ||
        instruction.defs.size() != 1 || instruction.defs[0].count != 1 || flow.readers(i).empty())
      return;
    const Operation o = look_at(instruction, before);
    const Operand* const source =
        first_lane && o.source[0] != nullptr ? behind_readfirstlane(flow, i, *o.source[0]) : equal_operand(o);
    if (source != nullptr && add_place(flow, i, *source)) return;
    if (const auto value = KnownValues::bounds(after, instruction.defs[0].first).constant())
      add_place(flow, i, constant(*value));
  }

  bool add_place(const ValueFlow& flow, Index i, const Operand& source) {
    // Literals make each reader longer, and no scalar fits beside them.
    Place p{Rewrite(context_), "the result at " + context_.code.id(i)};
    const bool literal = source.kind != Operand::Kind::Register && (source.value < -16 || source.value > 64);
    if (literal && flow.readers(i).size() > 1) return false;
    if (!forward(context_, flow, i, source, p.rewrite)) return false;
    if (source.kind == Operand::Kind::Register) p.reads.insert(source.reg);
    p.reads_in = {i, flow.readers(i).back() + 1};
    p.cost = p.saved = cost_of(context_.code.instruction(i));
    p.time = context_.time_of(i);
    places_.push_back(std::move(p));
    return true;
  }

  const RuleContext& context_;
  KnownValues known_;
  std::vector<Place> places_;
};

} // namespace

std::vector<Proposal> propose_known_results(const RuleContext& context) {
  return proposals(context, Finder(context).run(), "is there already", true, most_single);
}

} // namespace asmevo::search
