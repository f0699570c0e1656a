// Global addresses as scalar base and 32-bit offset, in the memory instruction itself.
//
// Pattern. An address in 64 bits, made by vector instructions from a pointer that is the same for all lanes:
//
//   v_mov_b32       v19, 0                            v19 is 0 all along
//   v_lshl_add_u64  v[14:15], s[2:3], 0, v[18:19]
//   v_add_co_u32    v6, vcc, 0x800, v14          =>
//   v_addc_co_u32   v7, vcc, 0, v15, vcc
//   global_load_dwordx4 v[6:9], v[6:7], off           global_load_dwordx4 v[6:9], v18, s[2:3] offset:2048
//
// Global instructions can add a scalar pair, a vector register of 32 bits that counts as unsigned, and a
// constant of -4096 to 4095 by themselves.
//
// Condition. The high half of the vector part is known to be 0 (known_values.h), with a shift (v_lshl_add_u64
// v[4:5], v[2:3], 2, s[2:3]) also what is shifted out of the low half; then v_lshlrev_b32 makes the offset
// where the address was made. Scalar base and offset still hold their values at the memory instruction.
//
// Why it pays. One or three vector instructions less and a shorter way to the load, and one register a lane
// less while the address lives. Where some of the readers of an address cannot change, its instructions stay,
// and it is not worth while.
#include "search/known_values.h"
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using isa::RegRange;
using isa::RegUnit;
using isa::Role;
using program::Index;

namespace {

constexpr size_t most_single = 8;                           // proposals for one stretch each
constexpr int64_t least_offset = -4096, most_offset = 4095; // of global instructions, gfx90a to gfx950

// base + (index << shift) + constant, where all but the constant is as entry `made` finds it.
struct Address {
  RegUnit base = 0;  // SGPR pair
  RegUnit index = 0; // VGPR
  unsigned shift = 0;
  int64_t constant = 0;
  Index made = 0;        // the v_lshl_add_u64
  std::set<Index> steps; // instructions that it is made of
};

class Finder {
 public:
  Finder(const RuleContext& context, const KnownValues& known, const EntryRange& range)
      : context_(context), code_(context.code), flow_(context.code, range.begin, range.end), range_(range) {
    KnownValues::State state = known.before(range.begin);
    for (Index i = range.begin; i < range.end; ++i) {
      if (code_.instruction(i).is("v_lshl_add_u64")) sums_[i] = read_sum(i, state);
      if (code_.instruction(i).is("v_add_co_u32")) constants_[i] = added_constant(i, state);
      known.step(state, i);
    }
  }

  std::optional<Place> run() {
    Place p{Rewrite(context_), ""};
    std::string text;
    std::set<Index> steps;
    std::map<Index, std::string> shifts; // lines in place of v_lshl_add_u64
    size_t count = 0;
    for (Index i = range_.begin; i < range_.end; ++i) {
      const auto address = address_of(i);
      if (!address) continue;
      const std::string line = rewritten(i, *address);
      if (line.empty()) continue;
      p.rewrite.put(i, line);
      ++count;
      steps.insert(address->steps.begin(), address->steps.end());
      if (address->shift != 0)
        shifts[address->made] = fmt::format("v_lshlrev_b32_e32 {}, {}, {}\n", reg(result_of(address->made)),
                                            address->shift, reg(address->index));
    }
    if (count == 0 || !drop_steps(p.rewrite, steps, shifts)) return std::nullopt;
    p.what = fmt::format("{} accesses from {}", count, code_.id(range_.begin));
    return price(std::move(p), steps, shifts);
  }

 private:
  RegUnit result_of(Index i) const { return code_.instruction(i).operands[0].reg.first; }
  bool intact(RegRange r, Index from, Index to) const {
    for (RegUnit u = r.first; u < r.first + r.count; ++u)
      if (flow_.next_writer(u, from, to) != program::no_index) return false;
    return true;
  }

  // v_lshl_add_u64 of a scalar pair and a vector index whose high half is 0.
  std::optional<Address> read_sum(Index i, const KnownValues::State& state) const {
    const Instruction& sum = code_.instruction(i);
    const Operand *const a = source(sum, 0), *const by = source(sum, 1), *const b = source(sum, 2);
    if (a == nullptr || by == nullptr || b == nullptr || by->kind == Operand::Kind::Register ||
        a->kind != Operand::Kind::Register || b->kind != Operand::Kind::Register || !is_plain_encoding(sum))
      return std::nullopt;
    const bool scalar_first = isa::is_sgpr(a->reg.first);
    const Operand &base = scalar_first ? *a : *b, &index = scalar_first ? *b : *a;
    const auto shift = static_cast<unsigned>(by->value);
    if (!isa::is_sgpr(base.reg.first) || !isa::is_vgpr(index.reg.first) || index.reg.count != 2 ||
        shift > 4 || (scalar_first && shift != 0))
      return std::nullopt;
    const Bounds low = KnownValues::bounds(state, index.reg.first);
    const Bounds high = KnownValues::bounds(state, static_cast<RegUnit>(index.reg.first + 1));
    if (high.constant() != 0U || (uint64_t{low.high} << shift) > 0xffffffffU) return std::nullopt;
    return Address{base.reg.first, index.reg.first, shift, 0, i, {i}};
  }

  std::optional<uint32_t> added_constant(Index i, const KnownValues::State& state) const {
    const Operand* const o = source(code_.instruction(i), 0);
    return o == nullptr ? std::nullopt : KnownValues::bounds(state, *o).constant();
  }

  // What a VGPR pair holds before `at`.
  std::optional<Address> made_of(RegUnit pair, Index at) const {
    const Index low = flow_.writer(at, pair), high = flow_.writer(at, pair + 1);
    if (low == ValueFlow::incoming || high == ValueFlow::incoming) return std::nullopt;
    if (low == high) {
      const auto found = sums_.find(low);
      if (found == sums_.end() || result_of(low) != pair) return std::nullopt;
      return found->second;
    }
    return with_constant(low, high);
  }

  // v_add_co_u32 lo, vcc, constant, x and v_addc_co_u32 hi, vcc, 0, y, vcc of an address [x:y].
  std::optional<Address> with_constant(Index low, Index high) const {
    const Instruction &add = code_.instruction(low), &carry = code_.instruction(high);
    const auto constant = constants_.find(low);
    if (constant == constants_.end() || !constant->second || !carry.is("v_addc_co_u32") || high < low ||
        !is_plain_encoding(add) || !is_plain_encoding(carry))
      return std::nullopt;
    const Operand *const x = source(add, 1), *const zero = source(carry, 0), *const y = source(carry, 1);
    const auto carried = std::ranges::find(add.defs, 2, &RegRange::count);
    if (x == nullptr || y == nullptr || zero == nullptr || zero->kind == Operand::Kind::Register ||
        zero->value != 0 || x->kind != Operand::Kind::Register || y->kind != Operand::Kind::Register ||
        carried == add.defs.end() || !isa::is_vgpr(x->reg.first) || y->reg.first != x->reg.first + 1 ||
        flow_.writer(high, carried->first) != low || !carry.reads(*carried))
      return std::nullopt;
    auto address = made_of(x->reg.first, low);
    // The high half of the same address, even if the low one has been overwritten by the sum.
    if (!address || flow_.writer(high, y->reg.first) != flow_.writer(low, y->reg.first)) return std::nullopt;
    address->constant += *constant->second;
    address->steps.insert(low), address->steps.insert(high);
    return address;
  }

  std::optional<Address> address_of(Index i) const {
    const Instruction& access = code_.instruction(i);
    if (access.memory.kind != isa::MemoryKind::Global || access.memory.lds_dma || access.mods.lds)
      return std::nullopt;
    const Operand* const vaddr = access.find(Role::Vaddr);
    const Operand* const saddr = access.find(Role::Saddr);
    if (vaddr == nullptr || vaddr->reg.count != 2 ||
        (saddr != nullptr && saddr->kind == Operand::Kind::Register))
      return std::nullopt;
    return made_of(vaddr->reg.first, i);
  }

  // "" where it cannot be.
  std::string rewritten(Index i, const Address& a) const {
    const int64_t offset = code_.instruction(i).mods.offset + a.constant;
    const RegUnit index = a.shift == 0 ? a.index : result_of(a.made);
    const Index from = a.shift == 0 ? a.made : a.made + 1;
    if (offset < least_offset || offset > most_offset || !intact({a.base, 2}, a.made, i) ||
        !intact({index, 1}, from, i))
      return "";
    std::string text = context_.codec.print(code_.instruction(i));
    const std::string vaddr = isa::name(code_.instruction(i).find(Role::Vaddr)->reg) + ", ";
    if (const size_t at = text.find(" offset:"); at != std::string::npos) {
      const size_t end = std::min(text.find(' ', at + 1), text.size());
      text.erase(at, end - at);
    }
    // Loads have the address behind the result, stores in front of the data.
    const bool first = code_.instruction(i).operands.size() != 0 && !code_.instruction(i).operands[0].is_def;
    const size_t at = first ? text.find(vaddr) : text.find(vaddr, text.find(','));
    const size_t off = text.find(" off");
    if (at == std::string::npos || off == std::string::npos) return "";
    text.replace(
        off, 4,
        fmt::format(" {}{}", isa::name({a.base, 2}), offset == 0 ? "" : fmt::format(" offset:{}", offset)));
    text.replace(at, vaddr.size() - 2, reg(index));
    const auto parsed = context_.codec.parse(text + "\n");
    return parsed && (*parsed)[0].instruction->base_mnemonic == code_.instruction(i).base_mnemonic ? text
                                                                                                   : "";
  }

  // What the addresses were made of, if all of it can go; with shifts in place of sums.
  bool drop_steps(Rewrite& rewrite, const std::set<Index>& steps,
                  const std::map<Index, std::string>& shifts) const {
    for (const auto& [made, line] : shifts) {
      // In place of the sum: nobody else may want its low half.
      if (flow_.escapes(made)) return false;
    }
    Rewrite whole = rewrite;
    remove_unread(flow_, whole, steps);
    for (const auto& [made, line] : shifts)
      if (!whole.removes(made)) return false;
    if (std::ranges::none_of(steps, [&](Index s) { return whole.removes(s); })) return false;
    for (const auto& [made, line] : shifts) whole.insert(made, line);
    rewrite = std::move(whole);
    return true;
  }

  std::optional<Place> price(Place p, const std::set<Index>& steps,
                             const std::map<Index, std::string>& shifts) const {
    for (const Index s : steps)
      if (p.rewrite.removes(s)) {
        p.cost += cost_of(code_.instruction(s));
        p.time += context_.time_of(s);
      }
    p.saved = p.cost - static_cast<double>(shifts.size());
    p.reads_in = {range_.begin, range_.end};
    if (p.saved <= 0) return std::nullopt;
    return p;
  }

  const RuleContext& context_;
  const profile::KernelCode& code_;
  ValueFlow flow_;
  EntryRange range_;
  std::map<Index, std::optional<Address>> sums_;
  std::map<Index, std::optional<uint32_t>> constants_;
};

} // namespace

std::vector<Proposal> propose_scalar_base(const RuleContext& context) {
  const KnownValues known(context.code);
  std::vector<Place> places;
  for (const EntryRange& range : stretches_of(context.code))
    if (auto place = Finder(context, known, range).run()) places.push_back(*std::move(place));
  return proposals(context, std::move(places), "scalar base and 32-bit offset", true, most_single);
}

} // namespace asmevo::search
