// The same computation twice, and computations for nobody.
//
// Pattern. Within a stretch, an instruction has the same opcode and the same operands as one before, whose
// result is still in its register:
//
//   v_lshlrev_b32 v3, 2, v0                   v_lshlrev_b32 v3, 2, v0
//   v_cvt_f32_u32 v5, v1                      v_cvt_f32_u32 v5, v1
//   ...                                  =>   ...
//   v_cvt_f32_u32 v9, v1
//   v_mul_f32     v9, v9, v2                  v_mul_f32     v9, v5, v2
//
// Constants are repeated, too: s_mov_b32 s4, 0x3fb8aa3b in front of each use. And what nobody reads goes
// altogether: compilers leave none of that, other changes do.
//
// Condition. Plain arithmetic, so that the same operands give the same result; no write of the operands and
// of the first result in between, up to the last reader of the second one.
//
// Why it pays. A vector instruction less is 4 cycles of the SIMD less, a conversion or v_exp 16; a scalar one
// is a turn of the wave. The first result's register is in use longer, the second one's less.
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <algorithm>
#include <map>

namespace asmevo::search {

using isa::Instruction;
using program::Index;

namespace {

constexpr size_t most_single = 8; // proposals for one place each

// What an instruction computes: its words without the result, and who wrote each operand.
struct Work {
  std::string text; // mnemonic and operands behind the result
  std::vector<std::pair<isa::RegUnit, Index>> sources;
  auto operator<=>(const Work&) const = default;
};

Work work_of(const RuleContext& context, const ValueFlow& flow, Index i) {
  const Instruction& instruction = context.code.instruction(i);
  Work w{context.codec.print(instruction), {}};
  const size_t blank = w.text.find(' '), comma = w.text.find(',');
  w.text.erase(blank, comma - blank);
  for (const isa::RegRange& r : instruction.uses)
    for (isa::RegUnit u = r.first; u < r.first + r.count; ++u) w.sources.emplace_back(u, flow.writer(i, u));
  return w;
}

// Plain arithmetic with one 32-bit result that takes nothing from what the result's register held.
bool may_repeat(const Instruction& i) {
  return is_plain_arithmetic(i) && i.defs.size() == 1 && i.defs[0].count == 1 && !i.partial_def &&
         i.operands.size() >= 2 && i.operands[0].is_def && i.extension != isa::Extension::Dpp &&
         (isa::is_vgpr(i.defs[0].first) || isa::is_sgpr(i.defs[0].first)) && !i.reads(i.defs[0]);
}

class Finder {
 public:
  explicit Finder(const RuleContext& context) : context_(context) {}

  std::vector<Place> run() {
    for (const EntryRange& range : stretches_of(context_.code)) {
      const ValueFlow flow(context_.code, range.begin, range.end);
      std::map<Work, Index> seen;
      for (Index i = range.begin; i < range.end; ++i) {
        const Instruction& instruction = context_.code.instruction(i);
        if (is_for_nobody(flow, i)) {
          add_place(i, Rewrite(context_), "the result at {} is read by nobody", {}, {});
          continue;
        }
        if (!may_repeat(instruction)) continue;
        const auto [first, fresh] = seen.try_emplace(work_of(context_, flow, i), i);
        if (!fresh && !reuse(flow, first->second, i)) first->second = i;
      }
    }
    return std::move(places_);
  }

 private:
  bool is_for_nobody(const ValueFlow& flow, Index i) const {
    const Instruction& instruction = context_.code.instruction(i);
    return is_plain_arithmetic(instruction) && !instruction.defs.empty() && flow.readers(i).empty() &&
           !flow.escapes(i);
  }

  // The first one's result in place of the second one's.
  bool reuse(const ValueFlow& flow, Index first, Index second) {
    const isa::RegRange held = context_.code.instruction(first).defs[0];
    if (isa::is_vector(held.first) != isa::is_vector(context_.code.instruction(second).defs[0].first) ||
        flow.next_writer(held.first, first + 1, second + 1) != program::no_index)
      return false;
    Rewrite rewrite(context_);
    if (!forward(context_, flow, second, context_.code.instruction(first).operands[0], rewrite)) return false;
    isa::RegSet reads;
    reads.insert(held);
    add_place(second, std::move(rewrite), "the result at {} has been computed before", reads,
              {first + 1, flow.readers(second).back() + 1});
    return true;
  }

  void add_place(Index i, Rewrite rewrite, std::string_view what, const isa::RegSet& reads,
                 EntryRange reads_in) {
    rewrite.remove(i);
    std::string text(what);
    text.replace(text.find("{}"), 2, context_.code.id(i));
    Place p{std::move(rewrite), text};
    p.reads = reads, p.reads_in = reads_in;
    p.cost = p.saved = cost_of(context_.code.instruction(i));
    p.time = context_.time_of(i);
    places_.push_back(std::move(p));
  }

  const RuleContext& context_;
  std::vector<Place> places_;
};

} // namespace

std::vector<Proposal> propose_repeated_work(const RuleContext& context) {
  return proposals(context, Finder(context).run(), "an instruction less", true, most_single);
}

} // namespace asmevo::search
