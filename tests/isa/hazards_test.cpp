// The hazard rules against llc 22: random pairs of instructions, their registers overlapping in different
// ways. ASMEVO_FULL=1 runs every pair of templates in every overlap instead of a sample.
#include "base/random.h"
#include "full_run.h"
#include "hazard_oracle.h"
#include "isa/codec.h"
#include "isa/hazards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace asmevo::isa {
namespace {

using test::Registers;
using test::Slot;
using test::Template;

const std::vector<Template>& templates() {
  static const std::vector<Template> list = test::load_templates();
  return list;
}

unsigned alignment(const Slot& slot) {
  return slot.width == 1 ? 1 : slot.file == 's' && slot.width > 2 ? 4 : 2;
}

// Gives registers to all slots that have none yet, none of them used before.
void assign(const Template& t, Registers& registers, std::map<char, unsigned>& next) {
  for (const auto& [name, slot] : t.slots) {
    if (registers.contains(name)) continue;
    unsigned& n = next[slot.file];
    n = (n + alignment(slot) - 1) / alignment(slot) * alignment(slot);
    registers[name] = n;
    n += slot.width;
  }
}

struct Pair {
  const Template *first, *second;
  Registers first_registers, second_registers;
};

// Slot `b` of the second at `distance` registers from slot `a` of the first; none where they would not
// overlap.
std::optional<Pair> overlapping(const Template& first, char a, const Template& second, char b, int distance) {
  std::map<char, unsigned> next = {{'v', 8}, {'a', 8}, {'s', 16}};
  Pair pair{&first, &second, {}, {}};
  assign(first, pair.first_registers, next);
  const Slot &sa = first.slots.at(a), &sb = second.slots.at(b);
  const int base = static_cast<int>(pair.first_registers[a]), at = base + distance;
  if (sa.file != sb.file || at < 0 || at % static_cast<int>(alignment(sb)) != 0) return std::nullopt;
  if (at >= base + static_cast<int>(sa.width) || at + static_cast<int>(sb.width) <= base) return std::nullopt;
  pair.second_registers[b] = static_cast<unsigned>(at);
  next[sb.file] = std::max(next[sb.file], static_cast<unsigned>(at) + sb.width);
  assign(second, pair.second_registers, next);
  return pair;
}

Pair disjoint(const Template& first, const Template& second) {
  std::map<char, unsigned> next = {{'v', 8}, {'a', 8}, {'s', 16}};
  Pair pair{&first, &second, {}, {}};
  assign(first, pair.first_registers, next);
  assign(second, pair.second_registers, next);
  return pair;
}

class HazardRulesAgainstLlc : public testing::TestWithParam<Gfx> {
 protected:
  HazardRulesAgainstLlc() : target_{.gfx = GetParam()}, rules_(target_) {
    auto codec = Codec::create(target_);
    EXPECT_TRUE(codec) << codec.error().message;
    codec_ = std::move(*codec);
  }

  char letter() const { return GetParam() == Gfx::gfx90a ? 'a' : GetParam() == Gfx::gfx942 ? '2' : '5'; }
  bool has(const Template& t) const { return t.targets.find(letter()) != std::string::npos; }

  std::string text(const Template& t, const Registers& r, bool mir) const {
    return test::render(mir ? t.mir : t.assembly, t.slots, r, mir, GetParam() == Gfx::gfx90a);
  }

  const Instruction& instruction(const Template& t, const Registers& r) {
    const auto lines = codec_->parse(text(t, r, false));
    EXPECT_TRUE(lines) << text(t, r, false) << ": " << lines.error().describe();
    return *lines->at(0).instruction;
  }

  // Where llc differs on purpose of ours: what it asks for that the hardware does not need
  // (docs/static-check.md).
  static unsigned llc_alone(const HazardTraits& a, const HazardTraits& b, bool gfx940) {
    const Instruction &first = *a.instruction, &second = *b.instruction;
    unsigned states = 0;
    const auto shares = [&](const StaticVector<RegRange, 8>& of_second) {
      return std::ranges::any_of(first.defs, [&](const RegRange& d) {
        return is_vector(d.first) &&
               std::ranges::any_of(of_second, [&](const RegRange& u) { return u.overlaps(d); });
      });
    };
    const bool reads = shares(second.uses), writes = shares(second.defs);
    // A packed instruction's op_sel_hi[0] is taken for the "high half of the result" bit.
    // (Those without op_sel are spared.)
    const std::string_view m = first.base_mnemonic;
    const bool packed = first.family == Family::Vop3p && first.matrix == MatrixKind::None &&
                        !m.starts_with("v_dot4") && !m.starts_with("v_accvgpr") &&
                        (first.mods.op_sel_hi & 1) != 0;
    if (gfx940 && packed && (b.is & HazardClass::Valu) != 0 && (reads || writes)) states = 1;
    // LDS-DMA counts as a VALU instruction.
    const bool late = packed || (a.is & (HazardClass::Trans | HazardClass::DstSel)) != 0;
    if (gfx940 && second.memory.lds_dma && late && reads) states = 1;
    // DPP after a load: the wait for the load is not seen.
    if ((b.is & HazardClass::Dpp) != 0 && first.memory.returns && reads) states = 2;
    return states;
  }
  // What the hardware needs and llc does not ask for.
  static bool ours_alone(const HazardTraits& a, const Hazard& h) {
    return h.rule == HazardRule::MatrixMixedSrcC ||
           (h.rule == HazardRule::WideStoreValu && (a.is & HazardClass::SoffsetSgpr) != 0);
  }

  void compare(const std::vector<Pair>& pairs) {
    compared_ += pairs.size();
    std::vector<std::vector<std::string>> mir;
    mir.reserve(pairs.size());
    for (const Pair& p : pairs)
      mir.push_back({text(*p.first, p.first_registers, true), text(*p.second, p.second_registers, true)});
    const std::vector<unsigned> expected = test::llc_wait_states(target_, mir);
    ASSERT_EQ(expected.size(), pairs.size());
    for (size_t k = 0; k < pairs.size(); ++k) compare_one(pairs[k], expected[k]);
  }

  void compare_one(const Pair& pair, unsigned expected) {
    const HazardTraits a = rules_.traits(instruction(*pair.first, pair.first_registers));
    const HazardTraits b = rules_.traits(instruction(*pair.second, pair.second_registers));
    unsigned needed = llc_alone(a, b, rules_.table().gfx940);
    std::string found;
    for (const Hazard& h : rules_.between(a, b)) {
      EXPECT_LE(h.wait_states, a.reach) << name(h.rule);
      if (ours_alone(a, h)) continue;
      needed = std::max(needed, h.wait_states);
      found += fmt::format(" {}:{}", name(h.rule), h.wait_states);
    }
    needed_ += needed != 0;
    if (needed == expected) return;
    if (++failures_ > 40) return;
    ADD_FAILURE() << target_.name() << ": " << text(*pair.first, pair.first_registers, false) << " ; "
                  << text(*pair.second, pair.second_registers, false) << ": llc " << expected << ", we "
                  << needed << found;
  }

  Target target_;
  HazardRules rules_;
  std::unique_ptr<Codec> codec_;
  size_t compared_ = 0, needed_ = 0, failures_ = 0;
};

std::vector<Pair> all_overlaps(const Template& first, const Template& second) {
  std::vector<Pair> pairs = {disjoint(first, second)};
  for (const auto& [a, sa] : first.slots)
    for (const auto& [b, sb] : second.slots)
      for (const int distance : {0, 1, 2, -2, static_cast<int>(sa.width) - 1})
        if (auto pair = overlapping(first, a, second, b, distance)) pairs.push_back(std::move(*pair));
  return pairs;
}

TEST_P(HazardRulesAgainstLlc, Pairs) {
  std::vector<const Template*> usable;
  for (const Template& t : templates())
    if (has(t)) usable.push_back(&t);
  std::vector<Pair> pairs;
  if (test::full_run()) {
    for (const Template* first : usable)
      for (const Template* second : usable) {
        for (Pair& p : all_overlaps(*first, *second)) pairs.push_back(std::move(p));
        if (pairs.size() > 20000) compare(std::exchange(pairs, {}));
      }
  } else {
    RandomStream random(11);
    while (pairs.size() < 2500) {
      const Template &first = *usable[random.below(usable.size())],
                     &second = *usable[random.below(usable.size())];
      std::vector<Pair> some = all_overlaps(first, second);
      pairs.push_back(std::move(some[random.below(some.size())]));
    }
  }
  compare(pairs);
  fmt::print("{}: {} pairs, {} need wait states, {} differ from llc\n", target_.name(), compared_, needed_,
             failures_);
  EXPECT_EQ(failures_, 0U);
  EXPECT_GT(needed_, 200U) << "the sample holds too few hazards to mean anything";
}

INSTANTIATE_TEST_SUITE_P(Targets, HazardRulesAgainstLlc,
                         testing::Values(Gfx::gfx90a, Gfx::gfx942, Gfx::gfx950),
                         [](const auto& gpu) { return std::string(Target{.gfx = gpu.param}.name()); });

} // namespace
} // namespace asmevo::isa
