// Two single-precision operations in one packed instruction.
//
// Pattern. Two additions, multiplications or fused multiply-adds whose results are the two halves of an
// aligned pair of registers, and whose operands are in one aligned pair each:
//
//   v_sub_f32 v2, v2, v19                  v_pk_add_f32 v[2:3], v[2:3], v[18:19] op_sel:[0,1] op_sel_hi:[1,1]
//   v_exp_f32 v17, v17                =>                neg_lo:[0,1] neg_hi:[0,1]
//   v_sub_f32 v3, v3, v19
//
// op_sel and op_sel_hi say which half of an operand each of the two operations takes, so that an operand that
// both have in common, such as v19, is as good as a pair. A constant that both have in common is put into a
// scalar register first.
//
// Condition. The first one moves down to the second one: what it reads must not be written on the way, nor
// its result be read or written. Moving down only, any number of pairs at once is right if each one is:
// whatever has to come behind the first of a pair is behind the second one already. No |x|, no clamp, no
// factor 2 or the like; signs are fine.
//
// Why it pays. On MI200 and MI300 a packed instruction takes the SIMD for 4 cycles as a plain one does, and
// does twice as much. Each half is computed to the same bits.
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace asmevo::search {

using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using program::Index;

namespace {

constexpr Index most_between = 40; // entries between the two: what is moved far down keeps registers alive
constexpr size_t most_single = 6;  // proposals for one stretch each

enum class Operation : uint8_t { Multiply, Add, MultiplyAdd };

// A source: a register or a constant, and its sign.
struct Half {
  bool constant = false, negative = false;
  RegUnit unit = 0;
  uint32_t value = 0;
  // Whether one operand of a packed instruction can have both: as its low and its high half.
  bool fits(const Half& high) const {
    if (constant || high.constant) return constant == high.constant && value == high.value;
    return isa::is_vgpr(unit) == isa::is_vgpr(high.unit) && unit / 2 == high.unit / 2;
  }
};

struct Single {
  Operation operation = Operation::Add;
  RegUnit result = 0;
  std::vector<Half> sources;
  bool difference = false;
};

Half half_of(const Instruction& i, unsigned n) {
  const Operand& o = *source(i, n);
  Half h;
  h.negative = (i.mods.neg >> n & 1) != 0;
  h.constant = o.kind != Operand::Kind::Register;
  if (h.constant)
    h.value = static_cast<uint32_t>(o.value);
  else
    h.unit = o.reg.first;
  return h;
}

bool usable(const Half& h) {
  return h.constant || isa::is_vgpr(h.unit) || isa::is_sgpr(h.unit);
}

// v_fmac_f32 has its result as third operand.
std::optional<Single> single_of(const Instruction& i) {
  const bool multiply = i.is("v_mul_f32"), add = i.is("v_add_f32"), subtract = i.is("v_sub_f32"),
             reverse = i.is("v_subrev_f32"), fma = i.is("v_fma_f32"), accumulate = i.is("v_fmac_f32"),
             literal = i.is("v_fmamk_f32") || i.is("v_fmaak_f32");
  if (!multiply && !add && !subtract && !reverse && !fma && !accumulate && !literal) return std::nullopt;
  if (!is_plain_encoding(i, true) || i.mods.abs != 0 || i.defs.size() != 1 || !isa::is_vgpr(i.defs[0].first))
    return std::nullopt;
  Single s;
  s.operation = multiply                     ? Operation::Multiply
                : add || subtract || reverse ? Operation::Add
                                             : Operation::MultiplyAdd;
  s.result = i.defs[0].first;
  const unsigned count = fma || literal ? 3 : 2;
  for (unsigned n = 0; n < count; ++n) {
    if (source(i, n) == nullptr) return std::nullopt;
    s.sources.push_back(half_of(i, n));
  }
  s.difference = subtract || reverse;
  if (subtract) s.sources[1].negative ^= true;
  if (reverse) s.sources[0].negative ^= true;
  if (accumulate) s.sources.push_back({false, false, s.result, 0});
  if (!std::ranges::all_of(s.sources, usable)) return std::nullopt;
  return s;
}

struct Pair {
  Index first = 0, second = 0; // entries
  Single low, high;
  std::vector<uint32_t> constants() const {
    std::vector<uint32_t> list;
    for (const Half& h : low.sources)
      if (h.constant) list.push_back(h.value);
    return list;
  }
};

// With sources in an order in which each fits the other's; nothing where there is none.
std::optional<Pair> as_pair(Single a, Single b) {
  if (a.operation != b.operation || a.result / 2 != b.result / 2 || a.result == b.result) return std::nullopt;
  Single &low = a.result % 2 == 0 ? a : b, &high = a.result % 2 == 0 ? b : a;
  for (int turn = 0; turn < 2; ++turn) {
    bool fit = true;
    for (size_t n = 0; n < low.sources.size(); ++n) fit &= low.sources[n].fits(high.sources[n]);
    if (fit) return Pair{0, 0, low, high};
    std::swap(high.sources[0], high.sources[1]); // a + b = b + a
  }
  return std::nullopt;
}

// No more than one scalar pair, a constant counting as one.
bool encodes(const Pair& p) {
  std::set<uint64_t> scalars;
  for (const Half& h : p.low.sources)
    if (h.constant)
      scalars.insert(uint64_t{1} << 32 | h.value);
    else if (!isa::is_vgpr(h.unit))
      scalars.insert(h.unit / 2);
  return scalars.size() <= 1;
}

std::string list(const std::vector<Half>& halves, bool (*bit)(const Half&)) {
  std::string text;
  for (const Half& h : halves) text += (text.empty() ? "" : ",") + std::string(bit(h) ? "1" : "0");
  return text;
}

std::string text_of(const Pair& p, const std::map<uint32_t, RegUnit>& constants) {
  static constexpr std::array<const char*, 3> names = {"v_pk_mul_f32", "v_pk_add_f32", "v_pk_fma_f32"};
  const auto placed = [&](Half h) {
    if (h.constant) h.unit = constants.at(h.value);
    return h;
  };
  std::vector<Half> low, high;
  for (const Half& h : p.low.sources) low.push_back(placed(h));
  for (const Half& h : p.high.sources) high.push_back(placed(h));
  std::string text =
      fmt::format("{} {}", names[static_cast<size_t>(p.low.operation)], isa::name({p.low.result, 2}));
  for (const Half& h : low) text += ", " + isa::name(isa::RegRange{static_cast<RegUnit>(h.unit / 2 * 2), 2});
  const auto odd = [](const Half& h) { return h.unit % 2 != 0; };
  const auto negative = [](const Half& h) { return h.negative; };
  text += fmt::format(" op_sel:[{}] op_sel_hi:[{}] neg_lo:[{}] neg_hi:[{}]\n", list(low, odd),
                      list(high, odd), list(low, negative), list(high, negative));
  return text;
}

class Packer {
 public:
  explicit Packer(const RuleContext& context) : context_(context), code_(context.code), free_(context.code) {}

  /// Some of the places turn a difference into a sum.
  bool differences() const { return differences_; }

  std::vector<Place> run() {
    std::vector<Place> places;
    for (const EntryRange& range : stretches_of(code_))
      if (auto place = pack(range)) places.push_back(*std::move(place));
    return places;
  }

 private:
  std::optional<Place> pack(const EntryRange& range) {
    const ValueFlow flow(code_, range.begin, range.end);
    std::vector<Pair> pairs = find_pairs(flow);
    if (pairs.empty()) return std::nullopt;
    const auto constants = place_constants(pairs);
    if (pairs.empty()) return std::nullopt;
    Place p{Rewrite(context_), fmt::format("{} pairs from {}", pairs.size(), code_.id(pairs.front().first))};
    std::string text;
    for (const auto& [value, where] : constants) {
      const std::string line = fmt::format("s_mov_b32 {}, 0x{:x}\n", reg(where.second), value);
      p.rewrite.insert(where.first, line);
      text += line;
    }
    std::map<uint32_t, RegUnit> scalars;
    for (const auto& [value, where] : constants) scalars[value] = where.second;
    for (const Pair& pair : pairs) {
      const std::string line = text_of(pair, scalars);
      if (!context_.codec.parse(line)) return std::nullopt;
      p.rewrite.remove(pair.first);
      p.rewrite.put(pair.second, line);
      text += line;
      differences_ |= pair.low.difference || pair.high.difference;
    }
    p.reads_in = p.writes_in = range;
    if (!finish(context_, p, text)) return std::nullopt;
    return p;
  }

  std::vector<Pair> find_pairs(const ValueFlow& flow) const {
    std::map<Index, Single> singles;
    for (Index i = flow.begin(); i < flow.end(); ++i)
      if (const auto s = single_of(code_.instruction(i))) singles[i] = *s;
    std::vector<Pair> pairs;
    std::set<Index> taken;
    for (auto a = singles.begin(); a != singles.end(); ++a) {
      if (taken.contains(a->first)) continue;
      for (auto b = std::next(a); b != singles.end() && b->first - a->first <= most_between; ++b) {
        if (taken.contains(b->first)) continue;
        auto pair = as_pair(a->second, b->second);
        if (!pair || !encodes(*pair) || !may_move(flow, a->first, b->first) || reads_early(*pair, b->first))
          continue;
        pair->first = a->first, pair->second = b->first;
        pairs.push_back(*pair);
        taken.insert(a->first), taken.insert(b->first);
        break;
      }
    }
    return pairs;
  }

  // From a to b, which is then done at the same time.
  bool may_move(const ValueFlow& flow, Index a, Index b) const {
    const Instruction& instruction = code_.instruction(a);
    const RegUnit d = instruction.defs[0].first;
    if (flow.next_reader(d, a + 1, b + 1) != program::no_index ||
        flow.next_writer(d, a + 1, b) != program::no_index)
      return false;
    for (const isa::RegRange& r : instruction.uses)
      for (RegUnit u = r.first; u < r.first + r.count; ++u)
        if (flow.next_writer(u, a + 1, b) != program::no_index) return false;
    return true;
  }

  // Where both take the same half of a pair, the other half is read along with it. A load that is to write
  // that one may not have been waited for.
  bool reads_early(const Pair& p, Index at) const {
    isa::RegSet along;
    for (size_t n = 0; n < p.low.sources.size(); ++n) {
      const Half &low = p.low.sources[n], &high = p.high.sources[n];
      if (!low.constant && low.unit == high.unit) along.insert(static_cast<RegUnit>(low.unit ^ 1));
    }
    if (along.empty()) return false;
    along &= free_.in_flight(at);
    return !along.empty();
  }

  // A scalar register for each constant, free from where it is first needed to where it is last; pairs for
  // whose constant there is none are left out. By value: entry and register.
  std::map<uint32_t, std::pair<Index, RegUnit>> place_constants(std::vector<Pair>& pairs) const {
    std::map<uint32_t, EntryRange> needed;
    for (const Pair& p : pairs)
      for (const uint32_t value : p.constants()) {
        const auto [at, fresh] = needed.try_emplace(value, EntryRange{p.second, p.second});
        at->second.begin = std::min(at->second.begin, p.second),
        at->second.end = std::max(at->second.end, p.second);
      }
    std::map<uint32_t, std::pair<Index, RegUnit>> placed;
    isa::RegSet taken;
    for (const auto& [value, range] : needed)
      if (const auto s = free_.find_scalar(range.begin, range.end, taken)) {
        placed[value] = {range.begin, *s};
        taken.insert(*s);
      }
    std::erase_if(pairs, [&](const Pair& p) {
      return std::ranges::any_of(p.constants(), [&](uint32_t value) { return !placed.contains(value); });
    });
    std::erase_if(placed, [&](const auto& entry) {
      return std::ranges::none_of(
          pairs, [&](const Pair& p) { return std::ranges::count(p.constants(), entry.first) != 0; });
    });
    return placed;
  }

  const RuleContext& context_;
  const profile::KernelCode& code_;
  FreeRegisters free_;
  bool differences_ = false;
};

} // namespace

std::vector<Proposal> propose_packed_arithmetic(const RuleContext& context) {
  Packer packer(context);
  std::vector<Place> places = packer.run();
  return proposals(context, std::move(places), "two operations in one packed instruction",
                   !packer.differences(), most_single);
}

} // namespace asmevo::search
