#include "isa/mnemonics.h"

#include <algorithm>
#include <array>
#include <map>

namespace asmevo::isa {

namespace {

using Words = std::array<uint32_t, Instruction::max_dwords>;

// Operand codes. Even registers, since pairs must start at one.
constexpr uint32_t s4 = 4, s8 = 8, s12 = 12, vcc_code = 106, zero = 128, sdwa = 249, dpp = 250, v8 = 256 + 8,
                   v12 = 256 + 12, v16 = 256 + 16, v24 = 256 + 24;
constexpr uint32_t sdwa_dwords = 0x06060600, dpp_quad = 0xff000000 | 0xe4 << 8,
                   dpp_newbcast = 0xff000000 | 0x150 << 8;

class Enumeration {
 public:
  explicit Enumeration(Codec& codec) : codec_(codec) {}

  std::vector<Mnemonic> run() {
    scalar();
    scalar_memory();
    vector_short();
    vector_long();
    packed_and_matrix();
    lds();
    buffer();
    flat();
    graphics();
    std::vector<Mnemonic> list;
    list.reserve(found_.size());
    for (const auto& [base, family] : found_) list.push_back({base, family});
    return list;
  }

 private:
  void try_words(Words words) {
    const Instruction* i = codec_.decode({reinterpret_cast<const uint8_t*>(words.data()), sizeof words});
    if (i == nullptr || i->is_data()) return;
    const auto [entry, fresh] = found_.emplace(i->base_mnemonic, i->family);
    if (!fresh) entry->second = std::min(entry->second, i->family);
  }

  template <class F>
  static void opcodes(uint32_t count, F f) {
    for (uint32_t op = 0; op < count; ++op) f(op);
  }

  void scalar() {
    opcodes(256, [&](uint32_t op) {
      for (const uint32_t destination : {2U, s4, s8})
        try_words({0xbe800000 | destination << 16 | op << 8 | s8}); // SOP1
    });
    opcodes(128, [&](uint32_t op) {
      try_words({0x80000000 | op << 23 | s4 << 16 | s8 << 8 | s12});                  // SOP2
      try_words({0xbf000000 | op << 16 | s8 << 8 | s12});                             // SOPC
      for (const uint32_t simm : {0U, 4U}) try_words({0xbf800000 | op << 16 | simm}); // SOPP
    });
    opcodes(32, [&](uint32_t op) {
      try_words({0xb0000000 | op << 23 | s4 << 16 | 1}); // SOPK
      try_words({0xb0000000 | op << 23 | s4 << 16 | 1, 5});
    });
  }

  void scalar_memory() {
    opcodes(256, [&](uint32_t op) {
      for (const uint32_t immediate : {0U, 1U << 17})
        for (const uint32_t base : {2U, s4}) // resources take four registers, and SBASE counts pairs
          try_words({0xc0000000 | op << 18 | immediate | s8 << 6 | base, 0x10});
    });
  }

  void vector_short() {
    opcodes(256, [&](uint32_t op) {
      const uint32_t vop1 = 0x7e000000 | op << 9, destination = 4U << 17;
      try_words({vop1 | destination | v8});
      try_words({vop1});
      for (const uint32_t selectors : {sdwa_dwords, 0x00060600U})
        try_words({vop1 | destination | sdwa, selectors | 8});
      for (const uint32_t control : {dpp_quad, dpp_newbcast})
        try_words({vop1 | destination | dpp, control | 8});
      const uint32_t vopc = 0x7c000000 | op << 17 | 6U << 9;
      try_words({vopc | v8});
      try_words({vopc | sdwa, 0x06060000 | 8});
    });
    opcodes(64, [&](uint32_t op) {
      const uint32_t vop2 = op << 25 | 4U << 17 | 6U << 9;
      try_words({vop2 | v8});
      try_words({vop2 | v8, 5});
      try_words({vop2 | sdwa, sdwa_dwords | 8});
      for (const uint32_t control : {dpp_quad, dpp_newbcast}) try_words({vop2 | dpp, control | 8});
    });
  }

  void vector_long() {
    opcodes(1024, [&](uint32_t op) {
      for (const uint32_t destination : {4U, vcc_code}) {
        const uint32_t vop3 = 0xd0000000 | op << 16 | destination, carry = vcc_code << 8;
        for (const uint32_t first : {v8, s8}) {
          try_words({vop3, first});
          try_words({vop3, first | v12 << 9});
          try_words({vop3 | carry, first | v12 << 9 | s8 << 18});
          for (const uint32_t third : {v16, s8, zero, 0U}) {
            try_words({vop3, first | v12 << 9 | third << 18});
            try_words({vop3 | carry, first | (first == s8 ? s8 : v12) << 9 | third << 18});
          }
        }
      }
    });
  }

  void packed_and_matrix() {
    opcodes(128, [&](uint32_t op) {
      const uint32_t vop3p = 0xd3800000 | op << 16 | 4;
      for (const uint32_t third : {v16, zero})
        for (const uint32_t op_sel_hi : {0U, 3U << 27}) {
          const uint32_t sources = v8 | v24 << 9 | third << 18 | op_sel_hi;
          try_words({vop3p, sources});
          try_words({vop3p | 3U << 11, sources});
        }
    });
    for (const uint32_t op : {0x2dU, 0x2eU})     // VOP3PX2: v_mfma_ld_scale_b32 and the MFMA it belongs to
      for (const uint32_t abid : {0U, 1U << 11}) // marks that scales are used
        try_words({0xd3ac0000, (256 + 40) | (256 + 41) << 9 | 3U << 27, 0xd3800000 | op << 16 | 4 | abid,
                   v8 | v24 << 9 | (256 + 60) << 18});
  }

  void lds() {
    opcodes(256, [&](uint32_t op) {
      for (const uint32_t gds : {0U, 1U << 16})
        for (uint32_t used = 0; used < 16; ++used) // addr, data0, data1, vdst
          try_words({0xd8000000 | op << 17 | gds,
                     ((used & 1) != 0 ? 4U : 0) | ((used & 2) != 0 ? 8U << 8 : 0) |
                         ((used & 4) != 0 ? 12U << 16 : 0) | ((used & 8) != 0 ? 16U << 24 : 0)});
    });
  }

  void buffer() {
    opcodes(128, [&](uint32_t op) {
      const uint32_t operands = 4 | 8 << 8 | 2 << 16 | zero << 24;
      for (const uint32_t addressing : {0U, 1U << 12, 1U << 13}) {
        for (const uint32_t to_lds : {0U, 1U << 16})
          try_words({0xe0000000 | op << 18 | to_lds | addressing, operands});
        if (op < 16) try_words({0xe8000000 | op << 15 | addressing, operands});
      }
    });
  }

  void flat() {
    opcodes(128, [&](uint32_t op) {
      for (uint32_t form = 0; form < 64; ++form) {
        const uint32_t to_lds = (form & 1) != 0 ? 1U << 13 : 0, returns = (form & 2) != 0 ? 1U << 16 : 0;
        const uint32_t address = (form & 4) != 0 ? 4 : 0, data = (form & 8) != 0 ? 8 : 0;
        const uint32_t destination = (form & 16) != 0 ? 12 : 0, base = (form & 32) != 0 ? s4 : 0x7f;
        const uint32_t first = 0xdc000000 | op << 18 | to_lds | returns;
        const uint32_t second = address | data << 8 | destination << 24;
        try_words({first, second}); // FLAT has no base
        for (const uint32_t segment : {1U, 2U}) try_words({first | segment << 14, second | base << 16});
      }
    });
  }

  void graphics() {
    opcodes(128, [&](uint32_t op) {
      for (const uint32_t channels : {1U, 3U, 15U})
        for (const uint32_t unnormalised : {0U, 1U << 12})
          for (const uint32_t sampler : {0U, 3U << 21})
            try_words({0xf0000000 | op << 18 | channels << 8 | unnormalised, 4 | 8 << 8 | 2 << 16 | sampler});
    });
    opcodes(4, [&](uint32_t op) { try_words({0xd4000000 | op << 16 | 4 << 18 | 8}); }); // VINTRP
    for (const uint32_t target : {0U, 12U, 32U}) try_words({0xc4000000 | target << 4 | 15, 0});
  }

  Codec& codec_;
  std::map<std::string_view, Family> found_;
};

} // namespace

std::vector<Mnemonic> mnemonics_of(Codec& codec) {
  return Enumeration(codec).run();
}

bool is_graphics(Family family) {
  return family == Family::Mimg || family == Family::Vintrp || family == Family::Exp;
}

} // namespace asmevo::isa
