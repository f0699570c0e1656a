#include "program/hazard_check.h"

#include "isa/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace asmevo::program {

namespace {

using isa::HazardClass;
using isa::HazardTraits;
using isa::Instruction;

// An instruction that later ones may still be too close to, and the wait states since.
struct Recent {
  Index at = no_index;
  const HazardTraits* traits = nullptr;
  unsigned since = 0;
};

// All of them, on some path to a point; each once, with the fewest wait states of any path.
using Window = std::vector<Recent>;

bool merge(Window& into, const Window& from) {
  bool changed = false;
  for (const Recent& r : from) {
    const auto known = std::ranges::find(into, r.at, &Recent::at);
    if (known == into.end()) {
      into.push_back(r);
    } else if (r.since < known->since) {
      known->since = r.since;
    } else {
      continue;
    }
    changed = true;
  }
  return changed;
}

std::string missing_text(unsigned states) {
  std::string nops;
  for (unsigned left = states; left != 0;) {
    const unsigned now = std::min(left, 8U); // the largest s_nop that every assembler takes
    nops += fmt::format("{}s_nop {}", nops.empty() ? "" : ", ", now - 1);
    left -= now;
  }
  return fmt::format("{} more wait state{} ({})", states, states == 1 ? "" : "s", nops);
}

bool writes_all(const Instruction& i, const isa::RegRange& r) {
  return r.count != 0 && std::ranges::any_of(i.defs, [&](const isa::RegRange& d) {
           return d.first <= r.first && r.first + r.count <= d.first + d.count;
         });
}

class HazardCheck {
 public:
  HazardCheck(const Program& program, const Cfg& cfg, const VectorModes& modes, bool possible,
              FindingList& findings)
      : program_(program), cfg_(cfg), modes_(modes), possible_(possible), findings_(findings),
        rules_(program.target) {}

  void run() {
    const std::vector<Block>& blocks = cfg_.blocks();
    entry_.resize(blocks.size());
    std::vector<char> grown(blocks.size(), 1);
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order()) {
        if (!blocks[b].reachable || !std::exchange(grown[b], 0)) continue;
        walk(b, false);
        for (const uint32_t next : blocks[b].successors)
          if (merge(entry_[next], window_)) grown[next] = again = true;
      }
    }
    for (const uint32_t b : cfg_.order())
      if (blocks[b].reachable) walk(b, true);
  }

 private:
  void walk(uint32_t b, bool report) {
    window_ = entry_[b];
    const Block& block = cfg_.blocks()[b];
    block_begin_ = block.begin;
    Index first = block.begin;
    // What a block leaves behind depends on its last instructions only, and on its entry where it is short.
    if (!report && block.end - block.begin > isa::max_hazard_wait_states) {
      first = block.end - isa::max_hazard_wait_states;
      window_.clear();
    }
    for (Index i = first; i < block.end; ++i) step(i, program_.instruction(i), report);
  }

  void step(Index at, const Instruction& i, bool report) {
    const HazardTraits& traits = traits_of(i);
    const bool meaningful = !modes_.indexed(at);
    if (report && meaningful && !window_.empty()) check(at, traits);
    const unsigned states = isa::wait_states(i);
    std::erase_if(window_, [&](Recent& r) { return (r.since += states) >= r.traits->reach; });
    if (i.call) window_.clear();
    if (traits.reach != 0 && meaningful) window_.push_back({at, &traits, 0});
  }

  // Of each pair the rule that asks for most; of the certain ones, if any is broken.
  void check(Index at, const HazardTraits& second) {
    for (const Recent& first : window_) {
      isa::Hazard worst, contested;
      for (const isa::Hazard& h : rules_.between(*first.traits, second)) {
        if (h.rule == isa::HazardRule::MatrixSrcC && written_since(at, first, h.object)) continue;
        if (h.wait_states > first.since && nearer_asks_as_much(at, first, second, h)) continue;
        isa::Hazard& kept = isa::is_contested(h.rule, program_.target) ? contested : worst;
        if (h.wait_states > kept.wait_states) kept = h;
      }
      if (const isa::Hazard h = across_dgemm(first, second); h.wait_states > worst.wait_states) worst = h;
      if (worst.wait_states > first.since) {
        report(at, first, worst, false);
      } else if (possible_ && contested.wait_states > first.since) {
        report(at, first, contested, true);
      }
    }
  }

  // Whether a matrix instruction between the two has written all of the accumulator. Then it is that one's
  // result which comes in, and nothing is left of the overlap with an earlier result:
  //
  //     v_mfma_f32_16x16x16_f16 v[104:107], ...
  //     v_mfma_f32_16x16x16_f16 v[102:105], ..., v[104:107]
  //     v_mfma_f32_16x16x16_f16 v[102:105], ..., v[102:105]
  bool written_since(Index at, const Recent& first, const isa::RegRange& accumulator) const {
    for (Index i = at; i-- > block_begin_ && i != first.at;) {
      const Instruction& between = program_.instruction(i);
      const isa::Operand* const result = between.find(isa::Role::Vdst);
      if (between.matrix != isa::MatrixKind::None && result != nullptr && result->reg == accumulator)
        return true;
    }
    return false;
  }

  // Whether one between the two, which no way leads around, has written the same register and needs as many
  // wait states: then it is that one whose are missing. v_add_co_u32, v_addc_co_u32, v_add_co_u32,
  // v_addc_co_u32: the last one takes its carry from the third.
  bool nearer_asks_as_much(Index at, const Recent& first, const HazardTraits& second,
                           const isa::Hazard& hazard) {
    for (Index i = at; i-- > block_begin_ && i != first.at;) {
      const Instruction& between = program_.instruction(i);
      if (!writes_all(between, hazard.object) || modes_.indexed(i)) continue;
      for (const isa::Hazard& h : rules_.between(traits_of(between), second))
        if (h.rule == hazard.rule && h.object == hazard.object && h.wait_states >= hazard.wait_states)
          return true;
    }
    return false;
  }

  // isa::HazardRule::ValuDgemmMemory.
  isa::Hazard across_dgemm(const Recent& first, const HazardTraits& second) const {
    const unsigned needed = rules_.table().valu_dgemm_memory;
    if (needed == 0 || (second.is & HazardClass::Memory) == 0 || first.since == 0 || first.since >= needed)
      return {};
    if ((first.traits->is & HazardClass::Valu) == 0 || (first.traits->is & HazardClass::Matrix) != 0)
      return {};
    const bool dgemm_between = std::ranges::any_of(window_, [&](const Recent& r) {
      return r.since < first.since && r.traits->instruction->matrix == isa::MatrixKind::Dgemm;
    });
    if (!dgemm_between) return {};
    for (const isa::RegRange& u : second.instruction->uses)
      if (isa::is_vector(u.first) && first.traits->instruction->writes(u))
        return {isa::HazardRule::ValuDgemmMemory, needed, u};
    return {};
  }

  void report(Index at, const Recent& first, const isa::Hazard& hazard, bool possible) {
    Finding finding;
    finding.possible = possible;
    finding.kind = FindingKind::MissingWaitStates;
    finding.rule = name(hazard.rule);
    finding.producer = first.at;
    finding.consumer = at;
    finding.register_class = "hwreg";
    finding.lacking = hazard.wait_states - first.since;
    finding.missing = missing_text(finding.lacking);
    findings_.add(std::move(finding), hazard.object);
  }

  const HazardTraits& traits_of(const Instruction& i) {
    const auto [at, is_new] = traits_.try_emplace(&i);
    if (is_new) at->second = rules_.traits(i);
    return at->second;
  }

  const Program& program_;
  const Cfg& cfg_;
  const VectorModes& modes_;
  bool possible_;
  FindingList& findings_;
  isa::HazardRules rules_;
  std::unordered_map<const Instruction*, HazardTraits> traits_;
  std::vector<Window> entry_; // per block
  Index block_begin_ = 0;
  Window window_;
};

} // namespace

void check_wait_states(const Program& program, const Function&, const Cfg& cfg, const VectorModes& modes,
                       const CheckOptions& options, FindingList& findings) {
  HazardCheck(program, cfg, modes, options.possible, findings).run();
}

} // namespace asmevo::program
