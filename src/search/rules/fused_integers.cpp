// Two integer instructions in one, and cheap ones for dear ones.
//
// Pattern. CDNA has instructions with three operands for what addresses are made of:
//
//   v_lshlrev_b32 v3, 2, v1                v_lshl_add_u32 v4, v1, 2, v2
//   v_add_u32     v4, v3, v2          =>
//
// and likewise v_add3_u32, v_add_lshl_u32, v_lshl_or_b32, v_and_or_b32, v_or3_b32. A multiplication of 32
// bits is dear; by a power of two it is a shift, and of two numbers that are known to have 24 bits at most
// (known_values.h: a work-item's number, what was masked or loaded as a byte) it is v_mul_u32_u24.
//
// Condition. The first result is for the second instruction alone, and what the first one reads is still
// there. Scalars and constants: as many as one instruction can have.
//
// Why it pays. An instruction of 4 cycles less; v_mul_lo_u32 takes the SIMD for 16 cycles, a shift or
// v_mul_u32_u24 for 4. And the second instruction waited for the first.
#include "search/known_values.h"
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using program::Index;

namespace {

constexpr size_t most_single = 8;    // proposals for one place each
constexpr double multiplication = 4; // v_mul_lo_u32, in plain vector instructions

struct Fusion {
  std::string_view first, second;
  // Of the second one: which source the first result may be, by bits.
  unsigned source;
  // {0}: result; {1}, {2}: sources of the first; {3}: the other source of the second.
  std::string_view text;
};

constexpr Fusion fusions[] = {
    {"v_lshlrev_b32", "v_add_u32", 3, "v_lshl_add_u32 {0}, {2}, {1}, {3}"},
    {"v_lshlrev_b32", "v_or_b32", 3, "v_lshl_or_b32 {0}, {2}, {1}, {3}"},
    {"v_add_u32", "v_add_u32", 3, "v_add3_u32 {0}, {1}, {2}, {3}"},
    {"v_add_u32", "v_lshlrev_b32", 2, "v_add_lshl_u32 {0}, {1}, {2}, {3}"},
    {"v_and_b32", "v_or_b32", 3, "v_and_or_b32 {0}, {1}, {2}, {3}"},
    {"v_or_b32", "v_or_b32", 3, "v_or3_b32 {0}, {1}, {2}, {3}"},
    {"v_xor_b32", "v_add_u32", 3, "v_xad_u32 {0}, {1}, {2}, {3}"},
    {"v_mul_u32_u24", "v_add_u32", 3, "v_mad_u32_u24 {0}, {1}, {2}, {3}"},
};

void fuse(const RuleContext& context, Index a, Index b, unsigned n, std::vector<Place>& places) {
  const Instruction &first = context.code.instruction(a), &second = context.code.instruction(b);
  if (!is_plain_encoding(first) || !is_plain_encoding(second) || second.defs.size() != 1) return;
  for (const Fusion& f : fusions) {
    if (!first.is(f.first) || !second.is(f.second) || (f.source >> n & 1) == 0) continue;
    const std::string text =
        fmt::format(fmt::runtime(f.text), isa::name(second.defs[0]), source_text(first, 0),
                    source_text(first, 1), source_text(second, 1 - n)) +
        "\n";
    if (auto place = fused_place(context, a, b, text)) places.push_back(*std::move(place));
  }
}

// Shift or short multiplication in place of v_mul_lo_u32.
std::string cheaper_product(const Instruction& i, const KnownValues::State& known) {
  const Operand *const a = source(i, 0), *const b = source(i, 1);
  if (!i.is("v_mul_lo_u32") || a == nullptr || b == nullptr) return "";
  const std::string d = isa::name(i.defs[0]);
  for (const auto& [factor, other] : {std::pair{a, b}, {b, a}})
    if (const auto value = KnownValues::bounds(known, *factor).constant();
        value && std::has_single_bit(*value))
      return fmt::format("v_lshlrev_b32_e64 {}, {}, {}\n", d, std::countr_zero(*value), operand_text(*other));
  constexpr uint32_t most = 0xffffff;
  if (KnownValues::bounds(known, *a).high > most || KnownValues::bounds(known, *b).high > most) return "";
  return fmt::format("v_mul_u32_u24_e64 {}, {}, {}\n", d, operand_text(*a), operand_text(*b));
}

void cheapen(const RuleContext& context, std::vector<Place>& places) {
  const KnownValues values(context.code);
  for (const EntryRange& range : stretches_of(context.code)) {
    KnownValues::State state = values.before(range.begin);
    for (Index i = range.begin; i < range.end; ++i) {
      const std::string text = cheaper_product(context.code.instruction(i), state);
      values.step(state, i);
      if (text.empty() || !context.codec.parse(text)) continue;
      Place p{Rewrite(context), "the product at " + context.code.id(i)};
      p.rewrite.put(i, text);
      p.cost = multiplication, p.saved = multiplication - 1, p.time = context.time_of(i);
      places.push_back(std::move(p));
    }
  }
}

} // namespace

std::vector<Proposal> propose_fused_integers(const RuleContext& context) {
  std::vector<Place> places;
  each_pair(context, [&](const ValueFlow&, Index a, Index b, unsigned n) { fuse(context, a, b, n, places); });
  cheapen(context, places);
  return proposals(context, std::move(places), "one short instruction does it", true, most_single);
}

} // namespace asmevo::search
