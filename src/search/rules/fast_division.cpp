// A division without the scaling that makes its last bit right.
//
// Pattern. a / b in HIP is right to the last bit, for denormals and huge numbers, too. On CDNA:
//
//   v_div_scale_f32 v1, s[0:1], v17, v17, v0     b, scaled into a safe range
//   v_rcp_f32       v2, v1                       a first guess at 1 / b
//   v_div_scale_f32 v3, vcc, v0, v17, v0         a, scaled
//   v_fma_f32       v4, -v1, v2, 1.0             guess made better ...
//   v_fmac_f32      v2, v4, v2
//   v_mul_f32       v4, v3, v2                   quotient ...
//   v_fma_f32       v5, -v1, v4, v3              made better, twice
//   v_fmac_f32      v4, v5, v2
//   v_fma_f32       v1, -v1, v4, v3
//   v_div_fmas_f32  v1, v1, v2, v4               scaled back
//   v_div_fixup_f32 v0, v1, v17, v0              infinities, zeros, NaNs
//
// v_rcp_f32 alone is right to one unit in the last place, of normal numbers. So there are two replacements:
//
//   v_rcp_f32 v1, v17        and, with what was lost    v_rcp_f32 v1, v17
//   v_mul_f32 v0, v0, v1     put back                   v_mul_f32 v2, v0, v1
//                                                       v_fma_f32 v3, -v17, v2, v0
//                                                       v_fma_f32 v0, v3, v1, v2
//
// Condition. v_div_fixup has divisor and dividend among its operands, and they must be what both v_div_scale
// took. Steps are found backwards from it, in whatever order they stand; those stay that others read, too.
//
// Why it pays. A vector instruction takes the SIMD for 4 cycles, v_rcp for 16: 56 cycles become 20 or 28.
// What is more, the steps wait for one another all the way.
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using isa::Role;
using program::Index;

namespace {

constexpr size_t most_single = 12; // proposals for one place each

bool is_step(const Instruction& i) {
  static constexpr std::string_view steps[] = {"v_div_fmas_f32", "v_div_scale_f32", "v_rcp_f32", "v_fma_f32",
                                               "v_fmac_f32",     "v_mul_f32",       "v_mac_f32", "v_mad_f32"};
  return std::ranges::find(steps, i.base_mnemonic) != std::end(steps) && is_plain_arithmetic(i);
}

bool has_modifiers(const Instruction& i) {
  return i.mods.neg != 0 || i.mods.abs != 0 || i.mods.clamp || i.mods.omod != 0;
}

struct Division {
  Index fixup = 0;
  const Operand *dividend = nullptr, *divisor = nullptr;
  std::set<Index> steps;
};

// Whether an operand of `at` is what v_div_fixup has as that operand.
bool same_value(const ValueFlow& flow, Index at, const Operand& o, Index fixup, const Operand& of_fixup) {
  if (o.kind != Operand::Kind::Register || of_fixup.kind != Operand::Kind::Register)
    return o.kind != Operand::Kind::Register && of_fixup.kind != Operand::Kind::Register &&
           o.value == of_fixup.value;
  return o.reg == of_fixup.reg && flow.writer(at, o.reg.first) == flow.writer(fixup, o.reg.first);
}

// Back from v_div_fixup along its first operand, as far as v_div_scale.
std::set<Index> steps_behind(const ValueFlow& flow, Index fixup, const Operand& quotient) {
  std::set<Index> steps;
  std::deque<Index> waiting;
  const auto look_at = [&](Index at, const isa::RegRange& r) {
    for (isa::RegUnit u = r.first; u < r.first + r.count; ++u) {
      const Index writer = flow.writer(at, u);
      if (writer != ValueFlow::incoming && is_step(flow.code().instruction(writer)) &&
          steps.insert(writer).second)
        waiting.push_back(writer);
    }
  };
  look_at(fixup, quotient.reg);
  while (!waiting.empty()) {
    const Index at = waiting.front();
    waiting.pop_front();
    if (flow.code().instruction(at).is("v_div_scale_f32")) continue;
    for (const isa::RegRange& r : flow.code().instruction(at).uses) look_at(at, r);
  }
  return steps;
}

std::optional<Division> find_division(const ValueFlow& flow, Index fixup) {
  const Instruction& instruction = flow.code().instruction(fixup);
  if (!instruction.is("v_div_fixup_f32") || has_modifiers(instruction)) return std::nullopt;
  const Operand* const quotient = instruction.find(Role::Src0);
  Division d{fixup, instruction.find(Role::Src2), instruction.find(Role::Src1), {}};
  if (quotient == nullptr || quotient->kind != Operand::Kind::Register || d.dividend == nullptr ||
      d.divisor == nullptr)
    return std::nullopt;
  d.steps = steps_behind(flow, fixup, *quotient);
  unsigned scales = 0, guesses = 0, last_steps = 0;
  for (const Index i : d.steps) {
    const Instruction& step = flow.code().instruction(i);
    guesses += step.is("v_rcp_f32");
    last_steps += step.is("v_div_fmas_f32");
    if (!step.is("v_div_scale_f32")) continue;
    ++scales;
    const bool theirs = !has_modifiers(step) && std::ranges::all_of(step.operands, [&](const Operand& o) {
      return o.is_def || same_value(flow, i, o, fixup, *d.dividend) ||
             same_value(flow, i, o, fixup, *d.divisor);
    });
    if (!theirs) return std::nullopt;
  }
  if (scales != 2 || guesses != 1 || last_steps != 1) return std::nullopt;
  return d;
}

isa::RegSet registers_of(const Division& d) {
  isa::RegSet set;
  for (const Operand* o : {d.dividend, d.divisor})
    if (o->kind == Operand::Kind::Register) set.insert(o->reg);
  return set;
}

void add_place(std::vector<Place>& places, const RuleContext& context, const Division& d, Rewrite rewrite,
               const isa::RegSet& scratch, const std::string& text) {
  rewrite.put(d.fixup, text);
  Place p{std::move(rewrite), "a / b at " + context.code.id(d.fixup)};
  p.writes = scratch;
  p.writes_in = {d.fixup, d.fixup + 1};
  if (finish(context, p, text)) places.push_back(std::move(p));
}

// As exact as v_rcp is, and with the remainder put back.
struct Places {
  std::vector<Place> quick, close;
};

void replace_division(Places& places, const RuleContext& context, const ValueFlow& flow, const Division& d) {
  Rewrite rewrite(context);
  rewrite.remove(d.fixup);
  remove_unread(flow, rewrite, d.steps);
  const std::string result = reg(context.code.instruction(d.fixup).operands[0].reg.first);
  const std::string a = operand_text(*d.dividend), b = operand_text(*d.divisor);
  const std::string wait = transcendental_needs_wait(context) ? "s_nop 0\n" : "";
  if (d.dividend->kind != Operand::Kind::Register && d.dividend->value == 0x3f800000)
    return add_place(places.quick, context, d, rewrite, {}, fmt::format("v_rcp_f32_e32 {}, {}\n", result, b));
  isa::RegSet taken = registers_of(d), scratch;
  const auto r = scratch_register(context, rewrite, d.fixup, taken);
  if (!r) return;
  scratch.insert(*r), taken.insert(*r);
  const std::string guess = fmt::format("v_rcp_f32_e32 {}, {}\n{}", reg(*r), b, wait);
  add_place(places.quick, context, d, rewrite, scratch,
            guess + fmt::format("v_mul_f32_e64 {}, {}, {}\n", result, a, reg(*r)));
  const auto q = scratch_register(context, rewrite, d.fixup, taken);
  if (!q) return;
  scratch.insert(*q), taken.insert(*q);
  const auto e = scratch_register(context, rewrite, d.fixup, taken);
  if (!e) return;
  scratch.insert(*e);
  add_place(places.close, context, d, std::move(rewrite), scratch,
            guess + fmt::format("v_mul_f32_e64 {1}, {3}, {0}\nv_fma_f32 {2}, -{4}, {1}, {3}\n"
                                "v_fma_f32 {5}, {2}, {0}, {1}\n",
                                reg(*r), reg(*q), reg(*e), a, b, result));
}

} // namespace

std::vector<Proposal> propose_fast_division(const RuleContext& context) {
  Places places;
  for (const EntryRange& range : stretches_of(context.code)) {
    std::optional<ValueFlow> flow;
    for (Index i = range.begin; i < range.end; ++i) {
      if (!context.code.instruction(i).is("v_div_fixup_f32")) continue;
      if (!flow) flow.emplace(context.code, range.begin, range.end);
      if (const auto d = find_division(*flow, i)) replace_division(places, context, *flow, *d);
    }
  }
  auto list =
      proposals(context, std::move(places.quick), "v_rcp is exact enough to divide with", false, most_single);
  for (Proposal& p :
       proposals(context, std::move(places.close), "v_rcp and one correction are exact enough to divide with",
                 false, most_single))
    list.push_back(std::move(p));
  return list;
}

} // namespace asmevo::search
