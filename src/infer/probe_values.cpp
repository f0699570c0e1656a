// What arithmetic does to shadows.
//
// A conversion to bf16 before gfx950 is integer arithmetic on the bits of a float: bit 16 is taken out, added
// together with 0x7fff, and the upper half is what is wanted. So a sum with a float in it stays a float, and
// the upper half of a float is a bf16.
#include "infer/probe_observer.h"

#include <algorithm>
#include <bit>

namespace asmevo::infer {

using emulator::MicroOp;
using emulator::Wave;

namespace {

// What a mask keeps; none: something else, or all that matters.
std::optional<Part> part_of_mask(uint32_t mask) {
  switch (mask) {
  case 0xffff: return Part::Low16;
  case 0xffff0000: return Part::High16;
  case 0xff:
  case 0xff00:
  case 0xff0000:
  case 0xff000000:
  case 0xff00ff:
  case 0xff00ff00: return Part::Byte;
  default: break;
  }
  // Whole groups of four bits, none beside another.
  bool nibbles = mask != 0;
  for (unsigned n = 0; n < 8; ++n) {
    const uint32_t bits = mask >> 4 * n & 0xf;
    nibbles &= bits == 0 || bits == 0xf;
    if (bits == 0xf && n < 7) nibbles &= (mask >> (4 * n + 4) & 0xf) == 0;
  }
  return nibbles ? std::optional(Part::Nibble) : std::nullopt;
}

// A selector of v_perm_b32 that takes the upper halves of both sources.
bool takes_upper_halves(uint32_t selector) {
  return selector == 0x07060302 || selector == 0x03020706;
}

} // namespace

uint64_t ProbeObserver::constant_of(const Wave& wave, const Operand& o) const {
  if (o.reg.count == 0) return o.value;
  if (isa::is_vector(o.reg.first))
    return isa::is_vgpr(o.reg.first) && o.reg.first < wave.dispatch->allocated_vgprs
               ? wave.vectors[o.reg.first].lane[0]
               : 0;
  const unsigned slot = o.reg.first - isa::unit::scalar0;
  return slot < emulator::slot::count ? wave.scalars[slot] : 0;
}

void ProbeObserver::vote(const Shadow& s, ValueType type, TypeVotes::Strength strength,
                         const Evidence& evidence) {
  if (s.raw == 0 || type == ValueType::None) return;
  const bool is_signed = type == ValueType::I32 || type == ValueType::I16 || type == ValueType::I8;
  switch (s.part) {
  case Part::Whole: break;
  case Part::High16:
    if (type == ValueType::F32) type = ValueType::Bf16;
    if (is_integer(type)) return;
    break;
  case Part::Low16:
    if (type == ValueType::F32) return;
    if (is_integer(type)) type = is_signed ? ValueType::I16 : ValueType::U16;
    break;
  case Part::Byte:
    if (type == ValueType::Fp8 || type == ValueType::Bf8) break;
    type = is_signed ? ValueType::I8 : ValueType::U8;
    break;
  case Part::Nibble: type = is_signed || type == ValueType::I4 ? ValueType::I4 : ValueType::U4; break;
  }
  for (const Source from : sets_.members(s.raw)) seen_.used_as[from].add(type, strength, evidence);
}

void ProbeObserver::vote_sources(const Plan& plan) {
  for (const Operand& o : plan.sources) {
    const ValueType type = plan.use.source[o.role];
    const bool sum = plan.use.operation == Operation::Add;
    const bool comparison = plan.evidence.mnemonic.contains("_cmp") && bits_of(type) < 64;
    const auto strength =
        !is_integer(type) || bits_of(type) < 32 || plan.evidence.mnemonic.contains("_cvt") ||
                plan.evidence.mnemonic.contains("_mfma") || plan.evidence.mnemonic.contains("_dot")
            ? TypeVotes::strong
        : sum || comparison ? TypeVotes::weak
                            : TypeVotes::fair;
    for (unsigned k = 0; k < o.reg.count; ++k)
      vote(read(static_cast<isa::RegUnit>(o.reg.first + k)), type, strength, plan.evidence);
  }
}

// Register `unit` of the result of a move: register `unit` of each source, or its only one.
Shadow ProbeObserver::moved(const Plan& plan, unsigned unit) {
  const bool select = plan.evidence.mnemonic.contains("cndmask"),
             pair = plan.evidence.mnemonic.contains("pk_mov");
  Shadow s;
  for (const Operand& o : plan.sources) {
    if (o.reg.count == 0 || (select && o.role == 2) || (pair && o.role != unit)) continue;
    s = unite(sets_, s,
              read(static_cast<isa::RegUnit>(o.reg.first + std::min<unsigned>(unit, o.reg.count - 1U))));
  }
  return s;
}

// What is left of a source's value by a shift, a mask or a field.
Shadow ProbeObserver::part_of(const Wave& wave, const isa::Instruction& i, const Plan& plan, const Operand& o,
                              Shadow s) {
  const std::string_view m = i.base_mnemonic;
  const auto constant = [&](unsigned role) -> uint32_t {
    for (const Operand& other : plan.sources)
      if (other.role == role) return static_cast<uint32_t>(constant_of(wave, other));
    return 0;
  };
  const auto forget = [&] {
    vote(s, ValueType::U32, TypeVotes::weak, plan.evidence);
    s.raw = 0;
    s.base = 0;
    s.type = s.type == ValueType::F32 ? ValueType::None : s.type;
  };
  const auto narrow = [&](Part part) {
    if (s.part == Part::Whole || part >= Part::Byte) s.part = part;
    s.base = 0;
  };
  if (i.extension == isa::Extension::Sdwa) {
    const unsigned select = o.role == 0 ? i.mods.src0_sel : i.mods.src1_sel;
    if (select < 4)
      narrow(Part::Byte);
    else if (select < 6)
      narrow(Part::Low16);
    return s;
  }
  const bool reversed = m.contains("rev_");
  const unsigned value_role = reversed ? 1 : 0;
  if (m.contains("_bfe")) {
    const bool scalar = m.starts_with("s_");
    const unsigned width = scalar ? constant(1) >> 16 & 0x7f : constant(2) & 0x1f;
    if (width == 16)
      narrow(Part::Low16);
    else if (width == 8)
      narrow(Part::Byte);
    else if (width == 4)
      narrow(Part::Nibble);
    else
      forget();
    if (m == "v_bfe_i32" && (width == 8 || width == 4))
      vote(s, ValueType::I32, TypeVotes::fair, plan.evidence);
    return s;
  }
  if (m.contains("_lshl_or") || m.contains("_lshl") || m.contains("_lshr") || m.contains("_ashr")) {
    if (o.role != value_role) return s;
    const unsigned amount = constant(reversed ? 0 : 1) & 0x3f;
    const bool left = m.contains("_lshl");
    const bool packed = m.contains("_pk_") || m.ends_with("16");
    if (amount == 16 && !packed)
      s.part = s.part >= Part::Byte ? s.part : left ? Part::High16 : Part::Low16;
    else if (!left && amount == 24 && !packed)
      narrow(Part::Byte);
    else if (!left && amount == 28 && !packed)
      narrow(Part::Nibble);
    else if (amount != 0 && amount % 4 != 0)
      forget();
    s.base = 0;
    return s;
  }
  if (m.contains("_and_or") && o.role == 2) return s;
  if (m.contains("_and_b32") || m.contains("_and_or"))
    for (const Operand& other : plan.sources) {
      if (other.role == o.role || other.role == 2 ||
          (other.reg.count != 0 && isa::is_vector(other.reg.first)))
        continue;
      const auto mask = static_cast<uint32_t>(constant_of(wave, other));
      // The upper half of a 48-bit address is no bf16.
      if (const auto part = part_of_mask(mask)) {
        if (s.type == ValueType::None || s.raw != 0 || *part < Part::Byte)
          s.part = s.part >= *part ? s.part : *part;
      } else if (std::popcount(mask) < 8) {
        forget();
      }
    }
  if (m.contains("_perm_")) {
    const uint32_t selector = constant(2);
    if (takes_upper_halves(selector) && s.type == ValueType::F32) s.part = Part::High16;
  }
  return s;
}

Shadow ProbeObserver::with_bits(const Wave& wave, const isa::Instruction& i, const Plan& plan,
                                unsigned unit) {
  Shadow all;
  unsigned floats = 0;
  bool halves = false, bytes = true;
  for (const Operand& o : plan.sources) {
    if (o.reg.count == 0) continue;
    if (i.base_mnemonic.contains("_perm_") && o.role == 2) continue;
    const auto from = static_cast<isa::RegUnit>(o.reg.first + std::min<unsigned>(unit, o.reg.count - 1U));
    Shadow s = part_of(wave, i, plan, o, read(from));
    if (s.type == ValueType::F32) {
      ++floats;
      halves |= s.part == Part::High16 || s.part == Part::Low16;
    }
    bytes &= s.part == Part::Byte;
    all = unite(sets_, all, s);
  }
  if (plan.use.result != ValueType::None) all.type = plan.use.result;
  if (floats > 1 && halves) {
    all.type = ValueType::Bf16;
    all.part = Part::Whole;
  }
  // Shifts put 8-bit integers beside one another.
  const bool joins = i.base_mnemonic.contains("_or") || i.base_mnemonic.contains("_perm");
  if (joins && bytes && all.type == ValueType::I32) all.type = ValueType::I8;
  return all;
}

// Two registers shifted together by an element's size: a 64-bit index.
void ProbeObserver::vote_wide_shift(const Wave& wave, const Plan& plan) {
  const std::string_view m = plan.evidence.mnemonic;
  const bool reversed = m.contains("rev_");
  if (!m.contains("lshl") || !(m.ends_with("b64") || m.ends_with("u64"))) return;
  const Operand* value = nullptr;
  uint64_t amount = 0;
  for (const Operand& o : plan.sources) {
    if (o.role == (reversed ? 1U : 0U)) value = &o;
    if (o.role == (reversed ? 0U : 1U)) amount = constant_of(wave, o);
  }
  if (value == nullptr || value->reg.count != 2 || amount > 7) return;
  const Shadow low = read(value->reg.first), high = read(static_cast<isa::RegUnit>(value->reg.first + 1));
  if (low.raw == 0 || low.raw != high.raw || low.part != Part::Whole) return;
  vote(low, ValueType::I64, TypeVotes::strong, plan.evidence);
}

// Integer sums. Pointers stay pointers, and floats being rounded floats.
Shadow ProbeObserver::sum(const Wave& wave, const Plan& plan, unsigned unit) {
  Shadow s;
  s.type = plan.use.result == ValueType::U32 || plan.use.result == ValueType::U64 ? ValueType::I32
                                                                                  : plan.use.result;
  bool rounds = false, was_float = false;
  const std::string_view m = plan.evidence.mnemonic;
  for (const Operand& o : plan.sources) {
    const uint64_t value = constant_of(wave, o);
    rounds |= value == 0x7fff || value == 0x8000;
    if (o.reg.count == 0) continue;
    const bool shifted = (m.contains("lshl_add") && o.role == 0 && constant_of(wave, plan.sources[1]) != 0) ||
                         (m.starts_with("s_lshl") && o.role == 0);
    const Shadow from =
        read(static_cast<isa::RegUnit>(o.reg.first + std::min<unsigned>(unit, o.reg.count - 1U)));
    // What is subtracted is no base: the distance between two pointers.
    const bool subtracted = m.contains("_sub") && o.role == (m.contains("rev") ? 0U : 1U);
    if (!shifted && !subtracted && (o.reg.count > 1 || unit == 0)) s.base = sets_.unite(s.base, from.base);
    was_float |= from.type == ValueType::F32;
  }
  for (const Operand& o : plan.sources) {
    if (o.reg.count == 0) continue;
    const Shadow from = read(o.reg.first);
    if (rounds && from.raw != 0 && from.part == Part::Whole) {
      vote(from, ValueType::F32, TypeVotes::fair, plan.evidence);
      was_float = true;
    } else if (m.contains("addc") || m.contains("subb")) { // the upper half of 64 bits
      vote(from, ValueType::I64, TypeVotes::fair, plan.evidence);
    } else {
      vote(from, plan.use.source[o.role], TypeVotes::weak, plan.evidence);
    }
  }
  if (was_float) s.type = ValueType::F32;
  return s;
}

Shadow ProbeObserver::computed(const Plan& plan, unsigned unit) {
  Shadow s;
  s.type = plan.use.result;
  // v_mad_u64_u32: the third source is added.
  if (plan.evidence.mnemonic.contains("_mad_") && is_integer(plan.use.result))
    for (const Operand& o : plan.sources)
      if (o.role == 2 && o.reg.count != 0)
        s.base =
            read(static_cast<isa::RegUnit>(o.reg.first + std::min<unsigned>(unit, o.reg.count - 1U))).base;
  return s;
}

SourceSet ProbeObserver::of_lower_halves(const Plan& plan) {
  SourceSet all = 0;
  for (const Operand& o : plan.sources)
    if (o.reg.count != 0) all = sets_.unite(all, read(o.reg.first).anything);
  return all;
}

// Scalars are kept in lanes of a vector register where scalar registers run out: each lane has its own.
bool ProbeObserver::move_lane(const Wave& wave, const isa::Instruction& i, const Plan& plan) {
  const bool reads = i.is("v_readlane_b32"), writes = i.is("v_writelane_b32");
  if ((!reads && !writes) || plan.sources.size() < 2) return false;
  const unsigned lane = constant_of(wave, plan.sources[1]) & 63;
  const isa::RegUnit kept = writes ? plan.result.first : plan.sources[0].reg.first;
  const uint32_t key = kept * 64U + lane;
  if (writes) {
    wave_->kept_lanes[key] = plan.sources[0].reg.count == 0 ? Shadow{} : read(plan.sources[0].reg.first);
    return true;
  }
  const auto known = wave_->kept_lanes.find(key);
  if (known == wave_->kept_lanes.end()) {
    lanes_ = uint64_t{1} << lane;
    return false;
  }
  write(plan.result.first, known->second);
  return true;
}

void ProbeObserver::run_alu(const Wave& wave, const MicroOp& op, const Plan& plan) {
  const isa::Instruction& i = *op.instruction;
  if (move_lane(wave, i, plan)) return;
  if (i.defs.empty() && plan.sources.empty()) return;
  const SourceSet all = everything(plan);
  vote_wide_shift(wave, plan);
  if (plan.use.operation == Operation::Compute) vote_sources(plan);
  // The lower half of a 64-bit sum does not depend on the upper halves, which compilers leave undefined where
  // only the lower one is wanted.
  const bool wide_sum = plan.result.count == 2 && is_integer(plan.use.result);
  std::vector<Shadow> results(plan.result.count);
  for (unsigned unit = 0; unit < plan.result.count; ++unit) {
    Shadow& s = results[unit];
    switch (plan.use.operation) {
    case Operation::Move: s = moved(plan, unit); break;
    case Operation::Bits: s = with_bits(wave, i, plan, unit); break;
    case Operation::Add: s = sum(wave, plan, unit); break;
    case Operation::Compute: s = computed(plan, unit); break;
    case Operation::Other: break;
    }
    s.anything = unit == 0 && wide_sum ? of_lower_halves(plan) : all;
  }
  if (!i.writes_all_lanes) lanes_ = isa::is_vector(plan.result.first) ? wave.exec() : lanes_;
  for (unsigned unit = 0; unit < plan.result.count; ++unit) {
    const auto to = static_cast<isa::RegUnit>(plan.result.first + unit);
    // Lanes that DPP gives nothing keep what was there, which is usually nothing that matters.
    write(to, i.partial_def && !op.dpp() ? unite(sets_, read(to), results[unit]) : results[unit]);
  }
  for (const isa::RegRange& r : plan.other_results)
    for (unsigned unit = 0; unit < r.count; ++unit) {
      Shadow s;
      if (i.base_mnemonic.contains("swap") && !results.empty()) s = results[0];
      s.anything = all;
      write(static_cast<isa::RegUnit>(r.first + unit), s);
    }
}

} // namespace asmevo::infer
