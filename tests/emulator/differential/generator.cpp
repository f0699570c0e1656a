#include "emulator/differential/generator.h"

#include "emulator/opcode_table.h"
#include "emulator/reference/reference.h"
#include "isa/mnemonics.h"

#include <cstring>

namespace asmevo::differential {

using isa::Extension;
using isa::Family;
using isa::Instruction;

Generator::Generator(isa::Codec& codec, uint64_t seed) : codec_(codec), random_(seed) {
  for (const isa::Mnemonic& m : isa::mnemonics_of(codec))
    if (emulator::implements(m.base)) implemented_.insert(m.base);
  find_templates();
  for (const auto& [name, forms] : templates_)
    (name.starts_with("v_mfma") || name.starts_with("v_smfmac") ? matrices_ : names_).push_back(name);
}

std::vector<std::string_view> Generator::mnemonics() const {
  std::vector<std::string_view> all;
  all.reserve(templates_.size());
  for (const auto& [name, forms] : templates_) all.push_back(name);
  return all;
}

void Generator::find_templates() {
  constexpr std::pair<Family, unsigned> opcodes[] = {
      {Family::Sop1, 256},  {Family::Sop2, 96},   {Family::Sopk, 28},   {Family::Sopc, 128},
      {Family::Sopp, 128},  {Family::Smem, 256},  {Family::Vop1, 256},  {Family::Vop2, 62},
      {Family::Vopc, 256},  {Family::Vop3, 1024}, {Family::Vop3p, 128}, {Family::Ds, 256},
      {Family::Mubuf, 128}, {Family::Flat, 128}};
  for (const auto& [family, count] : opcodes)
    for (unsigned op = 0; op < count; ++op) {
      if (family == Family::Flat) {
        for (unsigned segment = 0; segment < 3; ++segment)
          try_template({family, op, Extension::None, segment});
        continue;
      }
      try_template({family, op, Extension::None, 0});
      if (family != Family::Vop1 && family != Family::Vop2 && family != Family::Vopc) continue;
      try_template({family, op, Extension::Sdwa, 0});
      try_template({family, op, Extension::Dpp, 0});
    }
}

void Generator::try_template(const Template& t) {
  constexpr unsigned tries = 150;
  for (unsigned n = 0; n < tries; ++n) {
    const Instruction* i = attempt(t);
    if (i == nullptr) continue;
    templates_[i->base_mnemonic].push_back(t);
    return;
  }
}

const Instruction* Generator::attempt(const Template& t) {
  const Words words = random_words(t);
  const auto decode = [&](const Words& w) {
    return codec_.decode({reinterpret_cast<const uint8_t*>(w.data()), sizeof w});
  };
  const Instruction* i = decode(words);
  if (i != nullptr && i->has_dead_bits()) { // the same without bits that mean nothing
    Words clean = words;
    for (size_t n = 0; n < clean.size(); ++n) clean[n] ^= i->dead_bits[n];
    i = decode(clean);
  }
  return i != nullptr && i->family == t.family && i->opcode == t.opcode && usable(*i) ? i : nullptr;
}

bool Generator::usable(const Instruction& i) const {
  if (i.is_data() || i.has_dead_bits() || !emulator::implements(i.base_mnemonic)) return false;
  if (reference::is_left_out(i.base_mnemonic) || !sane(i)) return false;
  for (const isa::RegRange& d : i.defs) {
    if (d.overlaps({reg::first_vector, 16})) return false;
    if (d.overlaps({static_cast<isa::RegUnit>(isa::unit::scalar0 + reg::first_scalar), 24})) return false;
  }
  return true;
}

// What decodes, but means nothing in particular.
bool Generator::sane(const Instruction& i) const {
  if (i.mods.gds || i.mods.tfe) return false;
  if (i.is("v_pack_b32_f16") || i.is("v_cvt_pk_bf16_f32")) return !i.mods.clamp && i.mods.omod == 0;
  if (((i.mods.neg | i.mods.abs) & ~reference::signed_sources(i)) != 0 && i.matrix == isa::MatrixKind::None)
    return false;
  if (i.is("v_pk_fmac_f16") && i.extension == Extension::Sdwa) return false;
  if (i.memory.lds_dma && (i.mods.offset < 0 || (i.mods.offset & 3) != 0)) return false; // whole dwords
  if (i.base_mnemonic.starts_with("v_cvt_pk_f32_")) {
    const bool bytes = i.extension == Extension::Sdwa && i.mods.src0_sel < 4;
    return !i.mods.clamp && i.mods.omod == 0 && !bytes;
  }
  if ((i.is("v_cvt_f32_fp8") || i.is("v_cvt_f32_bf8")) && i.extension == Extension::Sdwa)
    return i.mods.src0_sel < 4 || i.mods.src0_sel == 6;
  for (const isa::Operand& o : i.operands) // a result in what is no register
    if (o.is_def && o.reg.count == 0) return false;
  if (i.is("v_permlane16_swap_b32") || i.is("v_permlane32_swap_b32")) return i.family == Family::Vop1;
  if (i.base_mnemonic.starts_with("v_mfma")) {
    const unsigned rows = i.operands[0].reg.count;
    const bool wide = i.base_mnemonic.ends_with("f64");
    if (i.base_mnemonic.ends_with("f8f6f4")) return i.mods.cbsz < 5 && i.mods.blgp < 5;
    // Blocks: results of all lanes by those of one block.
    const bool large = i.base_mnemonic.find("32x32") != std::string_view::npos,
               small = i.base_mnemonic.find("_4x4x") != std::string_view::npos;
    const unsigned blocks = rows * 64 / (wide ? 2 : 1) / (large ? 1024 : small ? 16 : 256);
    return wide || ((1U << i.mods.cbsz) <= blocks && i.mods.abid < (1U << i.mods.cbsz));
  }
  return true;
}

// --- random fields

uint32_t special_bits(RandomStream& random) {
  constexpr uint32_t singles[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                  0x7fc00000, 0x7f800001, 0x00000001, 0x007fffff, 0x00800000, 0x80800001,
                                  0x7f7fffff, 0x3f000000, 0x4b000000, 0x4f000000, 0xcf000000, 0x4f800000,
                                  0x33800000, 0xffffffff, 0x7fffffff};
  constexpr uint16_t halves[] = {0,     0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 1,
                                 0x3ff, 0x400,  0x7bff, 0xfbff, 0x3800, 0x6400, 0x1400, 0x83ff, 0x4000};
  const auto half = [&]() -> uint32_t {
    return random.below(2) == 0 ? halves[random.below(std::size(halves))]
                                : static_cast<uint16_t>(random.next());
  };
  switch (random.below(8)) {
  case 0: return singles[random.below(std::size(singles))];
  case 1: return half() | half() << 16;
  case 2: return static_cast<uint32_t>(random.below(80)) - 8; // small integers
  case 3: {                                                   // f32 whose exponents are near each other
    const auto exponent = static_cast<uint32_t>(115 + random.below(24));
    return (static_cast<uint32_t>(random.next()) & 0x807fffff) | exponent << 23;
  }
  case 4: { // upper half of f64s near each other
    const auto exponent = static_cast<uint32_t>(1010 + random.below(26));
    return (static_cast<uint32_t>(random.next()) & 0x800fffff) | exponent << 20;
  }
  case 5: { // f16 pairs whose exponents are near each other
    const auto one = [&] {
      return (static_cast<uint32_t>(random.next()) & 0x83ff) | static_cast<uint32_t>(11 + random.below(9))
                                                                   << 10;
    };
    return one() | one() << 16;
  }
  case 6: { // f32 at the edges of the exponent's range
    const auto exponent =
        static_cast<uint32_t>(random.below(2) == 0 ? random.below(24) : 254 - random.below(24));
    return (static_cast<uint32_t>(random.next()) & 0x807fffff) | exponent << 23;
  }
  default: return static_cast<uint32_t>(random.next());
  }
}

uint32_t Generator::vector_register() {
  uint32_t r = one_in(6) ? below(reg::first_vector) : below(40);
  if (!one_in(4)) r &= ~1U;
  return r;
}
uint32_t Generator::scalar_register() {
  if (one_in(10)) {
    constexpr uint32_t others[] = {106, 107, 124, 126, 127};
    return others[below(std::size(others))];
  }
  const uint32_t r = one_in(4) ? below(reg::first_scalar) : below(32);
  return one_in(3) ? r : r & ~1U;
}
// An 8-bit scalar or 9-bit vector source code.
uint32_t Generator::source(bool vector) {
  if (vector && !one_in(3)) return 256 + vector_register();
  if (!one_in(3)) return scalar_register();
  if (one_in(12)) {
    constexpr uint32_t machine[] = {235, 236, 237, 238, 251, 252, 253};
    return machine[below(std::size(machine))];
  }
  return one_in(3) ? 240 + below(9) : 128 + below(81);
}

Generator::Words Generator::random_words(const Template& t) {
  switch (t.family) {
  case Family::Vop1:
  case Family::Vop2:
  case Family::Vopc: return vector_words(t);
  case Family::Vop3: return vop3_words(t);
  case Family::Vop3p: return packed_words(t);
  case Family::Smem: return smem_words(t);
  case Family::Ds:
  case Family::Mubuf:
  case Family::Flat: return memory_words(t);
  default: return scalar_words(t);
  }
}

Generator::Words Generator::scalar_words(const Template& t) {
  const uint32_t literal = special_bits(random_);
  const auto source_code = [&] { return one_in(12) ? 255U : source(false); };
  uint32_t first = 0;
  switch (t.family) {
  case Family::Sop1: first = 0xbe800000 | scalar_register() << 16 | t.opcode << 8 | source_code(); break;
  case Family::Sop2:
    first = 0x80000000 | t.opcode << 23 | scalar_register() << 16 | source(false) << 8 | source_code();
    break;
  case Family::Sopc: first = 0xbf000000 | t.opcode << 16 | source(false) << 8 | source_code(); break;
  case Family::Sopk: {
    uint32_t simm = special_bits(random_) & 0xffff;
    // s_getreg, s_setreg: MODE's float fields.
    if (t.opcode >= 17 && t.opcode <= 20) {
      const uint32_t shift = below(10), width = 1 + below(10 - shift);
      simm = 1 | shift << 6 | (width - 1) << 11;
    }
    first = 0xb0000000 | t.opcode << 23 | scalar_register() << 16 | simm;
    break;
  }
  default: first = 0xbf800000 | t.opcode << 16 | (t.opcode == 14 ? 0 : below(4)); break; // s_sleep 0
  }
  return {first, literal, 0, 0};
}

uint32_t Generator::dpp_word() {
  constexpr uint32_t controls[] = {0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143};
  uint32_t control = 0;
  switch (below(6)) {
  case 0: control = below(256); break;
  case 1: control = 0x101 + below(15); break;
  case 2: control = 0x111 + below(15); break;
  case 3: control = 0x121 + below(15); break;
  case 4: control = 0x150 + below(16); break;
  default: control = controls[below(std::size(controls))]; break;
  }
  const uint32_t masks = one_in(2) ? 0xff : below(256);
  return vector_register() | control << 8 | below(2) << 19 | (one_in(3) ? below(16) << 20 : 0) | masks << 24;
}
uint32_t Generator::sdwa_word() {
  const uint32_t signs = one_in(2) ? below(8) << 19 | below(8) << 27 : 0;
  const uint32_t output = one_in(2) ? below(8) << 13 : 0;
  const bool scalar = one_in(6);
  return (scalar ? scalar_register() : vector_register()) | (scalar ? 1U << 23 : 0) | below(7) << 8 |
         below(3) << 11 | output | below(7) << 16 | signs | below(7) << 24;
}

Generator::Words Generator::vector_words(const Template& t) {
  const bool extended = t.extension != Extension::None;
  uint32_t src0 = source(true), second = special_bits(random_);
  if (t.extension == Extension::Dpp) src0 = 250, second = dpp_word();
  if (t.extension == Extension::Sdwa) src0 = 249, second = sdwa_word();
  if (!extended && one_in(10)) src0 = 255;
  const uint32_t vdst = vector_register();
  uint32_t src1 = vector_register();
  if (t.extension == Extension::Sdwa && one_in(8)) src1 = scalar_register(), second |= 1U << 31;
  if (t.family == Family::Vop1 && one_in(12))
    return {0x7e000000 | t.opcode << 9, 0, 0, 0}; // those without operands
  if (t.family == Family::Vop1) return {0x7e000000 | vdst << 17 | t.opcode << 9 | src0, second, 0, 0};
  if (t.family == Family::Vop2) return {t.opcode << 25 | vdst << 17 | src1 << 9 | src0, second, 0, 0};
  // VOPC's SDWA has a scalar destination in place of dst_sel and what follows.
  if (t.extension == Extension::Sdwa && one_in(2))
    second = (second & 0xffff00ff) | (0x80 | scalar_register()) << 8;
  if (t.extension == Extension::Sdwa && (second & 0x8000) == 0) second &= 0xffff80ff;
  return {0x7c000000 | t.opcode << 17 | src1 << 9 | src0, second, 0, 0};
}

Generator::Words Generator::vop3_words(const Template& t) {
  const uint32_t vdst = one_in(3) ? scalar_register() : vector_register(); // masks and read lanes are scalars
  uint32_t first = 0xd0000000 | t.opcode << 16 | vdst;
  uint32_t second = source(true) | source(true) << 9 | (one_in(4) ? 0 : source(true)) << 18;
  if (one_in(4)) first |= 1U << 15;
  if (one_in(3)) first |= below(16) << 11;
  if (one_in(3)) first |= below(8) << 8;
  if (one_in(3)) first = (first & ~0x7f00U) | scalar_register() << 8; // the SDST of carries
  if (one_in(3)) second |= below(8) << 29;
  if (one_in(4)) second |= below(4) << 27;
  if (one_in(2)) second &= ~(0x1ffU << 18);
  return {first, second, 0, 0};
}

Generator::Words Generator::packed_words(const Template& t) {
  uint32_t first = 0xd3800000 | t.opcode << 16 | vector_register();
  uint32_t second = source(true) | source(true) << 9 | source(true) << 18;
  const bool matrix = t.opcode >= 0x2d && t.opcode != 0x30 && t.opcode != 0x31 && t.opcode != 0x32 &&
                      t.opcode != 0x33 && !(t.opcode >= 0x58 && t.opcode <= 0x59);
  if (matrix && !one_in(8)) {
    const uint32_t third = one_in(4) ? 128 + below(81) : 256 + vector_register();
    second = (256 + vector_register()) | (256 + vector_register()) << 9 | third << 18;
  }
  if (matrix) {
    first |= below(2) << 15;
    second |= below(4) << 27;
    if (one_in(3)) first |= below(5) << 8 | below(16) << 11;
    if (one_in(3)) second |= below(8) << 29;
    return {first, second, 0, 0};
  }
  first |= (one_in(4) ? 1U << 15 : 0) | (one_in(3) ? 0U : 1U << 14);
  second |= one_in(3) ? below(4) << 27 : 3U << 27;
  if (one_in(2)) first |= below(8) << 11;
  if (one_in(3)) first |= below(8) << 8;
  if (one_in(3)) second |= below(8) << 29;
  if (one_in(2)) second &= ~(0x1ffU << 18);
  return {first, second, 0, 0};
}

// --- sequences

Sequence Generator::make(size_t length) {
  Sequence s;
  while (s.instructions.size() < length) {
    const bool matrix = !matrices_.empty() && one_in(40);
    const auto& names = matrix ? matrices_ : names_;
    const auto& forms = templates_[names[below(static_cast<uint32_t>(names.size()))]];
    const Template& t = forms[below(static_cast<uint32_t>(forms.size()))];
    const Instruction* made = nullptr;
    for (unsigned n = 0; made == nullptr && n < 40; ++n) made = attempt(t);
    if (made != nullptr) s.instructions.push_back(made);
  }
  place_branches(s);
  for (const Instruction* i : s.instructions)
    s.text.insert(s.text.end(), reinterpret_cast<const uint8_t*>(i->words.data()),
                  reinterpret_cast<const uint8_t*>(i->words.data()) + i->bytes());
  return s;
}

// Branches skip up to three instructions.
void Generator::place_branches(Sequence& s) {
  auto& all = s.instructions;
  for (size_t n = 0; n < all.size(); ++n) {
    if (!all[n]->branch && !all[n]->call) continue;
    uint32_t dwords = 0;
    for (size_t skipped = below(4), k = n + 1; skipped > 0 && k < all.size(); --skipped, ++k)
      dwords += all[k]->dwords;
    const Words words = {(all[n]->words[0] & 0xffff0000) | dwords, 0, 0, 0};
    all[n] = codec_.decode({reinterpret_cast<const uint8_t*>(words.data()), sizeof words});
  }
}

} // namespace asmevo::differential
