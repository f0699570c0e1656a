#include "search/rules/value_webs.h"

#include "search/rules/renaming.h"

#include <algorithm>
#include <ranges>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegRange;
using isa::RegUnit;

// VCC is one of them: where it is named as an operand, any pair will do.
bool may_move(RegUnit u) {
  return isa::is_vgpr(u) || isa::is_sgpr(u) || u == isa::unit::vcc || u == isa::unit::vcc + 1;
}

template <class F>
void each_unit(const RegRange& r, F f) {
  for (RegUnit u = r.first; u < r.first + r.count; ++u) f(u);
}

bool is_register(const Operand& o) {
  return o.kind == Operand::Kind::Register;
}

} // namespace

ValueWebs::ValueWebs(const RuleContext& context, StraightCode& code, const MaskedStretch& m,
                     const std::vector<Step>& steps, const std::vector<uint32_t>& lanes)
    : code_(code), stretch_(m), steps_(steps), lanes_(lanes),
      vgprs_(registers_for_free(context.code.resources())), begins_(steps.size()), reads_(steps.size()),
      makes_(steps.size()) {
  for (const LaneSet& s : m.sets) masks_.insert(s.mask);
  taken_ = m.live_before | m.live_any | masks_ | code.in_use(m.stretch, steps);
  find_beginnings();
  find_webs();
}

// --- webs

size_t ValueWebs::root(size_t w) const {
  while (webs_[w].parent != w) w = webs_[w].parent;
  return w;
}

void ValueWebs::join(size_t a, size_t b) {
  a = root(a), b = root(b);
  if (a == b) return;
  webs_[b].parent = a;
  webs_[a].pinned |= webs_[b].pinned;
  webs_[a].align = std::max(webs_[a].align, webs_[b].align);
}

size_t ValueWebs::add(RegUnit u, bool pinned) {
  webs_.push_back({u, webs_.size(), pinned || !may_move(u) || masks_.contains(u), 1});
  return webs_.size() - 1;
}

// What a register holds that nobody in the stretch has written comes from before.
size_t ValueWebs::current(RegUnit u) {
  const auto [at, is_new] = now_.try_emplace(u, 0);
  if (is_new) at->second = add(u, true);
  return at->second;
}

// Going backwards, for each vector register the sets of lanes in which what it holds is still to be read.
// What a step writes nobody reads any more, in its own lanes.
void ValueWebs::find_beginnings() {
  std::vector<uint64_t> within, wanted(isa::unit::scalar0);
  for (uint32_t k = 0; k < stretch_.sets.size(); ++k) within.push_back(stretch_.within(k));
  for (RegUnit u = 0; u < isa::unit::scalar0; ++u) {
    if (stretch_.live_on.contains(u)) wanted[u] |= uint64_t{1} << stretch_.at_end;
    if (stretch_.at_end != 0 && stretch_.live_any.contains(u)) wanted[u] |= 1;
  }
  for (size_t n = steps_.size(); n-- > 0;) {
    const Instruction& i = *steps_[n].instruction;
    const uint32_t set = lanes_[n] == MaskedStretch::any ? 0 : lanes_[n];
    for (const RegRange& d : i.defs)
      each_unit(d, [&](RegUnit u) {
        if (i.partial_def) return;
        if (!isa::is_vector(u)) return begins_[n].insert(u);
        wanted[u] &= ~within[set];
        if (wanted[u] == 0) begins_[n].insert(u);
      });
    const uint32_t read = i.cross_lane || i.writes_all_lanes ? 0 : set;
    for (const RegRange& r : i.uses)
      each_unit(r, [&](RegUnit u) {
        if (isa::is_vector(u)) wanted[u] |= uint64_t{1} << read;
      });
  }
}

void ValueWebs::find_webs() {
  for (size_t n = 0; n < steps_.size(); ++n) {
    const Instruction& i = *steps_[n].instruction;
    for (const RegRange& r : i.uses) each_unit(r, [&](RegUnit u) { reads_[n][u] = current(u); });
    for (const RegRange& r : i.defs)
      each_unit(r, [&](RegUnit u) {
        if (begins(n, u)) now_[u] = add(u, false);
        makes_[n][u] = current(u);
      });
    join_operands(n);
    pin_unnamed(n);
  }
  for (const auto& [u, web] : now_)
    if (stretch_.live_any.contains(u)) webs_[root(web)].pinned = true;
}

void ValueWebs::join_operands(size_t n) {
  for (const Operand& o : steps_[n].instruction->operands) {
    if (!is_register(o)) continue;
    for (const Named* named : {&reads_[n], &makes_[n]}) {
      const auto first = named->find(o.reg.first);
      if (first == named->end()) continue;
      each_unit(o.reg, [&](RegUnit u) {
        if (const auto w = named->find(u); w != named->end()) join(first->second, w->second);
      });
      // Vector registers in a row begin at even ones; scalars at a multiple of two or four.
      Web& group = webs_[root(first->second)];
      if (o.reg.count > 1)
        group.align = std::max(group.align, isa::is_vector(o.reg.first) || o.reg.count < 4 ? 2U : 4U);
    }
  }
}

namespace {

// "v_cmp_gt_u32_e32 vcc, s9, v60" can only have VCC; the long form can have any pair. The step itself where
// it is none of these, or there is no long form: of a constant that takes a word of its own.
Step long_form(StraightCode& code, const Step& s) {
  const size_t at = s.text.find("_e32 ");
  if (!s.text.starts_with("v_cmp_") || at == std::string::npos) return s;
  Step other = s;
  other.text.replace(at, 4, "_e64");
  other.instruction = code.instruction(other.text);
  return other.instruction == nullptr ? s : other;
}

} // namespace

// What is read or written without being named, or in lanes that are off.
void ValueWebs::pin_unnamed(size_t n) {
  const Instruction& i = *long_form(code_, steps_[n]).instruction;
  const bool all_lanes = i.cross_lane || i.writes_all_lanes || i.vgpr_index_mode || i.mods.tfe;
  const auto is_named = [&](RegUnit u, bool def) {
    return std::ranges::any_of(i.operands, [&](const Operand& o) {
      return is_register(o) && o.reg.contains(u) && (def ? o.is_def : o.is_use);
    });
  };
  // What is still in flight at the end comes some time behind it.
  if (i.memory.returns && !steps_[n].complete)
    for (const auto& [u, web] : makes_[n]) webs_[root(web)].pinned = true;
  for (const auto& [named, def] : {std::pair{&reads_[n], false}, {&makes_[n], true}})
    for (const auto& [u, web] : *named)
      if (!is_named(u, def) || (isa::is_vector(u) && all_lanes)) webs_[root(web)].pinned = true;
}

std::optional<size_t> ValueWebs::read(size_t n, RegUnit u) const {
  const auto found = reads_[n].find(u);
  return found == reads_[n].end() ? std::nullopt : std::optional(root(found->second));
}

std::optional<size_t> ValueWebs::made(size_t n, RegUnit u) const {
  const auto found = makes_[n].find(u);
  return found == makes_[n].end() ? std::nullopt : std::optional(root(found->second));
}

// --- other names

std::optional<int> ValueWebs::free_distance(const std::vector<RegUnit>& units, unsigned align) const {
  const auto [low, high] = std::ranges::minmax(units);
  const bool vector = isa::is_vgpr(low);
  const int begin = vector ? 0 : isa::unit::scalar0;
  const int end = begin + static_cast<int>(vector ? vgprs_ : sgprs_for_free);
  const auto step = static_cast<int>(align);
  const int first = begin - low + ((low - begin) % step); // registers keep their place within a row
  for (int distance = first; high + distance < end; distance += step) {
    if (low + distance < begin) continue;
    const bool free = std::ranges::none_of(
        units, [&](RegUnit u) { return taken_.contains(static_cast<RegUnit>(u + distance)); });
    if (free) return distance;
  }
  return std::nullopt;
}

std::optional<std::vector<Step>> ValueWebs::moved(size_t group) const {
  group = root(group);
  if (webs_[group].pinned) return std::nullopt;
  std::vector<RegUnit> units;
  for (size_t w = 0; w < webs_.size(); ++w)
    if (root(w) == group) units.push_back(webs_[w].unit);
  std::ranges::sort(units);
  const auto [rest, last] = std::ranges::unique(units);
  units.erase(rest, last);
  const auto distance = free_distance(units, webs_[group].align);
  if (!distance) return std::nullopt;
  std::vector<Step> steps = steps_;
  for (size_t n = 0; n < steps.size(); ++n) {
    const auto of_group = [&](const auto& named) { return root(named.second) == group; };
    if (std::ranges::none_of(reads_[n], of_group) && std::ranges::none_of(makes_[n], of_group)) continue;
    auto step = renamed(n, group, *distance);
    if (!step) return std::nullopt;
    steps[n] = *std::move(step);
  }
  return steps;
}

namespace {

RegRange moved_by(const RegRange& r, int distance) {
  return {static_cast<RegUnit>(r.first + distance), r.count};
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// Where a register's name stands as a word, in [from, to).
size_t find_name(std::string_view text, std::string_view name, size_t from, size_t to) {
  for (size_t at = from; (at = text.find(name, at)) < to; ++at) {
    const size_t end = at + name.size();
    if (!is_name(text[at - 1]) && (end == text.size() || !is_name(text[end]))) return at;
  }
  return std::string_view::npos;
}

// Behind the comma that ends the n-th operand of a text; its end where there are no more.
size_t behind_operand(std::string_view text, size_t n) {
  size_t at = text.find(' ');
  for (; n > 0 && at != std::string_view::npos; --n) {
    at = text.find(',', at);
    at += at != std::string_view::npos;
  }
  return std::min(at, text.size());
}

// Whether it is the same instruction with registers as they are asked for. One that adds to its result
// (v_fmac_f32) is not: it reads the register that it is named to write.
bool same_but_for_names(const Instruction& is, const Instruction& was,
                        const std::function<RegUnit(RegUnit, bool)>& now) {
  const auto units = [](const auto& ranges, const auto& f) {
    std::vector<RegUnit> list;
    for (const RegRange& r : ranges) each_unit(r, [&](RegUnit u) { list.push_back(f(u)); });
    std::ranges::sort(list);
    return list;
  };
  const auto same = [](RegUnit u) { return u; };
  return is.base_mnemonic == was.base_mnemonic && is.mods.offset == was.mods.offset &&
         units(is.uses, same) == units(was.uses, [&](RegUnit u) { return now(u, false); }) &&
         units(is.defs, same) == units(was.defs, [&](RegUnit u) { return now(u, true); });
}

} // namespace

std::optional<Step> with_registers(StraightCode& code, const Step& old,
                                   const std::function<RegRange(const Operand&)>& now) {
  Step step = old;
  const auto& operands = old.instruction->operands;
  const auto results = static_cast<size_t>(std::ranges::count_if(operands, &Operand::is_def));
  // Results come first; what is read need not come in the order of the operands, but one name is one value.
  std::map<size_t, std::pair<size_t, std::string>> places; // where, how long, what for it
  for (size_t n = 0; n < operands.size(); ++n) {
    const Operand& o = operands[n];
    if (!is_register(o) || o.reg.count == 0 || now(o) == o.reg) continue;
    const std::string name = isa::name(o.reg);
    size_t at = o.is_def ? behind_operand(old.text, n) : behind_operand(old.text, results);
    const size_t end = o.is_def ? behind_operand(old.text, n + 1) : old.text.size();
    while (places.contains(at = find_name(old.text, name, at, end))) ++at;
    if (at == std::string::npos) return std::nullopt;
    places[at] = {name.size(), isa::name(now(o))};
  }
  for (const auto& [at, change] : places | std::views::reverse)
    step.text.replace(at, change.first, change.second);
  step.instruction = code.instruction(step.text);
  const auto unit_now = [&](RegUnit u, bool def) {
    for (const Operand& o : operands)
      if (is_register(o) && (def ? o.is_def : o.is_use) && o.reg.contains(u))
        return static_cast<RegUnit>(u - o.reg.first + now(o).first);
    return u;
  };
  if (step.instruction == nullptr || !same_but_for_names(*step.instruction, *old.instruction, unit_now))
    return std::nullopt;
  return step;
}

std::optional<Step> ValueWebs::renamed(size_t n, size_t group, int distance) const {
  const auto vcc = made(n, isa::unit::vcc);
  const Step step = vcc && *vcc == group ? long_form(code_, steps_[n]) : steps_[n];
  return with_registers(code_, step, [&](const Operand& o) {
    const auto web = o.is_def ? made(n, o.reg.first) : read(n, o.reg.first);
    return web && *web == group ? moved_by(o.reg, distance) : o.reg;
  });
}

std::optional<RegUnit> ValueWebs::free_vgpr() const {
  const auto distance = free_distance({isa::unit::vgpr0}, 1);
  return distance ? std::optional(static_cast<RegUnit>(isa::unit::vgpr0 + *distance)) : std::nullopt;
}

} // namespace asmevo::search
