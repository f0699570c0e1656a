// Mathematical functions as the hardware has them.
//
// Pattern. HIP's expf, logf, sqrtf, rsqrtf, erff, tanhf and log1pf are right to the last bit or two for every
// argument, denormals included. On CDNA that takes long sequences around the one instruction that does the
// work. expf(v1), as LLVM has it:
//
//   v_mul_f32     v2, 0x3fb8aa3b, v1       x log2(e), rounded                   v_mul_f32 v1, 0x3fb8aa3b, v1
//   v_fma_f32     v3, v1, s2, -v2          and what that lost                   v_exp_f32 v1, v1
//   v_rndne_f32   v4, v2                   whole and
//   v_fmamk_f32   v3, v1, 0x32a5705f, v3
//   v_sub_f32     v2, v2, v4               fractional part
//   v_add_f32     v2, v2, v3                                               =>
//   v_cvt_i32_f32 v4, v4
//   v_exp_f32     v2, v2
//   v_ldexp_f32   v2, v2, v4
//   v_cmp_ngt_f32 vcc, s4, v1              0 below -104, infinity above 89
//   v_cndmask_b32 v2, 0, v2, vcc
//   v_cmp_nlt_f32 vcc, s3, v1
//   v_cndmask_b32 v1, v3, v2, vcc
//
// v_exp_f32 gives 0 and infinity by itself; what it does not do are denormal results. The error of x log2(e)
// is that of the argument, and so the result's is at most 4 parts in a million where x is 80.
//
// Which function it is cannot be told from the text: no two versions of the compiler and its library write
// the same, signs and factors are folded in, and the scheduler has mixed it all. So each result is taken with
// what it is made of (slices.h), and that is run on sample arguments (observed_function.h). Functions that
// branch, erff and tanhf, are whole pieces of code between s_and_saveexec and the s_or that restores EXEC.
//
// Condition. The argument is still in its register where the result is made, or the result's register is free
// from where the argument is overwritten. Of the old instructions those are taken out whose results nobody
// else reads.
//
// Why it pays. A vector instruction takes the SIMD for 4 cycles, v_exp and its like for 16. expf comes down
// from 64 cycles to 20; erff, of which a wave runs both sides, from some 160 to 68.
#include "program/exec_change.h"
#include "search/observed_function.h"
#include "search/rules/rule_list.h"
#include "search/rules/snippets.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::search {

using isa::Instruction;
using isa::RegUnit;
using program::Index;
using Kind = Function::Kind;

namespace {

constexpr size_t most_in_slice = 160;      // entries; log1pf has 130
constexpr size_t most_in_branches = 120;   // of erff, 45
constexpr size_t most_observations = 4000; // of a kernel; each takes some 200 us
constexpr size_t most_single = 12;         // proposals for one place each

// --- the new text

struct Text {
  // gfx942 and later: a wait state between a transcendental instruction and one that reads its result; and
  // v_fmaak_f32, a fused multiply-add with a literal.
  bool wait = false, has_fmaak = false;
  std::string lines;
  void add(const std::string& line) { lines += line + "\n"; }
  void add_slow(const std::string& line) {
    add(line);
    if (wait) add("s_nop 0");
  }
};

// Registers by name; scratch and spare may be missing where needs_scratch says no.
struct Names {
  std::string result, argument, scratch, spare;
};

bool needs_scratch(Kind k) {
  return k == Kind::Erf || k == Kind::ErfAbs;
}

// erf(|x|) = 1 - 1 / (1 + a1 |x| + ... + a6 |x|^6)^16, to 3e-7 (Abramowitz and Stegun, 7.1.28)
void write_erf(Text& text, const Names& n) {
  constexpr float a[] = {0.0705230784F, 0.0422820123F, 0.0092705272F,
                         0.0001520143F, 0.0002765672F, 0.0000430638F};
  const std::string &d = n.result, &t = n.scratch;
  text.add(fmt::format("v_and_b32_e32 {}, 0x7fffffff, {}", t, n.argument));
  text.add(fmt::format("v_mov_b32_e32 {}, {}", d, float_bits(a[4])));
  text.add(fmt::format("v_fmac_f32_e32 {}, {}, {}", d, float_bits(a[5]), t));
  std::string sum = d, next = text.has_fmaak ? d : n.spare; // they change places four times
  for (int k = 3; k >= 0; --k) {
    if (text.has_fmaak) {
      text.add(fmt::format("v_fmaak_f32 {}, {}, {}, {}", d, t, d, float_bits(a[k])));
      continue;
    }
    text.add(fmt::format("v_mov_b32_e32 {}, {}", next, float_bits(a[k])));
    text.add(fmt::format("v_fmac_f32_e32 {}, {}, {}", next, t, sum));
    std::swap(sum, next);
  }
  text.add(fmt::format("v_fma_f32 {}, {}, {}, 1.0", d, t, d));
  for (int k = 0; k < 4; ++k) text.add(fmt::format("v_mul_f32_e32 {0}, {0}, {0}", d));
  text.add_slow(fmt::format("v_rcp_f32_e32 {0}, {0}", d));
  text.add(fmt::format("v_sub_f32_e32 {0}, 1.0, {0}", d));
}

// tanh(x) = 1 - 2 / (1 + 2^(2 log2(e) x))
void write_tanh(Text& text, const Names& n, bool of_size) {
  const std::string& d = n.result;
  text.add(fmt::format("v_mul_f32_e32 {}, {}, {}", d, float_bits(2.885390082F), n.argument));
  text.add_slow(of_size ? fmt::format("v_exp_f32_e64 {0}, |{0}|", d)
                        : fmt::format("v_exp_f32_e32 {0}, {0}", d));
  text.add(fmt::format("v_add_f32_e32 {0}, 1.0, {0}", d));
  text.add_slow(fmt::format("v_rcp_f32_e32 {0}, {0}", d));
  text.add(fmt::format("v_fma_f32 {0}, {0}, -2.0, 1.0", d));
}

// An instruction of one operand, and a factor behind it.
void write_with_factor(Text& text, std::string_view operation, float c, const Names& n) {
  const std::string line = fmt::format("v_{}_f32_e32 {}, {}", operation, n.result, n.argument);
  if (c == 1) return text.add(line);
  text.add_slow(line);
  text.add(fmt::format("v_mul_f32_e32 {0}, {1}, {0}", n.result, float_bits(c)));
}

void write_exp2(Text& text, float c, const Names& n) {
  if (c == 1) return text.add(fmt::format("v_exp_f32_e32 {}, {}", n.result, n.argument));
  text.add(fmt::format("v_mul_f32_e32 {}, {}, {}", n.result, float_bits(c), n.argument));
  text.add(fmt::format("v_exp_f32_e32 {0}, {0}", n.result));
}

void write_log1p(Text& text, const Names& n) {
  text.add(fmt::format("v_add_f32_e32 {}, 1.0, {}", n.result, n.argument));
  text.add_slow(fmt::format("v_log_f32_e32 {0}, {0}", n.result));
  text.add(fmt::format("v_mul_f32_e32 {0}, {1}, {0}", n.result, float_bits(0.6931471806F)));
}

std::string text_of(const Function& f, Names n, bool newer) {
  Text text{newer, newer, {}};
  if (!n.argument.starts_with('v') && f.kind != Kind::Log2 && f.kind != Kind::Sqrt) {
    // An SGPR beside a literal is a constant too many for one instruction.
    text.add(fmt::format("v_mov_b32_e32 {}, {}", n.result, n.argument));
    n.argument = n.result;
  }
  switch (f.kind) {
  case Kind::Exp2: write_exp2(text, f.c, n); break;
  case Kind::Log2: write_with_factor(text, "log", f.c, n); break;
  case Kind::Sqrt: write_with_factor(text, "sqrt", f.c, n); break;
  case Kind::Rsqrt: write_with_factor(text, "rsq", f.c, n); break;
  case Kind::Reciprocal: write_with_factor(text, "rcp", f.c, n); break;
  case Kind::Tanh:
  case Kind::TanhAbs: write_tanh(text, n, f.kind == Kind::TanhAbs); break;
  case Kind::ErfAbs: write_erf(text, n); break;
  case Kind::Erf: return {}; // compilers write it as erf(|x|) and a sign
  case Kind::Log1p: write_log1p(text, n); break;
  }
  return text.lines;
}

// --- straight code

bool is_hardware_function(const Instruction& i) {
  return i.issue == isa::IssueClass::Transcendental && i.base_mnemonic.ends_with("_f32");
}

// A VALU instruction whose only result is one VGPR.
bool may_be_result(const Instruction& i) {
  return (i.issue == isa::IssueClass::Valu || i.issue == isa::IssueClass::Transcendental) &&
         is_plain_arithmetic(i) && i.defs.size() == 1 && i.defs[0].count == 1 &&
         isa::is_vgpr(i.defs[0].first) && !i.partial_def;
}

class Finder {
 public:
  explicit Finder(const RuleContext& context)
      : context_(context), code_(context.code), known_(context.code), mode_(initial_mode(context.code)),
        newer_(transcendental_needs_wait(context)) {}

  std::vector<Place> run() {
    std::vector<EntryRange> stretches = stretches_of(code_);
    std::ranges::stable_sort(stretches, std::ranges::greater{},
                             [&](const EntryRange& r) { return context_.time_of(r.begin, r.end); });
    for (const EntryRange& r : stretches) look_at(r);
    for (Index i = code_.function().begin; i < code_.function().end; ++i)
      if (code_.instruction(i).is("s_and_saveexec_b64")) look_at_branches(i);
    return std::move(places_);
  }

 private:
  void look_at(const EntryRange& range) {
    bool worth = false;
    for (Index i = range.begin; i < range.end; ++i) worth |= is_hardware_function(code_.instruction(i));
    if (!worth) return;
    const ValueFlow flow(code_, range.begin, range.end);
    const Slicer slicer(flow, known_);
    for (Index i = range.begin; i < range.end; ++i)
      if (may_be_result(code_.instruction(i)))
        slicer.each_slice(i, most_in_slice, [&](const Slice& s) { look_at(flow, s, i); });
  }

  void look_at(const ValueFlow& flow, const Slice& s, Index result) {
    double cost = 0;
    bool anchored = false;
    Experiment e;
    for (const Index i : s.entries) {
      const Instruction& instruction = code_.instruction(i);
      cost += cost_of(instruction);
      anchored |= is_hardware_function(instruction);
      e.words.insert(e.words.end(), instruction.encoding().begin(), instruction.encoding().end());
    }
    constexpr double least = 5; // what the shortest replacement costs, and one more
    if (!anchored || cost <= least || observations_ >= most_observations) return;
    ++observations_;
    e.target = code_.program().target;
    e.argument = s.argument, e.result = code_.instruction(result).defs[0].first;
    e.constants = s.constants, e.mode = mode_;
    if (const auto f = observe(e)) add_place(flow, s, result, *f);
  }

  void add_place(const ValueFlow& flow, const Slice& s, Index result, const Function& f) {
    Place p{Rewrite(context_), fmt::format("{} at {}", f.text(), code_.id(result))};
    p.rewrite.remove(result);
    remove_unread(flow, p.rewrite, s.entries);
    const RegUnit d = code_.instruction(result).defs[0].first;
    const auto at = where_to_compute(flow, p.rewrite, s, result);
    if (!at) return;
    isa::RegSet taken;
    taken.insert(d), taken.insert(s.argument);
    Names names{reg(d), reg(s.argument), {}, {}};
    if (needs_scratch(f.kind) && (*at != result || !name_scratch(p, names, result, taken))) return;
    if (*at != result) p.writes.insert(d);
    p.writes_in = {*at, result + 1};
    p.reads.insert(s.argument);
    p.reads_in = {s.argument_writer == ValueFlow::incoming ? flow.begin() : s.argument_writer + 1, *at + 1};
    const std::string text = text_of(f, names, newer_);
    if (*at == result)
      p.rewrite.put(result, text);
    else
      p.rewrite.insert(*at, text);
    if (!text.empty() && finish(context_, p, text)) places_.push_back(std::move(p));
  }

  // Scratch for what comes in place of an entry. False: there is none.
  bool name_scratch(Place& p, Names& names, Index entry, isa::RegSet taken) const {
    for (std::string* const name : {&names.scratch, &names.spare}) {
      const auto t = scratch_register(context_, p.rewrite, entry, taken);
      if (!t) return false;
      *name = reg(*t);
      p.writes.insert(*t), taken.insert(*t);
    }
    return true;
  }

  // In the result's place, if the argument is still there. Else where it is overwritten, if the result's
  // register is free from there on.
  std::optional<Index> where_to_compute(const ValueFlow& flow, const Rewrite& rewrite, const Slice& s,
                                        Index result) const {
    const isa::RegRange d = code_.instruction(result).defs[0];
    const bool comes_in = s.argument_writer == ValueFlow::incoming;
    Index at = comes_in ? flow.begin() : s.argument_writer + 1;
    while (at < result && (rewrite.removes(at) || !code_.instruction(at).writes({s.argument, 1}))) ++at;
    for (Index i = at; i < result; ++i)
      if (!rewrite.removes(i) && (code_.instruction(i).reads(d) || code_.instruction(i).writes(d)))
        return std::nullopt;
    return at;
  }

  // --- code that branches

  // From an s_and_saveexec to the s_or that restores EXEC, if control goes in and out nowhere else, with the
  // comparison in front that the lanes are told apart by.
  struct Branches {
    Index compare = 0, begin = 0, end = 0;
    RegUnit argument = 0, result = 0;
    std::vector<Slice::Constant> constants;
  };
  std::optional<Index> end_of_branches(Index begin) const;
  bool closed(Index begin, Index end) const;
  bool find_ends(Branches&) const;
  std::optional<Experiment> experiment(const Branches&) const;
  void look_at_branches(Index begin);

  const RuleContext& context_;
  const profile::KernelCode& code_;
  KnownValues known_;
  uint32_t mode_;
  bool newer_; // than gfx90a
  size_t observations_ = 0;
  std::vector<Place> places_;
};

std::optional<Index> Finder::end_of_branches(Index begin) const {
  const Index last = std::min<Index>(code_.function().end, begin + most_in_branches);
  for (Index i = begin + 1; i < last; ++i) {
    const Instruction& instruction = code_.instruction(i);
    if (instruction.is("s_or_b64") && instruction.operands[0].reg.first == isa::unit::exec) return i;
    if (!instruction.branch && instruction.issue != isa::IssueClass::Nop &&
        !is_plain_arithmetic(instruction) && program::exec_change(instruction) == program::ExecChange::None)
      return std::nullopt;
  }
  return std::nullopt;
}

// Every branch within goes to somewhere within or to the end, and none from elsewhere comes in.
bool Finder::closed(Index begin, Index end) const {
  const program::Program& p = code_.program();
  for (Index i = code_.function().begin; i < code_.function().end; ++i) {
    const Instruction& instruction = code_.instruction(i);
    if (!instruction.branch) continue;
    const Index to = p.branch_target(i);
    const bool from_within = i >= begin && i <= end, to_within = to > begin && to <= end;
    if (from_within != to_within) return false;
  }
  return !code_.cfg().unknown_edges();
}

// One VGPR comes in and is no constant, one goes out, and nothing else.
bool Finder::find_ends(Branches& b) const {
  const isa::RegSet live_before = code_.liveness().before(b.compare),
                    live_after = code_.liveness().after(b.end);
  const KnownValues::State at_start = known_.before(b.compare);
  isa::RegSet inputs, outputs, written;
  const auto look_at = [&](Index i) {
    const Instruction& instruction = code_.instruction(i);
    for (const isa::RegRange& r : instruction.uses)
      for (RegUnit u = r.first; u < r.first + r.count; ++u)
        if (!written.contains(u) && live_before.contains(u)) inputs.insert(u);
    for (const isa::RegRange& r : instruction.defs)
      for (RegUnit u = r.first; u < r.first + r.count; ++u) {
        if (isa::is_vector(u) || u != isa::unit::exec) written.insert(u);
        if (live_after.contains(u)) outputs.insert(u);
      }
  };
  look_at(b.compare);
  for (Index i = b.begin; i <= b.end; ++i) look_at(i);
  for (RegUnit u = isa::unit::exec; u < isa::unit::count; ++u) {
    if (u == isa::unit::scc) continue;
    inputs.erase(u), outputs.erase(u);
  }
  std::vector<RegUnit> arguments;
  inputs.for_each([&](RegUnit u) {
    if (const auto value = KnownValues::bounds(at_start, u).constant())
      b.constants.push_back({u, *value});
    else
      arguments.push_back(u);
  });
  if (arguments.size() != 1 || outputs.size() != 1) return false;
  b.argument = arguments[0];
  outputs.for_each([&](RegUnit u) { b.result = u; });
  return isa::is_vgpr(b.argument) && isa::is_vgpr(b.result);
}

std::optional<Experiment> Finder::experiment(const Branches& b) const {
  std::vector<Index> entries = {b.compare};
  for (Index i = b.begin; i <= b.end; ++i) entries.push_back(i);
  std::map<Index, int> at; // dwords from the start
  int dwords = 0;
  for (const Index i : entries) {
    at[i] = dwords;
    dwords += code_.instruction(i).dwords;
  }
  Experiment e{code_.program().target, {}, b.argument, b.result, b.constants, mode_};
  for (const Index i : entries) {
    const Instruction& instruction = code_.instruction(i);
    const size_t first = e.words.size();
    e.words.insert(e.words.end(), instruction.encoding().begin(), instruction.encoding().end());
    if (!instruction.branch) continue;
    const int distance = at.at(code_.program().branch_target(i)) - (at.at(i) + 1);
    e.words[first] = (e.words[first] & 0xffff0000U) | static_cast<uint16_t>(distance);
  }
  return e;
}

void Finder::look_at_branches(Index begin) {
  Branches b;
  b.begin = begin;
  const auto end = end_of_branches(begin);
  const uint32_t block = code_.cfg().block_of(begin);
  const isa::Operand* const mask = code_.instruction(begin).find(isa::Role::Src0);
  if (!end || !closed(begin, *end) || mask == nullptr || mask->kind != isa::Operand::Kind::Register) return;
  b.end = *end;
  b.compare = begin;
  const Index block_begin = code_.cfg().blocks()[block].begin;
  while (b.compare > block_begin && !code_.instruction(b.compare - 1).writes(mask->reg)) --b.compare;
  if (b.compare == block_begin) return;
  --b.compare;
  const Instruction& compare = code_.instruction(b.compare);
  if (!is_plain_arithmetic(compare) || !find_ends(b)) return;
  const isa::RegRange argument{b.argument, 1};
  for (Index i = b.compare; i < begin; ++i)
    if (code_.instruction(i).writes(argument)) return;
  if (observations_++ >= most_observations) return;
  const auto e = experiment(b);
  const auto f = e ? observe(*e) : std::nullopt;
  if (!f) return;
  Place p{Rewrite(context_), fmt::format("{} at {}", f->text(), code_.id(begin))};
  for (Index i = begin; i <= b.end; ++i) p.rewrite.remove(i);
  isa::RegSet taken;
  taken.insert(b.argument), taken.insert(b.result);
  Names names{reg(b.result), reg(b.argument), {}, {}};
  if (needs_scratch(f->kind) && !name_scratch(p, names, b.end, taken)) return;
  p.writes_in = {begin, b.end + 1};
  const std::string text = text_of(*f, names, newer_);
  p.rewrite.put(begin, text);
  // The comparison, where it was for this alone.
  if (!code_.liveness().after(b.end).overlaps(mask->reg) && compare.defs.size() == 1) {
    bool read = false;
    for (Index i = b.compare + 1; i < begin; ++i) read |= code_.instruction(i).reads(mask->reg);
    if (!read) p.rewrite.remove(b.compare);
  }
  if (!text.empty() && finish(context_, p, text)) places_.push_back(std::move(p));
}

} // namespace

std::vector<Proposal> propose_fast_functions(const RuleContext& context) {
  return proposals(context, Finder(context).run(), "the hardware has it", false, most_single);
}

} // namespace asmevo::search
