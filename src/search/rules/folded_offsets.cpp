// Constants that are added to an LDS address, in the memory instruction itself.
//
// Pattern.
//
//   v_add_u32   v2, 0x400, v1
//   ds_read_b32 v3, v2 offset:16     =>     ds_read_b32 v3, v1 offset:1040
//
// LDS instructions with one address have a field of 16 bits for an unsigned constant.
//
// Condition. The sum is known not to wrap at 2^32 (known_values.h): the hardware does not wrap where address
// and offset together go beyond, but takes the access for one outside of LDS. The offset stays below 2^16, v1
// still holds its value at each reader, and each reader of the sum can have it so. What v_or_b32 adds is left
// alone: bounds do not tell which bits are free.
//
// Why it pays. A vector instruction less, and the access waits for one step less.
#include "search/known_values.h"
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using program::Index;

namespace {

constexpr size_t most_single = 8;        // proposals for one place each
constexpr uint32_t most_offset = 0xffff; // of LDS instructions

// What v_add_u32 adds to which register.
struct Sum {
  const Operand* address = nullptr;
  uint32_t constant = 0;
};

std::optional<Sum> sum_of(const Instruction& i, const KnownValues::State& known) {
  if (!i.is("v_add_u32") || !is_plain_encoding(i)) return std::nullopt;
  for (const unsigned n : {0U, 1U}) {
    const Operand *const a = source(i, n), *const b = source(i, 1 - n);
    if (a == nullptr || b == nullptr || b->kind != Operand::Kind::Register || !isa::is_vgpr(b->reg.first))
      continue;
    const auto constant = KnownValues::bounds(known, *a).constant();
    const uint64_t high = KnownValues::bounds(known, *b).high;
    if (constant && *constant <= most_offset && high + *constant <= 0xffffffffU) return Sum{b, *constant};
  }
  return std::nullopt;
}

// Has one address and one offset, in bytes.
bool takes_offset(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  return i.memory.kind == isa::MemoryKind::Lds && i.family == isa::Family::Ds &&
         m.find("read2") == std::string_view::npos && m.find("write2") == std::string_view::npos &&
         m.find("wrxchg2") == std::string_view::npos && m.find("addtid") == std::string_view::npos &&
         !i.cross_lane;
}

// The access with another address register and this much more offset; "" where it cannot be.
std::string moved(const RuleContext& context, Index i, isa::RegUnit from, const Sum& sum) {
  const Instruction& access = context.code.instruction(i);
  const int64_t offset = int64_t{access.mods.offset} + sum.constant;
  const Operand* const address = access.find(isa::Role::Vaddr);
  unsigned reads = 0; // once, not as data too
  for (const isa::Operand& o : access.operands)
    reads += o.is_use && o.kind == Operand::Kind::Register && o.reg.overlaps({from, 1});
  if (reads != 1 || !takes_offset(access) || offset > most_offset || address == nullptr ||
      address->reg != isa::RegRange{from, 1})
    return "";
  auto text = with_operand(context, i, from, operand_text(*sum.address));
  if (!text) return "";
  if (const size_t at = text->find(" offset:"); at != std::string::npos) {
    const size_t end = std::min(text->find(' ', at + 1), text->size());
    text->erase(at, end - at);
  }
  return *text + fmt::format(" offset:{}\n", offset);
}

std::optional<Place> fold(const RuleContext& context, const ValueFlow& flow, Index i, const Sum& sum) {
  if (flow.escapes(i) || flow.readers(i).empty()) return std::nullopt;
  Place p{Rewrite(context), "the offset at " + context.code.id(i)};
  const isa::RegUnit d = context.code.instruction(i).defs[0].first;
  for (const Index r : flow.readers(i)) {
    const std::string line = moved(context, r, d, sum);
    // From i on: where the sum went into the address's own register, that was it.
    if (line.empty() || !context.codec.parse(line) ||
        flow.next_writer(sum.address->reg.first, i + 1, r) != program::no_index)
      return std::nullopt;
    p.rewrite.put(r, line);
  }
  p.rewrite.remove(i);
  p.reads.insert(sum.address->reg);
  p.reads_in = {i + 1, flow.readers(i).back() + 1};
  p.cost = p.saved = cost_of(context.code.instruction(i));
  p.time = context.time_of(i);
  return p;
}

} // namespace

std::vector<Proposal> propose_folded_offsets(const RuleContext& context) {
  const KnownValues known(context.code);
  std::vector<Place> places;
  for (const EntryRange& range : stretches_of(context.code)) {
    const ValueFlow flow(context.code, range.begin, range.end);
    KnownValues::State state = known.before(range.begin);
    for (Index i = range.begin; i < range.end; ++i) {
      if (const auto sum = sum_of(context.code.instruction(i), state))
        if (auto place = fold(context, flow, i, *sum)) places.push_back(*std::move(place));
      known.step(state, i);
    }
  }
  return proposals(context, std::move(places), "the access adds it itself", true, most_single);
}

} // namespace asmevo::search
