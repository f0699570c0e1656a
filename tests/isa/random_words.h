// Random instruction words, every opcode value of every microcode format several times, from a fixed seed.
// Fields are drawn so that a good part of them decodes: plain random words mostly hit reserved bits or odd
// register pairs.
#pragma once

#include "base/random.h"
#include "isa/target.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace asmevo::test {

using RandomWords = std::array<uint32_t, 4>;

/// One microcode format: what is fixed, where the opcode stands. The rest of the first dword is free.
struct Format {
  const char* name;
  uint32_t fixed;
  unsigned opcode_shift, opcode_bits;
};

inline constexpr Format formats[] = {
    {"SOP2", 0x80000000, 23, 7},  {"SOPK", 0xb0000000, 23, 5},  {"SOP1", 0xbe800000, 8, 8},
    {"SOPC", 0xbf000000, 16, 7},  {"SOPP", 0xbf800000, 16, 7},  {"SMEM", 0xc0000000, 18, 8},
    {"VOP2", 0x00000000, 25, 6},  {"VOP1", 0x7e000000, 9, 8},   {"VOPC", 0x7c000000, 17, 8},
    {"VOP3", 0xd0000000, 16, 10}, {"VOP3P", 0xd3800000, 16, 7}, {"DS", 0xd8000000, 17, 8},
    {"FLAT", 0xdc000000, 18, 7},  {"MUBUF", 0xe0000000, 18, 7}, {"MTBUF", 0xe8000000, 15, 4},
    {"MIMG", 0xf0000000, 18, 7},
};

class WordGenerator {
 public:
  explicit WordGenerator(uint64_t seed) : random_(seed) {}

  RandomWords make(const Format& format, uint32_t opcode) {
    const uint32_t low = static_cast<uint32_t>(random_.next());
    const uint32_t opcode_mask = ((1U << format.opcode_bits) - 1) << format.opcode_shift;
    const uint32_t fixed_mask = fixed_bits(format);
    RandomWords words{format.fixed | (opcode << format.opcode_shift) |
                          (first_dword(format, low) & ~opcode_mask & ~fixed_mask),
                      0, 0, 0};
    words[1] = second_dword(format, words[0]);
    words[2] = static_cast<uint32_t>(random_.next());
    words[3] = random_.below(2) != 0 ? second_dword(format, words[0]) : static_cast<uint32_t>(random_.next());
    if (words[0] >> 16 == 0xd3ac) make_scaled_mfma(words);
    return words;
  }

 private:
  // The 16 bytes of gfx950's v_mfma_scale_*: scales and their op_sel bits, then the MFMA.
  void make_scaled_mfma(RandomWords& words) {
    const auto any = static_cast<uint32_t>(random_.next());
    words[0] = 0xd3ac0000 | (any & 0x1800);
    words[1] = (any & 0x18000000) | source(any >> 3) | source(any >> 7) << 9;
    words[2] = (random_.below(2) != 0 ? 0xd3ad0800 : 0xd3ae0800) | (any >> 5 & 0x84fe);
    words[3] = (any & 0x9c000000) | 0x04020100 | (any >> 3 & 0x00f80000) | (any >> 2 & 0xf8) | (any & 0xf000);
  }

  static uint32_t fixed_bits(const Format& f) {
    const std::string_view n = f.name;
    if (n == "VOP2") return 0x80000000;
    if (n == "SOP2") return 0xc0000000;
    if (n == "SOPK") return 0xf0000000;
    if (n == "VOP1" || n == "VOPC") return 0xfe000000;
    if (n == "SOP1" || n == "SOPC" || n == "SOPP" || n == "VOP3P") return 0xff800000;
    return 0xfc000000;
  }

  uint32_t first_dword(const Format& f, uint32_t low) {
    const std::string_view n = f.name;
    const bool sparse = random_.below(3) != 0;
    const bool vector = n == "VOP1" || n == "VOP2" || n == "VOPC";
    if (random_.below(vector ? 32 : 8) == 0) return 0; // s_barrier, v_nop: no field is used
    if (n == "SMEM") return sparse ? low & 0x33ffe : low;
    if (n == "FLAT") return !sparse ? low : low & ((low >> 14 & 3) == 0 ? 0x02030fffU : 0x0203ffffU);
    if (n == "MUBUF" || n == "DS") return sparse ? low & ~0x10000U : low;
    if (n == "VOP3" || n == "VOP3P") return sparse ? low & 0xfe : low & 0xffff;
    const uint64_t pick = random_.below(8);
    if (vector) { // a literal, SDWA, DPP, or a register or inline constant
      if (pick < 6) return (low & ~0x1ffU) | (pick < 2 ? 255 : pick < 4 ? 249 : 250);
      return pick == 6 ? low & ~0x20301U : low;
    }
    const bool scalar = n == "SOP1" || n == "SOP2" || n == "SOPC";
    return scalar && pick < 3 ? low & ~0x810181U : low;
  }

  uint32_t second_dword(const Format& f, uint32_t first) {
    const std::string_view n = f.name;
    const uint32_t any = static_cast<uint32_t>(random_.next());
    const auto even = [&](uint32_t mask) { return random_.below(4) != 0 ? any & ~mask : any; };
    if (n == "SMEM") return any & (random_.below(2) != 0 ? 0x001ffffe : 0x7f);
    if (n == "MUBUF" || n == "MTBUF") {
      const uint32_t soffset = random_.below(2) != 0 ? 0x80000000 : (any & 0x7f000000);
      const bool to_lds = n == "MUBUF" && (first >> 16 & 1) != 0;
      return (even(0x10101) & (n == "MTBUF" ? 0x00ffffff : to_lds ? 0x001f00ff : 0x009fffff)) | soffset;
    }
    if (n == "FLAT") {
      uint32_t w = even(0x01010101) & 0xff00ffff;
      for (uint32_t field : {0xffU, 0xff00U, 0xff000000U})
        if (random_.below(3) == 0) w &= ~field;
      const uint32_t none = (first >> 14 & 3) == 0 ? 0 : 0x7f0000;
      return w | (random_.below(3) != 0 ? none : any & 0x3e0000);
    }
    if (n == "DS") { // fields that an instruction does not use must be 0
      uint32_t w = even(0x01010101);
      for (uint32_t field : {0xffU, 0xff00U, 0xff0000U, 0xff000000U})
        if (random_.below(2) != 0) w &= ~field;
      return w;
    }
    if (n == "VOP3" || n == "VOP3P") {
      uint32_t w = 0;
      for (unsigned shift : {0U, 9U, 18U}) w |= source(any >> shift) << shift;
      return w | (random_.below(3) != 0 ? 0 : any & 0xf8000000) |
             (random_.below(2) != 0 ? 0x18000000 & any : 0);
    }
    if ((first & 0x1ff) == 249) { // SDWA
      const auto select = [&](unsigned count, unsigned shift) {
        return static_cast<uint32_t>(random_.below(count)) << shift;
      };
      uint32_t w = (any & 0xff) | select(8, 8) | select(3, 11) | select(7, 16) | select(7, 24);
      if (n == "VOPC") w = (w & ~0xff00U) | (random_.below(2) != 0 ? 0x8000 | (any & 0x6600) : 0);
      if (random_.below(2) != 0) w |= any & (random_.below(2) != 0 ? 0x08080000 : 0x3030e000);
      if (random_.below(4) == 0) w |= any & 0xc0c00000;
      return w;
    }
    if ((first & 0x1ff) == 250) { // DPP
      constexpr uint32_t controls[] = {0x00,  0x1b,  0x101, 0x10f, 0x111, 0x121, 0x12f, 0x130, 0x134,
                                       0x138, 0x13c, 0x140, 0x141, 0x142, 0x143, 0x150, 0x15f, 0xe4};
      const uint32_t control =
          random_.below(8) != 0 ? controls[random_.below(std::size(controls))] : any >> 8 & 0x1ff;
      return (any & 0xff0800ff) | control << 8 | (any & 0xf00000);
    }
    return any;
  }

  // A 9-bit source code: mostly an even vector or scalar register, or an inline constant.
  uint32_t source(uint32_t any) {
    switch (random_.below(8)) {
    case 0: return any & 0x1ff;
    case 1: return any % 104 & ~3U;
    case 2: return 128 + any % 81;
    case 3: return 240 + any % 9;
    case 4: return 106 + any % 22;
    default: return 256 + (any & 0xfe);
    }
  }

  RandomStream random_;
};

/// `each` random fillings of every opcode value of every format, or of the one named.
inline std::vector<RandomWords> random_words(uint64_t seed, unsigned each, std::string_view only = {}) {
  WordGenerator generator(seed);
  std::vector<RandomWords> all;
  for (const Format& f : formats) {
    if (!only.empty() && only != f.name) continue;
    for (uint32_t opcode = 0; opcode < 1U << f.opcode_bits; ++opcode)
      for (unsigned k = 0; k < each; ++k) all.push_back(generator.make(f, opcode));
  }
  return all;
}

} // namespace asmevo::test
