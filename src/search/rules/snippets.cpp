#include "search/rules/snippets.h"

#include "codeobject/kernel_descriptor.h"
#include "program/static_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>

namespace asmevo::search {

using program::Change;
using program::Index;

std::string operand_text(const isa::Operand& o) {
  if (o.kind == isa::Operand::Kind::Register) return isa::name(o.reg);
  if (o.value >= -16 && o.value <= 64) return std::to_string(o.value);
  return fmt::format("0x{:x}", static_cast<uint64_t>(o.value));
}

std::string float_bits(float f) {
  return fmt::format("0x{:x}", std::bit_cast<uint32_t>(f));
}

namespace {

void append(std::string& text, std::string_view lines) {
  text += lines;
  if (!text.empty() && text.back() != '\n') text += '\n';
}

} // namespace

void Rewrite::insert(Index before, std::string_view lines) {
  append(inserted_[before], lines);
}

void Rewrite::put(Index i, std::string_view lines) {
  append(put_[i], lines);
  remove(i);
}

void Rewrite::add(const Rewrite& other) {
  removed_.insert(other.removed_.begin(), other.removed_.end());
  for (const auto& [at, text] : other.inserted_) insert(at, text);
  for (const auto& [at, text] : other.put_) put(at, text);
}

std::vector<Change> Rewrite::changes() const {
  // A label in a range that is replaced goes to the start of what comes for it. So no range goes on across
  // one.
  std::set<Index> labelled;
  for (const program::Label& label : context_->code.program().labels) labelled.insert(label.at);
  std::vector<Change> list;
  auto inserted = inserted_.begin();
  for (auto at = removed_.begin(); at != removed_.end();) {
    for (; inserted != inserted_.end() && inserted->first < *at; ++inserted)
      list.push_back(insert_before(*context_, inserted->first, inserted->second));
    const Index first = *at;
    Index last = first;
    std::string text;
    for (; at != removed_.end() && *at <= last + 1 && (*at == first || !labelled.contains(*at)); ++at) {
      last = *at;
      if (inserted != inserted_.end() && inserted->first == last) text += (inserted++)->second;
      if (const auto there = put_.find(last); there != put_.end()) text += there->second;
    }
    list.push_back(replace(*context_, first, last, text));
  }
  for (; inserted != inserted_.end(); ++inserted)
    list.push_back(insert_before(*context_, inserted->first, inserted->second));
  return list;
}

namespace {

constexpr uint32_t trial_node = ~uint32_t{0}; // of entries that a change brought, here only

std::vector<program::Finding> missing_wait_states(const program::Program& p, std::string_view kernel) {
  program::CheckOptions options;
  options.waits = options.barriers = options.exec = false;
  options.possible = true;
  const program::Function& function = *p.find_function(kernel);
  return program::check(p, function, program::Cfg::build(p, function), options);
}

// "4 more wait states (s_nop 3)"
unsigned leading_number(std::string_view text) {
  unsigned number = 1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Change* change_in_front_of(std::vector<Change>& changes, program::InstrId id) {
  const auto found = std::ranges::find_if(changes, [&](const Change& c) { return c.before == id; });
  return found == changes.end() ? nullptr : &*found;
}

} // namespace

bool add_wait_states(const RuleContext& context, std::vector<Change>& changes) {
  const program::Program& base = context.code.program();
  const std::string& kernel = context.code.function().name;
  const auto before = missing_wait_states(base, kernel);
  constexpr unsigned rounds = 4; // an s_nop may only be in the way of nothing, so one is enough mostly
  for (unsigned round = 0; round < rounds; ++round) {
    program::Edit edit;
    edit.kernel = kernel;
    edit.changes = changes;
    const auto candidate = program::splice(base, edit, trial_node, context.codec);
    if (!candidate) return false;
    const auto missing =
        program::new_findings(base, before, *candidate, missing_wait_states(*candidate, kernel));
    if (missing.empty()) return true;
    std::set<Index> seen;
    for (const program::Finding& f : missing) {
      if (f.consumer_id.node == trial_node) return false;
      if (!seen.insert(f.consumer).second) continue;
      const std::string nop = fmt::format("s_nop {}\n", std::min(leading_number(f.missing), 8U) - 1);
      if (Change* const there = change_in_front_of(changes, f.consumer_id))
        there->text += nop;
      else
        changes.push_back({.first = {}, .last = {}, .before = f.consumer_id, .text = nop});
    }
  }
  return false;
}

bool finish(const RuleContext& context, Place& p, std::string_view text) {
  if (!text.empty() && !context.codec.parse(text)) return false;
  for (const Index i : p.rewrite.removed()) {
    p.cost += cost_of(context.code.instruction(i));
    p.time += context.time_of(i);
  }
  p.saved = p.cost - cost_of(context, text);
  return p.saved > 0;
}

namespace {

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '[' || c == ':';
}

// "v1" where it stands by itself.
std::string with_word(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const size_t end = at + from.size();
    const bool alone =
        (at == 0 || !is_name_letter(text[at - 1])) && (end == text.size() || !is_name_letter(text[end]));
    if (alone) text.replace(at, from.size(), to);
    at += alone ? to.size() : from.size();
  }
  return text;
}

} // namespace

// Halves of registers are another matter: an inline constant is not in both of them what it is in 32 bits.
static bool takes_32_bit_constants(const isa::Instruction& i) {
  return i.family != isa::Family::Vop3p && i.base_mnemonic.find("16") == std::string_view::npos &&
         i.base_mnemonic.find("mix") == std::string_view::npos &&
         i.base_mnemonic.find("64") == std::string_view::npos;
}

std::optional<std::string> with_operand(const RuleContext& context, Index i, isa::RegUnit from,
                                        const std::string& to) {
  const isa::Instruction& old = context.code.instruction(i);
  if (context.code.program().entries[i].reference != program::no_index) return std::nullopt;
  // Results come first and stay.
  const std::string text = context.codec.print(old);
  size_t first = text.find(' ');
  for (const isa::Operand& o : old.operands)
    if (o.is_def && first != std::string::npos) first = text.find(',', first + 1);
  if (first == std::string::npos) return std::nullopt;
  const std::string changed = text.substr(0, first) + with_word(text.substr(first), isa::name(from), to);
  for (const bool longer : {false, true}) {
    std::string line = changed;
    if (longer) {
      const size_t at = line.find("_e32 ");
      if (at == std::string::npos) break;
      line.replace(at, 4, "_e64");
    }
    const auto parsed = context.codec.parse(line + "\n");
    if (!parsed || parsed->size() != 1 || (*parsed)[0].instruction == nullptr) continue;
    const isa::Instruction& now = *(*parsed)[0].instruction;
    const bool same_results = std::ranges::equal(now.defs, old.defs);
    if (now.base_mnemonic == old.base_mnemonic && same_results && !now.reads({from, 1})) return line;
  }
  return std::nullopt;
}

bool forward(const RuleContext& context, const ValueFlow& flow, Index i, const isa::Operand& source,
             Rewrite& rewrite) {
  const isa::Instruction& instruction = context.code.instruction(i);
  if (flow.escapes(i) || rewrite.touches(i) || instruction.defs.empty() || instruction.defs[0].count != 1)
    return false;
  const isa::RegUnit d = instruction.defs[0].first;
  std::vector<std::pair<Index, std::string>> lines;
  for (const Index r : flow.readers(i)) {
    const isa::Instruction& reader = context.code.instruction(r);
    // Lanes that are off hold something else.
    if (rewrite.touches(r) || reader.cross_lane || reader.matrix != isa::MatrixKind::None) return false;
    if (source.kind != isa::Operand::Kind::Register && !takes_32_bit_constants(reader)) return false;
    if (source.kind == isa::Operand::Kind::Register)
      for (isa::RegUnit u = source.reg.first; u < source.reg.first + source.reg.count; ++u)
        if (flow.next_writer(u, i, r) != program::no_index) return false;
    const auto line = with_operand(context, r, d, operand_text(source));
    if (!line) return false;
    lines.emplace_back(r, *line);
  }
  rewrite.remove(i);
  for (const auto& [r, line] : lines) rewrite.put(r, line);
  return true;
}

bool transcendental_needs_wait(const RuleContext& context) {
  return context.code.program().target.gfx != isa::Gfx::gfx90a;
}

uint32_t initial_mode(const profile::KernelCode& code) {
  constexpr uint32_t usual = 0x3f0;
  const codeobject::Kernel* const kernel = code.resources().kernel;
  if (kernel == nullptr) return usual;
  struct Field {
    std::string_view name;
    unsigned shift;
  };
  static constexpr Field fields[] = {{"float_round_mode_32", 0},  {"float_round_mode_16_64", 2},
                                     {"float_denorm_mode_32", 4}, {"float_denorm_mode_16_64", 6},
                                     {"enable_dx10_clamp", 8},    {"enable_ieee_mode", 9}};
  uint32_t mode = 0;
  for (const Field& f : fields)
    mode |= static_cast<uint32_t>(codeobject::get(kernel->descriptor, code.program().target, f.name))
            << f.shift;
  return mode;
}

void remove_unread(const ValueFlow& flow, Rewrite& rewrite, const std::set<Index>& candidates) {
  for (auto at = candidates.rbegin(); at != candidates.rend(); ++at)
    if (!rewrite.removes(*at) && !flow.escapes(*at) &&
        std::ranges::all_of(flow.readers(*at), [&](Index r) { return rewrite.removes(r); }))
      rewrite.remove(*at);
}

const isa::Operand* source(const isa::Instruction& i, unsigned n) {
  for (const isa::Operand& o : i.operands)
    if (o.is_use && !o.is_def && static_cast<unsigned>(o.role) == static_cast<unsigned>(isa::Role::Src0) + n)
      return &o;
  return nullptr;
}

std::string source_text(const isa::Instruction& i, unsigned n) {
  const isa::Operand* const o = source(i, n);
  if (o == nullptr) return "";
  std::string text = operand_text(*o);
  if ((i.mods.abs >> n & 1) != 0) text = "|" + text + "|";
  if ((i.mods.neg >> n & 1) != 0) text = "-" + text;
  return text;
}

bool is_plain_encoding(const isa::Instruction& i, bool allow_signs) {
  return i.extension != isa::Extension::Dpp && i.extension != isa::Extension::Sdwa && !i.mods.clamp &&
         i.mods.omod == 0 && i.mods.op_sel == 0 && !i.partial_def &&
         (allow_signs || (i.mods.neg == 0 && i.mods.abs == 0));
}

namespace {

// Whether what `a` reads is the same at `b`.
bool sources_stay(const ValueFlow& flow, Index a, Index b) {
  for (const isa::RegRange& r : flow.code().instruction(a).uses)
    for (isa::RegUnit u = r.first; u < r.first + r.count; ++u) {
      // From behind a: its own write goes with it.
      if (flow.next_writer(u, a + 1, b) != program::no_index) return false;
    }
  return true;
}

} // namespace

void each_pair(const RuleContext& context, const PairFound& f) {
  for (const EntryRange& range : stretches_of(context.code)) {
    const ValueFlow flow(context.code, range.begin, range.end);
    for (Index b = range.begin; b < range.end; ++b) {
      const isa::Instruction& second = context.code.instruction(b);
      if (!is_plain_arithmetic(second)) continue;
      for (unsigned n = 0; n < 3; ++n) {
        const isa::Operand* const o = source(second, n);
        if (o == nullptr || o->kind != isa::Operand::Kind::Register || o->reg.count > 2) continue;
        const Index a = flow.writer(b, o->reg.first);
        if (a == ValueFlow::incoming || !is_plain_arithmetic(context.code.instruction(a))) continue;
        const isa::Instruction& first = context.code.instruction(a);
        if (first.defs.size() != 1 || first.defs[0] != o->reg || flow.escapes(a) ||
            flow.readers(a) != std::vector<Index>{b} || !sources_stay(flow, a, b))
          continue;
        // Once: b may read it as another source, too.
        unsigned times = 0;
        for (unsigned k = 0; k < 3; ++k) {
          const isa::Operand* const other = source(second, k);
          times +=
              other != nullptr && other->kind == isa::Operand::Kind::Register && other->reg.overlaps(o->reg);
        }
        if (times == 1) f(flow, a, b, n);
      }
    }
  }
}

std::optional<Place> fused_place(const RuleContext& context, Index a, Index b, const std::string& text) {
  Place p{Rewrite(context), context.code.id(a) + " and " + context.code.id(b)};
  p.rewrite.remove(a);
  p.rewrite.put(b, text);
  for (const isa::RegRange& r : context.code.instruction(a).uses) p.reads.insert(r);
  p.reads_in = {a + 1, b + 1};
  if (!finish(context, p, text)) return std::nullopt;
  return p;
}

std::optional<isa::RegUnit> scratch_register(const RuleContext& context, const Rewrite& rewrite, Index at,
                                             const isa::RegSet& taken) {
  const isa::RegSet live = context.code.liveness().after(at);
  for (const Index i : rewrite.removed())
    for (const isa::RegRange& def : context.code.instruction(i).defs)
      if (isa::is_vgpr(def.first) && !live.contains(def.first) && !taken.contains(def.first))
        return def.first;
  return std::nullopt;
}

FreeRegisters::FreeRegisters(const profile::KernelCode& code)
    : code_(code), waves_(program::WaveStates::compute(code.program(), code.function(), code.cfg())) {}

isa::RegSet FreeRegisters::in_flight(Index i) const {
  isa::RegSet set;
  const program::WaveState wave = waves_.before(i);
  for (const auto& pending : wave.pending) set |= pending.registers;
  return set;
}

// What is written, or still to be written by loads that nobody may wait for.
isa::RegSet FreeRegisters::changing(Index first, Index last) const {
  isa::RegSet set = in_flight(first);
  for (Index i = first; i <= last; ++i)
    for (const isa::RegRange& d : code_.instruction(i).defs) set.insert(d);
  return set;
}

isa::RegSet FreeRegisters::live(Index first, Index last) const {
  const uint32_t block = code_.cfg().block_of(first);
  const Index begin = code_.cfg().blocks()[block].begin;
  const std::vector<isa::RegSet> before = code_.liveness().before_each(block);
  isa::RegSet set;
  for (Index i = first; i <= last + 1; ++i) set |= before[i - begin];
  return set;
}

std::optional<isa::RegUnit> FreeRegisters::find(Index first, Index last, unsigned count,
                                                const isa::RegSet& taken) const {
  const isa::RegSet in_use = live(first, last) | changing(first, last) | taken;
  const unsigned end = std::min(code_.resources().arch_vgprs, 256U);
  for (isa::RegUnit u = 0; u + count <= end; u += count)
    if (!in_use.overlaps({u, static_cast<uint16_t>(count)})) return u;
  return std::nullopt;
}

std::optional<isa::RegUnit> FreeRegisters::find_scalar(Index first, Index last,
                                                       const isa::RegSet& taken) const {
  const isa::RegSet changes = changing(first, last), in_use = live(first, last) | changes | taken;
  constexpr unsigned others = 6; // VCC and the like are counted with the SGPRs
  const unsigned end = std::min(std::max(code_.resources().sgprs, others) - others, 102U);
  for (unsigned n = 0; n + 1 < end; n += 2) {
    const auto u = static_cast<isa::RegUnit>(isa::unit::scalar0 + n);
    if (!in_use.contains(u) && !changes.contains(static_cast<isa::RegUnit>(u + 1))) return u;
  }
  return std::nullopt;
}

double cost_of(const isa::Instruction& i) {
  // 16 cycles where a plain one takes 4; what does not occupy the SIMD's vector unit only takes a turn.
  if (i.issue == isa::IssueClass::Transcendental) return 4;
  if (i.issue == isa::IssueClass::Valu) return 1;
  return 0.25;
}

double cost_of(const RuleContext& context, std::string_view text) {
  const auto lines = context.codec.parse(text);
  double sum = 0;
  if (lines)
    for (const isa::ParsedLine& line : *lines)
      if (line.instruction != nullptr) sum += cost_of(*line.instruction);
  return sum;
}

namespace {

// Whether the one spoils a register for the other, or both take out the same.
bool clash(const Place& a, const Place& b) {
  const auto spoils = [](const Place& writer, const Place& reader) {
    isa::RegSet both = writer.writes;
    both &= reader.reads;
    return !both.empty() && writer.writes_in.begin < reader.reads_in.end &&
           reader.reads_in.begin < writer.writes_in.end;
  };
  if (spoils(a, b) || spoils(b, a)) return true;
  return std::ranges::any_of(a.rewrite.removed(), [&](Index i) { return b.rewrite.removes(i); });
}

double promise(const Place& p) {
  return p.cost <= 0 ? 0 : p.time * std::max(p.saved, 0.0) / p.cost;
}

} // namespace

std::vector<Proposal> proposals(const RuleContext& context, std::vector<Place> places, std::string_view why,
                                bool same_results, size_t single) {
  std::ranges::stable_sort(places, [](const Place& a, const Place& b) {
    return std::pair(promise(a), a.saved) > std::pair(promise(b), b.saved);
  });
  std::vector<const Place*> chosen;
  for (const Place& p : places)
    if (std::ranges::none_of(chosen, [&](const Place* c) { return clash(p, *c); })) chosen.push_back(&p);
  const bool any_time = std::ranges::any_of(chosen, [](const Place* p) { return p->time > 0; });
  if (any_time) std::erase_if(chosen, [](const Place* p) { return p->time <= 0; });
  std::vector<Proposal> list;
  const auto propose = [&](const Rewrite& rewrite, std::string rationale, double share) {
    std::vector<Change> changes = rewrite.changes();
    if (changes.empty() || !add_wait_states(context, changes)) return;
    list.push_back({std::move(changes), {}, std::move(rationale), share, same_results});
  };
  if (chosen.size() > 1) {
    Rewrite all(context);
    double share = 0;
    for (const Place* p : chosen) {
      all.add(p->rewrite);
      share += promise(*p);
    }
    propose(all, fmt::format("{} places: {}", chosen.size(), why), share);
  }
  for (const Place* p : chosen) {
    if (list.size() > single) break;
    propose(p->rewrite, fmt::format("{}: {}", p->what, why), promise(*p));
  }
  return list;
}

} // namespace asmevo::search
