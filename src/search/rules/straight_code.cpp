#include "search/rules/straight_code.h"

#include "program/flight_doubt.h"
#include "timing/scoreboard.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::IssueClass;
using program::FlightClass;
using program::Index;
using program::WaitNeed;

// Longer ones are cut: what is done with them takes the square of their length.
constexpr size_t longest = 400;

bool is_wait(const Instruction& i) {
  return i.issue == IssueClass::Waitcnt;
}
WaitNeed fields_of(const Instruction& wait) {
  return isa::WaitcntFields::of(wait);
}
bool waits_for_exports(const Instruction& i) {
  return is_wait(i) && fields_of(i).expcnt != WaitNeed{}.expcnt;
}

// What an s_waitcnt leaves in flight of a class, at most; LDS operations that count twice leave half.
unsigned left(const Instruction& wait, FlightClass c, bool counts_double) {
  const unsigned n = program::left_in_flight(fields_of(wait), c);
  if (n >= program::counter_capacity(c)) return program::counter_capacity(c);
  return c == FlightClass::Lds && counts_double ? n / 2 : n;
}

} // namespace

StraightCode::StraightCode(const RuleContext& context, const program::WaitFacts& facts)
    : context_(context), facts_(facts), states_(context.code.program(), context.code.cfg()),
      modes_(
          program::WaveStates::compute(context.code.program(), context.code.function(), context.code.cfg())),
      blocks_(program::in_flight_at_blocks(context.code.program(), context.code.cfg(), facts_)) {}

std::unique_ptr<StraightCode> StraightCode::of(const RuleContext& context) {
  const auto facts =
      program::WaitFacts::of(context.code.program(), context.code.function(), context.code.cfg());
  if (!facts) return nullptr;
  return std::unique_ptr<StraightCode>(new StraightCode(context, *facts));
}

// --- stretches

bool StraightCode::is_border(Index i) const {
  const Instruction& inst = context_.code.instruction(i);
  using enum IssueClass;
  if (context_.code.program().entries[i].reference != program::no_index || inst.is("s_getpc_b64"))
    return true;
  if (inst.ends_block() || inst.is_data() || inst.side_effects || waits_for_exports(inst)) return true;
  if (inst.issue == Barrier || inst.issue == Message || inst.issue == Internal || inst.issue == Export)
    return true;
  if (inst.memory.kind == isa::MemoryKind::Gds || program::is_coherent(inst)) return true;
  return inst.base_mnemonic.starts_with("s_setreg") || inst.base_mnemonic.starts_with("s_getreg") ||
         inst.base_mnemonic.starts_with("s_mem"); // the clock
}

std::vector<Stretch> StraightCode::stretches(uint32_t block, size_t least) const {
  std::vector<Stretch> list;
  const program::Block& b = context_.code.cfg().blocks()[block];
  if (!blocks_[block].known()) return list;
  for (Index i = b.begin; i < b.end; ++i) {
    const Index begin = i;
    while (i < b.end && i - begin < longest && !is_border(i)) ++i;
    if (i - begin >= least) list.push_back(stretch(begin, i));
  }
  return list;
}

Stretch StraightCode::stretch(Index begin, Index end) const {
  Stretch s{begin, end, {}};
  std::vector<Index> entries;
  for (Index i = begin; i < end; ++i) {
    const Instruction& inst = context_.code.instruction(i);
    if (is_wait(inst) || inst.issue == IssueClass::Nop || inst.branch) continue;
    std::string text = text_of(context_, i, i + 1);
    text.pop_back();
    s.steps.push_back({&inst, std::move(text), false});
    entries.push_back(i);
  }
  mark_complete(s, entries);
  return s;
}

void StraightCode::mark_complete(Stretch& s, const std::vector<Index>& entries) const {
  for (const FlightClass c : program::flight_classes) {
    std::vector<size_t> open; // steps of the class that are in flight, in order
    size_t step = 0;
    for (Index i = s.begin; i < s.end; ++i) {
      const Instruction& inst = context_.code.instruction(i);
      if (is_wait(inst)) {
        const size_t n = left(inst, c, facts_.counts_double);
        if (!in_order(c) && n != 0) continue;
        for (; open.size() > n; open.erase(open.begin())) s.steps[open.front()].complete = true;
      } else if (step < entries.size() && entries[step] == i) {
        const auto of = program::flight_class(inst);
        if (of == c || (of == FlightClass::Flat && c == FlightClass::Scalar)) open.push_back(step);
        ++step;
      }
    }
  }
}

std::vector<Stretch> StraightCode::hottest(size_t least, size_t most) const {
  std::vector<Stretch> list;
  for (uint32_t b = 0; b < context_.code.cfg().blocks().size(); ++b)
    for (Stretch& s : stretches(b, least)) list.push_back(std::move(s));
  const auto time = [&](const Stretch& s) { return context_.time_of(s.begin, s.end); };
  std::ranges::stable_sort(list, std::greater{}, time);
  if (list.size() > most) list.resize(most);
  if (!list.empty() && time(list.front()) > 0)
    std::erase_if(list, [&](const Stretch& s) { return time(s) <= 0; });
  return list;
}

// --- what is in flight at its start, and what the old code has waited for of that at its end

const program::WaitPlacer& StraightCode::wave_at(Index begin) const {
  const auto known = waves_.find(begin);
  if (known != waves_.end()) return known->second;
  const uint32_t b = context_.code.cfg().block_of(begin);
  program::WaitPlacer wave = blocks_[b];
  for (Index i = context_.code.cfg().blocks()[b].begin; i < begin; ++i) {
    const Instruction& inst = context_.code.instruction(i);
    if (is_wait(inst)) {
      wave.wait(fields_of(inst));
      continue;
    }
    wave.wait(wave.needed(inst));
    wave.issue(i, inst);
  }
  return waves_.emplace(begin, std::move(wave)).first->second;
}

WaitNeed StraightCode::left_of_earlier(const Stretch& s) const {
  WaitNeed least;
  std::array<unsigned, program::FlightState::class_count> issued{};
  for (Index i = s.begin; i < s.end; ++i) {
    const Instruction& inst = context_.code.instruction(i);
    if (const auto c = program::flight_class(inst)) ++issued[static_cast<size_t>(*c)];
    if (!is_wait(inst)) continue;
    for (const FlightClass c : {FlightClass::Vmem, FlightClass::Lds}) {
      const unsigned n = left(inst, c, facts_.counts_double);
      if (n == program::counter_capacity(c)) continue;
      unsigned& field = c == FlightClass::Vmem ? least.vmcnt : least.lgkmcnt;
      field = std::min(field, n - std::min(n, issued[static_cast<size_t>(c)]));
    }
  }
  return least;
}

// --- writing

StraightCode::Written StraightCode::old(const Stretch& s) const {
  Written w{text_of(context_, s.begin, s.end), {}};
  for (Index i = s.begin; i < s.end; ++i) w.instructions.push_back(&context_.code.instruction(i));
  return w;
}

StraightCode::Written StraightCode::write(const Stretch& s, const std::vector<Step>& steps) {
  Written written;
  program::WaitPlacer wave = wave_at(s.begin);
  wave.forego(left_of_earlier(s));
  program::HazardWindow window = states_.before(s.begin);
  const auto put = [&](const std::string& text, const Instruction* i) {
    written.text += text + "\n";
    written.instructions.push_back(i);
  };
  const auto put_wait = [&](const WaitNeed& need) {
    if (program::waits_for_nothing(need)) return;
    const std::string text = program::text_of(need);
    put(text, instruction(text));
    wave.wait(need);
    window.pass(1);
  };
  const auto put_nops = [&](unsigned states) {
    const std::string lines = program::nops(states);
    for (size_t at = 0, end = 0; (end = lines.find('\n', at)) != std::string::npos; at = end + 1)
      put(lines.substr(at, end - at), instruction(lines.substr(at, end - at)));
    window.pass(states);
  };
  for (const Step& step : steps) {
    put_wait(wave.needed(*step.instruction));
    const isa::HazardTraits& traits = states_.traits(*step.instruction);
    put_nops(window.missing(states_.rules(), traits));
    put(step.text, step.instruction);
    wave.issue(s.begin, *step.instruction, step.complete);
    window.issue(traits, isa::wait_states(*step.instruction));
  }
  put_wait(wave.owed());
  put_nops(states_.missing_behind(window, s.end));
  return written;
}

const Instruction* StraightCode::instruction(const std::string& text) {
  const auto [at, is_new] = parsed_.try_emplace(text, nullptr);
  if (is_new) {
    const auto lines = context_.codec.parse(text);
    if (lines && lines->size() == 1) at->second = lines->front().instruction;
  }
  return at->second;
}

std::vector<program::Dependence> StraightCode::dependences(const Stretch& s,
                                                           const std::vector<Step>& steps) const {
  program::Program alone;
  alone.target = context_.code.program().target;
  for (const Step& step : steps) alone.entries.push_back({{}, program::no_index, step.instruction});
  program::DependenceOptions options;
  options.counted_order = false;
  auto list =
      program::dependences(alone, 0, static_cast<Index>(steps.size()), modes_.before(s.begin), options);
  // What is in flight at the end is counted by waits behind it.
  for (const FlightClass c : {FlightClass::Vmem, FlightClass::Lds}) {
    Index last = program::no_index;
    for (Index n = 0; n < steps.size(); ++n) {
      if (steps[n].complete || program::flight_class(*steps[n].instruction) != c) continue;
      if (last != program::no_index) list.push_back({last, n, program::DependenceKind::Wait, {}});
      last = n;
    }
  }
  return list;
}

isa::RegSet StraightCode::in_use(const Stretch& s, const std::vector<Step>& steps) const {
  isa::RegSet set;
  for (const Step& step : steps)
    for (const auto* ranges : {&step.instruction->defs, &step.instruction->uses})
      for (const isa::RegRange& r : *ranges) set.insert(r);
  const program::FlightState& flight = flight_at(s);
  for (const FlightClass c : program::flight_classes)
    for (isa::RegUnit u = 0; u < isa::unit::count; ++u)
      if (flight.in_flight(c, u)) set.insert(u);
  return set;
}

double cycles_alone(const RuleContext& context, const std::vector<const Instruction*>& code,
                    double memory_latency) {
  timing::Scoreboard board(context.code.program().target, context.machine);
  for (const Instruction* i : code) {
    timing::Scoreboard::Memory memory;
    if (i->counters.vmcnt != 0) memory.latency = memory_latency;
    board.issue(*i, memory);
  }
  return board.now();
}

} // namespace asmevo::search
