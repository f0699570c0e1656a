// A multiplication and an addition in one instruction.
//
// Pattern. Two instructions where CDNA has v_fma_f32, or v_pk_fma_f32 for two at once:
//
//   v_mul_f32 v3, v1, v2                   v_fma_f32 v5, v1, v2, v4
//   v_add_f32 v5, v3, v4              =>
//
// Compilers do that by themselves, but not across what looked like two expressions to them. And differences
// that are scaled, as softmax has for each of its elements:
//
//   v_sub_f32 v2, v2, v19                  v_mul_f32    v30, 0xbfb8aa3b, v19      -c m, once
//   v_mul_f32 v2, 0x3fb8aa3b, v2      =>   v_fmamk_f32  v2, v2, 0x3fb8aa3b, v30   c x - c m
//   v_sub_f32 v3, v3, v19                  v_fmamk_f32  v3, v3, 0x3fb8aa3b, v30
//   v_mul_f32 v3, 0x3fb8aa3b, v3
//
// Condition. The first result is for the second instruction alone, and what the first one reads is still
// there. For scaled differences: a register that is free from the first to the last of them, and at least
// three of them.
//
// Why it pays. A vector instruction of 4 cycles less each. Results are rounded once where they were twice;
// for differences, c x and c m are rounded where x - m was, which matters where both are large.
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using program::Index;

namespace {

constexpr size_t most_single = 8;       // proposals for one place each
constexpr size_t least_differences = 3; // one instruction comes for all of them

std::string negated(const std::string& text) {
  return text.starts_with('-') ? text.substr(1) : "-" + text;
}

// --- products that are added

void fuse(const RuleContext& context, Index a, Index b, unsigned n, std::vector<Place>& places) {
  const Instruction &product = context.code.instruction(a), &sum = context.code.instruction(b);
  if (!product.is("v_mul_f32") || !is_plain_encoding(product, true) || !is_plain_encoding(sum, true) ||
      (sum.mods.abs >> n & 1) != 0)
    return;
  const bool add = sum.is("v_add_f32"), subtract = sum.is("v_sub_f32"), reverse = sum.is("v_subrev_f32");
  if (!add && !subtract && !reverse) return;
  // Which of the two sources counts negative.
  const unsigned minus = subtract ? 1 : reverse ? 0 : 2;
  const bool product_negative = ((sum.mods.neg >> n & 1) != 0) != (minus == n);
  std::string factor = source_text(product, 0), other = source_text(sum, 1 - n);
  if (product_negative) factor = negated(factor);
  if (minus == 1 - n) other = negated(other);
  const std::string text = fmt::format("v_fma_f32 {}, {}, {}, {}\n", isa::name(sum.defs[0]), factor,
                                       source_text(product, 1), other);
  if (auto place = fused_place(context, a, b, text)) places.push_back(*std::move(place));
}

// Only of whole pairs: op_sel would have to be told apart.
void fuse_packed(const RuleContext& context, Index a, Index b, unsigned n, std::vector<Place>& places) {
  const Instruction &product = context.code.instruction(a), &sum = context.code.instruction(b);
  const auto plain = [](const Instruction& i) {
    return i.mods.neg == 0 && i.mods.neg_hi == 0 && !i.mods.clamp && i.mods.op_sel == 0 &&
           (i.mods.op_sel_hi & 3) == 3;
  };
  if (!product.is("v_pk_mul_f32") || !sum.is("v_pk_add_f32") || !plain(product) || !plain(sum)) return;
  const std::string text =
      fmt::format("v_pk_fma_f32 {}, {}, {}, {}\n", isa::name(sum.defs[0]), source_text(product, 0),
                  source_text(product, 1), source_text(sum, 1 - n));
  if (auto place = fused_place(context, a, b, text)) places.push_back(*std::move(place));
}

// --- differences that are scaled

struct Difference {
  Index difference = 0, product = 0;
  isa::RegUnit x = 0;
};
class DifferenceFinder {
 public:
  explicit DifferenceFinder(const RuleContext& context) : context_(context), code_(context.code) {}

  std::vector<Place> run() {
    each_pair(context_, [&](const ValueFlow& flow, Index a, Index b, unsigned n) { look_at(flow, a, b, n); });
    std::vector<Place> places;
    if (groups_.empty()) return places;
    const FreeRegisters free(code_);
    for (const auto& [key, members] : groups_)
      if (members.size() >= least_differences)
        if (auto place = rewrite(free, key, members)) places.push_back(*std::move(place));
    return places;
  }

 private:
  // Begin of the stretch; m and who wrote it; factor.
  using Key = std::tuple<Index, isa::RegUnit, Index, uint32_t>;

  void look_at(const ValueFlow& flow, Index a, Index b, unsigned n) {
    const Instruction &difference = code_.instruction(a), &product = code_.instruction(b);
    if (!product.is("v_mul_f32") || !is_plain_encoding(product) || !is_plain_encoding(difference)) return;
    const bool reverse = difference.is("v_subrev_f32");
    if (!reverse && !difference.is("v_sub_f32")) return;
    const Operand *const x = source(difference, reverse ? 1 : 0), *const m =
                                                                      source(difference, reverse ? 0 : 1);
    const Operand* const factor = source(product, 1 - n);
    const auto is_vgpr = [](const Operand* o) {
      return o != nullptr && o->kind == Operand::Kind::Register && isa::is_vgpr(o->reg.first);
    };
    if (!is_vgpr(x) || !is_vgpr(m) || factor == nullptr || factor->kind == Operand::Kind::Register) return;
    groups_[{flow.begin(), m->reg.first, flow.writer(a, m->reg.first), static_cast<uint32_t>(factor->value)}]
        .push_back({a, b, x->reg.first});
  }

  std::optional<Place> rewrite(const FreeRegisters& free, const Key& key,
                               const std::vector<Difference>& members) {
    const isa::RegUnit m = std::get<1>(key);
    const float c = std::bit_cast<float>(std::get<3>(key));
    Index first = members.front().difference, last = members.front().product;
    for (const Difference& d : members)
      first = std::min(first, d.difference), last = std::max(last, d.product);
    // gfx90a has no v_fmamk_f32; there the factor is in a scalar register.
    const bool literal = code_.program().target.gfx != isa::Gfx::gfx90a;
    const auto scaled = free.find(first, last);
    const auto factor = literal ? std::nullopt : free.find_scalar(first, last);
    if (!scaled || (!literal && !factor)) return std::nullopt;
    Place p{Rewrite(context_), fmt::format("{} differences from {}", members.size(), code_.id(first))};
    std::string text = fmt::format("v_mul_f32_e32 {}, {}, {}\n", reg(*scaled), float_bits(-c), reg(m));
    if (factor) text += fmt::format("s_mov_b32 {}, {}\n", reg(*factor), float_bits(c));
    p.rewrite.insert(first, text);
    for (const Difference& d : members) {
      p.rewrite.remove(d.difference);
      const std::string line = fmt::format("{} {}, {}, {}, {}\n", literal ? "v_fmamk_f32" : "v_fma_f32",
                                           isa::name(code_.instruction(d.product).defs[0]), reg(d.x),
                                           literal ? float_bits(c) : reg(*factor), reg(*scaled));
      p.rewrite.put(d.product, line);
      text += line;
      p.reads.insert(d.x);
    }
    p.reads.insert(*scaled), p.writes.insert(*scaled);
    if (factor) p.reads.insert(*factor), p.writes.insert(*factor);
    p.writes_in = p.reads_in = {first, last + 1};
    if (!finish(context_, p, text)) return std::nullopt;
    return p;
  }

  const RuleContext& context_;
  const profile::KernelCode& code_;
  std::map<Key, std::vector<Difference>> groups_;
};

} // namespace

std::vector<Proposal> propose_fused_multiply_add(const RuleContext& context) {
  std::vector<Place> places = DifferenceFinder(context).run();
  each_pair(context, [&](const ValueFlow&, Index a, Index b, unsigned n) {
    fuse(context, a, b, n, places);
    fuse_packed(context, a, b, n, places);
  });
  return proposals(context, std::move(places), "multiply and add in one", false, most_single);
}

} // namespace asmevo::search
